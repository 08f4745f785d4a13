# SPDX-License-Identifier: Apache-2.0
"""Small TFLite models, each of one builtin of which random graphs have none: what tflite_import.py compares alone. A case takes a Case and says
which tensors are outputs. Floats and integers are made of steps, so that the file has some and its floats stay floats."""
import numpy as np
import tflite_subgraphs
from tflite_files import micro
from tflite_models import Builder, schema


class Case:
    def __init__(self, seed):
        self.r, self.b = np.random.default_rng(seed), Builder()

    def pick(self, low, high):
        return int(self.r.integers(low, high + 1))

    def choose(self, items):
        return items[self.pick(0, len(items) - 1)]

    def shape(self, rank):
        return [self.pick(1, 5) for _ in range(rank)]

    def ints(self, values, dtype=np.int32):
        return self.b.constant(np.array(values, dtype))

    def steps(self, shape):
        """An input of int8."""
        return self.b.input(shape, float(np.float32(10 ** self.r.uniform(-2, -0.5))), self.pick(-40, 40))

    def floats(self, shape):
        """More than dequantized steps, which would be given back as steps."""
        real = self.b.op("DEQUANTIZE", [self.steps(shape)], [self.b.tensor(shape, dtype=np.float32)], "DequantizeOptions")
        return self.b.op("ADD", [real, self.b.constant(np.array([0.3], np.float32))], [self.b.tensor(shape, dtype=np.float32)], "AddOptions")

    def integers(self, shape, dtype=None):
        return self.b.op("CAST", [self.floats(shape)], [self.b.tensor(shape, dtype=dtype or self.choose([np.int32, np.int64]))], "CastOptions")

    def either(self, shape):
        return self.steps(shape) if self.pick(0, 1) else self.floats(shape)

    def like(self, x, shape):
        t = self.b.graph.tensors[x]
        y = self.b.tensor(shape, dtype=np.float32)
        self.b.graph.tensors[y].type, self.b.graph.tensors[y].quantization = t.type, t.quantization
        return y

    def op(self, builtin, inputs, like, shape, options=None, **fields):
        return self.b.op(builtin, inputs, [self.like(like, shape)], options, **fields)

    def subgraph(self, types, make):
        """The number of one that takes tensors as these are, and gives what `make` makes of its own."""
        given = [self.b.graph.tensors[t] for t in types]
        main, self.b.graph = self.b.graph, self.b.subgraph(b"sub%d" % self.pick(0, 10 ** 6))
        for t in given:
            own = self.b.tensor(t.shape, dtype=np.float32)
            self.b.graph.tensors[own].type, self.b.graph.tensors[own].quantization = t.type, t.quantization
            self.b.graph.inputs.append(own)
        for t in make(*self.b.graph.inputs):
            self.b.output(t)
        self.b.others.append(self.b.graph)
        self.b.graph = main
        return len(self.b.others)

    def truth(self, x):
        """Of what is computed: one element of x, beside a constant."""
        most = self.op("REDUCE_MAX", [x, self.ints(np.arange(len(self.b.shape(x))))], x, [], "ReducerOptions")
        t = self.b.graph.tensors[x]
        if t.type == schema.TensorType.INT8:
            beside = self.b.constant(np.array(self.pick(40, 127), np.int8), *self.b.quant(x))
        else:
            beside = self.b.constant(np.array(self.pick(-3, 9), np.float32 if t.type == schema.TensorType.FLOAT32 else np.int32))
        fn = self.choose(["LESS", "GREATER_EQUAL"])
        return self.b.op(fn, [most, beside], [self.b.tensor([], dtype=np.bool_)], "LessOptions" if fn == "LESS" else "GreaterEqualOptions")


def samples(b, r):
    """For each input: steps, or small positions."""
    ranges = {schema.TensorType.INT8: (-128, 128, np.int8), schema.TensorType.UINT8: (0, 256, np.uint8), schema.TensorType.INT16: (-32768, 32768, np.int16), schema.TensorType.BOOL: (0, 2, np.bool_)}
    kinds = [ranges.get(b.graph.tensors[t].type, (-50, 50, np.int32)) for t in b.graph.inputs]
    return [r.integers(low, high, b.shape(t)).astype(dtype) for (low, high, dtype), t in zip(kinds, b.graph.inputs)]


def batches(c, rank=4):
    """The parameters of SPACE_TO_BATCH_ND, and the shape that it makes."""
    shape, axes = c.shape(rank), c.pick(1, 2) if rank == 4 else 1
    block = [c.pick(1, 3) for _ in range(axes)]
    pads = [[c.pick(0, 2), c.pick(0, 2)] for _ in range(axes)]
    for k in range(axes):
        pads[k][1] += -(shape[k + 1] + sum(pads[k])) % block[k]
    made = [shape[0] * int(np.prod(block))] + [(s + sum(p)) // d for s, p, d in zip(shape[1:], pads, block)] + shape[1 + axes:]
    return shape, block, pads, made


def space_to_batch(c):
    shape, block, pads, made = batches(c, c.choose([3, 4]))
    x = c.either(shape)
    return [c.op("SPACE_TO_BATCH_ND", [x, c.ints(block), c.ints(pads)], x, made, "SpaceToBatchNDOptions")]


def batch_to_space(c):
    shape, block, pads, made = batches(c, c.choose([3, 4]))
    x = c.either(made)
    return [c.op("BATCH_TO_SPACE_ND", [x, c.ints(block), c.ints(pads)], x, shape, "BatchToSpaceNDOptions")]


def dilated(c):
    """As converters leave a dilated convolution that they could not put together."""
    n, h, w, ch = c.shape(4)
    k, d, depthwise = c.pick(1, 3), c.pick(2, 3), c.pick(0, 1)
    before = [c.pick(0, d * (k - 1)) for _ in range(2)]
    behind = [d * (k - 1) - b for b in before]
    # TensorFlow pads further, to whole blocks, and cuts that off again.
    more = [-(e + b + a) % d for e, b, a in zip((h, w), before, behind)]
    x = c.steps([n, h, w, ch])
    s = c.b.quant(x)[0]
    rows = [(e + d * (k - 1) + m) // d for e, m in zip((h, w), more)]
    pads = [[before[0], behind[0] + more[0]], [before[1], behind[1] + more[1]]]
    y = c.op("SPACE_TO_BATCH_ND", [x, c.ints([d, d]), c.ints(pads)], x, [n * d * d, *rows, ch], "SpaceToBatchNDOptions")
    oc = ch if depthwise else c.pick(1, 6)
    weight = c.r.integers(-127, 128, [1, k, k, ch] if depthwise else [oc, k, k, ch]).astype(np.int8)
    ws = 10 ** c.r.uniform(-2.5, -1, oc)
    ins = [y, c.b.constant(weight, ws, 0, 3 if depthwise else 0), c.b.constant(c.r.integers(-900, 900, [oc]).astype(np.int32), np.float32(s) * np.float32(ws), 0)]
    wide = [n * d * d] + [e - k + 1 for e in rows] + [oc]
    made = c.b.tensor(wide, float(s * 40 * np.mean(ws) * k), c.pick(-20, 20))
    fields = {"padding": 1, "strideH": 1, "strideW": 1, "dilationHFactor": 1, "dilationWFactor": 1, "fusedActivationFunction": c.choose([0, 1])}
    if depthwise:
        c.b.op("DEPTHWISE_CONV_2D", ins, [made], "DepthwiseConv2DOptions", depthMultiplier=1, **fields)
    else:
        c.b.op("CONV_2D", ins, [made], "Conv2DOptions", **fields)
    return [c.op("BATCH_TO_SPACE_ND", [made, c.ints([d, d]), c.ints([[0, more[0]], [0, more[1]]])], made, [n, h, w, oc], "BatchToSpaceNDOptions")]


def dilated_line(c):
    """The same along one axis, as Keras writes Conv1D: an axis of 1 comes and goes."""
    n, w, ch, oc = c.shape(4)
    k, d, first = c.pick(1, 3), c.pick(2, 3), c.pick(0, 1)
    before = d * (k - 1)  # causal
    more = -(w + before) % d
    rows = (w + before + more) // d
    x = c.steps([n, w, ch])
    y = c.op("SPACE_TO_BATCH_ND", [x, c.ints([d]), c.ints([[before, more]])], x, [n * d, rows, ch], "SpaceToBatchNDOptions")
    at = 1 if first else 2
    expanded = [n * d, rows, ch]
    expanded.insert(at, 1)
    y = c.op("EXPAND_DIMS", [y, c.ints(at)], x, expanded, "ExpandDimsOptions")
    kernel = [1, k] if first else [k, 1]
    ws = 10 ** c.r.uniform(-2.5, -1, oc)
    bias = c.b.constant(c.r.integers(-900, 900, [oc]).astype(np.int32), np.float32(c.b.quant(x)[0]) * np.float32(ws), 0)
    ins = [y, c.b.constant(c.r.integers(-127, 128, [oc, *kernel, ch]).astype(np.int8), ws), bias]
    made = c.b.tensor([n * d, 1, rows - k + 1, oc] if first else [n * d, rows - k + 1, 1, oc], float(c.b.quant(x)[0] * 40 * np.mean(ws) * k), c.pick(-20, 20))
    c.b.op("CONV_2D", ins, [made], "Conv2DOptions", padding=1, strideH=1, strideW=1, dilationHFactor=1, dilationWFactor=1, fusedActivationFunction=0)
    y = c.op("SQUEEZE", [made], made, [n * d, rows - k + 1, oc], "SqueezeOptions", squeezeDims=[at])
    return [c.op("BATCH_TO_SPACE_ND", [y, c.ints([d]), c.ints([[0, more]])], made, [n, w, oc], "BatchToSpaceNDOptions")]


def computed_shape(c):
    """A shape that Keras computes: the batch of one tensor, then constants."""
    shape = c.shape(3)
    x = c.either(shape)
    whole = c.b.op("SHAPE", [x], [c.b.tensor([3], dtype=np.int32)], "ShapeOptions", outType=schema.TensorType.INT32)
    first = c.b.op("STRIDED_SLICE", [whole, c.ints([0]), c.ints([1]), c.ints([1])], [c.b.tensor([], dtype=np.int32)], "StridedSliceOptions", beginMask=0,
                   endMask=0, ellipsisMask=0, newAxisMask=0, shrinkAxisMask=1)
    most = c.b.op("REDUCE_MAX", [whole, c.ints([0])], [c.b.tensor([1], dtype=np.int32)], "ReducerOptions", keepDims=True)
    zero = c.b.op("SUB", [most, most], [c.b.tensor([1], dtype=np.int32)], "SubOptions")
    last = c.ints(shape[1] * shape[2])
    to = c.b.op("PACK", [first, last], [c.b.tensor([2], dtype=np.int32)], "PackOptions", axis=0, valuesCount=2)
    y = c.op("RESHAPE", [x, to], x, [shape[0], shape[1] * shape[2]], "ReshapeOptions")
    begin = c.b.op("CONCATENATION", [zero, zero], [c.b.tensor([2], dtype=np.int32)], "ConcatenationOptions", axis=0)
    size = c.b.op("MUL", [to, c.ints([1, 1])], [c.b.tensor([2], dtype=np.int32)], "MulOptions")
    return [c.op("SLICE", [y, begin, size], x, [shape[0], shape[1] * shape[2]], "SliceOptions")]


def fill(c):
    shape = c.shape(c.pick(1, 4))
    x = c.steps(shape)
    s, z = c.b.quant(x)
    value = c.b.constant(np.array(c.pick(-128, 127), np.int8), s, z)
    dims = c.b.op("SHAPE", [x], [c.b.tensor([len(shape)], dtype=np.int32)], "ShapeOptions", outType=schema.TensorType.INT32)
    y = c.op("FILL", [dims, value], x, shape, "FillOptions")
    real = c.b.op("FILL", [dims, c.b.constant(np.array(c.r.normal(), np.float32))], [c.b.tensor(shape, dtype=np.float32)], "FillOptions")
    x_real = c.b.op("DEQUANTIZE", [x], [c.b.tensor(shape, dtype=np.float32)], "DequantizeOptions")
    return [c.op("MAXIMUM", [x, y], x, shape, "MaximumMinimumOptions"), c.b.op("ADD", [x_real, real], [c.b.tensor(shape, dtype=np.float32)], "AddOptions")]


def zeros_like(c):
    shape = c.shape(c.pick(1, 4))
    x = c.floats(shape) if c.pick(0, 1) else c.integers(shape)
    return [c.op("MAXIMUM", [x, c.op("ZEROS_LIKE", [x], x, shape, "ZerosLikeOptions")], x, shape, "MaximumMinimumOptions")]


def broadcast_args(c):
    shape = c.shape(c.pick(2, 4))
    of = [1 if c.pick(0, 1) else e for e in shape[1:]]
    x = c.either(of)
    a, b = [1 if e == f else e for e, f in zip(shape, [0] + of)], of
    to = c.b.op("BROADCAST_ARGS", [c.ints(a), c.ints(b)], [c.b.tensor([len(shape)], dtype=np.int32)])
    made = [max(e, f) for e, f in zip(a, [1] + b)]
    return [c.op("BROADCAST_TO", [x, to], x, made, "BroadcastToOptions")]


def cast(c):
    shape = c.shape(c.pick(1, 4))
    x = c.floats(shape)
    whole = c.b.tensor(shape, dtype=c.choose([np.int32, np.int64]))
    c.b.op("CAST", [x], [whole], "CastOptions")
    truth = c.b.op("CAST", [whole], [c.b.tensor(shape, dtype=np.bool_)], "CastOptions")
    back = c.b.op("CAST", [truth], [c.b.tensor(shape, dtype=np.float32)], "CastOptions")
    steps = c.b.op("QUANTIZE", [back], [c.b.tensor(shape, 1 / 64, -5)], "QuantizeOptions")
    return [whole, steps]


def function_of_steps(c):
    """Roots of what is not negative. TFLite changes the sign of steps as they stand, whatever zero is."""
    fn, shape, s = c.choose(["GELU", "LOG", "NEG", "RSQRT", "SQRT"]), c.shape(4), float(np.float32(10 ** c.r.uniform(-3, 0)))
    x = c.b.input(shape, s, {"NEG": 0, "RSQRT": -128, "SQRT": -128}.get(fn, c.pick(-128, 127)))
    y = c.like(x, shape) if fn == "NEG" else c.b.tensor(shape, float(np.float32(10 ** c.r.uniform(-3, 0))), c.pick(-128, 127))
    return [c.b.op(fn, [x], [y], {"GELU": "GeluOptions", "NEG": "NegOptions"}.get(fn), **({"approximate": bool(c.pick(0, 1))} if fn == "GELU" else {}))]


def quantize_int32(c):
    """To int16 or int8 and, of int16 alone, to int32. Inputs of int32 are small numbers, so their steps are coarse."""
    shape, wide, narrow = c.shape(4), 10 ** c.r.uniform(-3, 0), 10 ** c.r.uniform(-5, -2)
    if c.pick(0, 1):
        x, kind = c.b.tensor(shape, wide, 0, np.int32), c.choose([np.int8, np.int16])
        y = c.b.tensor(shape, narrow, c.pick(-128, 127) if kind is np.int8 else 0, kind)
    else:
        x, y = c.b.tensor(shape, wide, c.choose([0, -32768]), np.int16), c.b.tensor(shape, narrow, 0, np.int32)
    c.b.graph.inputs.append(x)
    return [c.b.op("QUANTIZE", [x], [y], "QuantizeOptions")]


def softmax_to_int16(c):
    """And what reads such a result: QUANTIZE and DEQUANTIZE, its zero point at the end of int16. LiteRT's DEQUANTIZE refuses that, TFLite Micro's does not."""
    c.wanted = lambda inputs: micro(c.b.bytes(), [inputs])[0]
    shape, scale = c.shape(c.choose([1, 2, 4])), float(np.float32(10 ** c.r.uniform(-3, 0)))
    wide = c.b.op("SOFTMAX", [c.b.input(shape, scale, c.pick(-128, 127))], [c.b.tensor(shape, 2.0 ** -16, -32768, np.int16)], "SoftmaxOptions",
                  beta=c.choose([1.0, 0.5, 2.0]))
    real = c.b.op("DEQUANTIZE", [wide], [c.b.tensor(shape, dtype=np.float32)], "DequantizeOptions")
    return [wide, c.b.op("QUANTIZE", [wide], [c.b.tensor(shape, c.choose([1 / 256, 0.003]), -128)], "QuantizeOptions"),
            c.b.op("QUANTIZE", [wide], [c.b.tensor(shape, 1 / 32768, 0, np.int32)], "QuantizeOptions"),
            c.b.op("ADD", [real, c.b.constant(np.array([0.3], np.float32))], [c.b.tensor(shape, dtype=np.float32)], "AddOptions")]


def l2_normalization(c):
    shape = c.shape(c.choose([2, 4]))[:-1] + [c.pick(1, 24)]
    x = c.steps(shape)
    return [c.b.op("L2_NORMALIZATION", [x], [c.b.tensor(shape, 1 / 128, 0)], "L2NormOptions", fusedActivationFunction=0)]


def l2_normalization_float(c):
    shape = c.shape(c.choose([2, 4]))[:-1] + [c.pick(1, 24)]
    x = c.floats(shape)
    return [c.op("L2_NORMALIZATION", [x], x, shape, "L2NormOptions", fusedActivationFunction=0)]


def l2_pool(c):
    n, h, w, ch = c.shape(4)
    k, s, same = [c.pick(1, h), c.pick(1, w)], [c.pick(1, 3), c.pick(1, 3)], c.pick(0, 1)
    out = [-(-e // t) if same else (e - m) // t + 1 for e, m, t in zip((h, w), k, s)]
    x = c.floats([n, h, w, ch])
    return [c.op("L2_POOL_2D", [x], x, [n, *out, ch], "Pool2DOptions", padding=0 if same else 1, strideH=s[0], strideW=s[1], filterHeight=k[0],
                 filterWidth=k[1], fusedActivationFunction=c.choose([0, 1, 3]))]


def integer_pair(c):
    """Divisors are not 0: TFLite ends there."""
    shape = c.shape(c.pick(1, 3))
    fn = c.choose(["ADD", "SUB", "MUL", "DIV", "FLOOR_DIV", "FLOOR_MOD", "MAXIMUM", "MINIMUM"])
    dtype = np.int32 if fn == "DIV" else c.choose([np.int32, np.int64])
    x = c.integers(shape, dtype)
    other = c.r.integers(1, 9, [e if c.pick(0, 1) else 1 for e in shape]) * c.choose([1, -1])
    options = {"ADD": "AddOptions", "SUB": "SubOptions", "MUL": "MulOptions", "DIV": "DivOptions", "FLOOR_DIV": "FloorDivOptions", "FLOOR_MOD": "FloorModOptions"}
    return [c.op(fn, [x, c.b.constant(other.astype(dtype))], x, shape, options.get(fn, "MaximumMinimumOptions"))]


def integer_function(c):
    fn = c.choose(["ABS", "NEG"])
    x = c.integers(c.shape(c.pick(1, 3)), np.int32 if fn == "ABS" else None)
    return [c.op(fn, [x], x, c.b.shape(x), "AbsOptions" if fn == "ABS" else "NegOptions")]


def plain_reduction(c):
    """Of integers; products of floats too."""
    shape = c.shape(3)
    fn = c.choose(["SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"])
    x = c.floats(shape) if fn == "REDUCE_PROD" and c.pick(0, 1) else c.integers(shape)
    axes = sorted({c.pick(0, 2), c.pick(0, 2)})
    keep = bool(c.pick(0, 1))
    out = [1 if a in axes else e for a, e in enumerate(shape) if keep or a not in axes]
    return [c.op(fn, [x, c.ints(axes)], x, out, "ReducerOptions", keepDims=keep)]


def reduce_truth(c):
    shape = c.shape(3)
    x = c.floats(shape)
    truth = c.b.op("LESS", [x, c.b.constant(np.array([c.choose([0.0, 3.0, -3.0])], np.float32))], [c.b.tensor(shape, dtype=np.bool_)], "LessOptions")
    axes = sorted({c.pick(0, 2), c.pick(0, 2)})
    keep = bool(c.pick(0, 1))
    out = [1 if a in axes else e for a, e in enumerate(shape) if keep or a not in axes]
    return [c.b.op(fn, [truth, c.ints(axes)], [c.b.tensor(out, dtype=np.bool_)], "ReducerOptions", keepDims=keep) for fn in ("REDUCE_ALL", "REDUCE_ANY")]


def order_of_steps(c):
    """Beside a constant, which may be a step that TFLite does not tell from others."""
    shape = c.shape(c.pick(1, 3))
    x = c.b.input(shape, float(np.float32(10 ** c.r.uniform(-3.5, -0.5))), c.pick(-40, 40))
    s, z = c.b.quant(x)
    other = c.b.constant(np.array(c.pick(-128, 127), np.int8), s if c.pick(0, 1) else float(np.float32(10 ** c.r.uniform(-3.5, -0.5))), c.choose([z, c.pick(-40, 40)]))
    fn = c.choose(["LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"])
    return [c.b.op(fn, [x, other] if c.pick(0, 1) else [other, x], [c.b.tensor(shape, dtype=np.bool_)], fn.title().replace("_", "") + "Options")]


def prelu_by_place(c):
    """Slopes of each place, as Keras writes them unless it is told which axes share one."""
    shape = c.shape(c.pick(2, 4))
    slopes = [1 if k > 0 and c.pick(0, 3) == 0 else n for k, n in enumerate(shape)][1:]
    x = c.floats(shape)
    return [c.op("PRELU", [x, c.b.constant(c.r.uniform(-2, 2, slopes).astype(np.float32))], x, shape)]


def spectrum(c):
    """As tf.signal.stft becomes: the spectrum of each row, of more or fewer numbers than the row has."""
    rows, columns = c.pick(1, 4), c.pick(2, 24)
    length = 2 ** c.pick(1, 4)
    x = c.floats([rows, 1, columns])
    bins = length // 2 + 1
    z = c.b.op("RFFT2D", [x, c.ints([1, length])], [c.b.tensor([rows, 1, bins], dtype=np.complex64)])
    z = c.b.op("RESHAPE", [z, c.ints([rows, bins])], [c.b.tensor([rows, bins], dtype=np.complex64)], "ReshapeOptions", newShape=[rows, bins])
    part = c.choose(["COMPLEX_ABS", "REAL", "IMAG"])
    return [c.b.op(part, [z], [c.b.tensor([rows, bins], dtype=np.float32)])]


def floor_div(c):
    shape = c.shape(c.pick(1, 4))
    other = (c.r.uniform(0.2, 2, [e if c.pick(0, 1) else 1 for e in shape]) * c.choose([1, -1])).astype(np.float32)
    x = c.floats(shape)
    return [c.op("FLOOR_DIV", [x, c.b.constant(other)], x, shape, "FloorDivOptions")]


def gather_nd(c):
    shape = c.shape(c.pick(1, 4))
    n = c.pick(1, len(shape))
    positions = c.shape(c.pick(0, 2))
    index = np.stack([c.r.integers(0, e, positions) for e in shape[:n]], -1)
    x = c.either(shape)
    return [c.op("GATHER_ND", [x, c.ints(index)], x, positions + shape[n:], "GatherNdOptions")]


def gather_batches(c):
    shape = c.shape(c.pick(2, 4))
    batch = c.pick(1, len(shape) - 1)
    axis = c.pick(batch, len(shape) - 1)
    positions = shape[:batch] + c.shape(c.pick(0, 2))
    x = c.either(shape)
    out = shape[:axis] + positions[batch:] + shape[axis + 1:]
    return [c.op("GATHER", [x, c.ints(c.r.integers(0, shape[axis], positions))], x, out, "GatherOptions", axis=axis, batchDims=batch)]


def lookup(c):
    """Positions that are computed: of a table, by its two builtins; along any axis."""
    rows, width, n, two = c.pick(101, 150), c.pick(1, 9), c.pick(1, 6), c.pick(1, 3)
    ids = c.b.tensor([n], dtype=np.int32)
    c.b.graph.inputs.append(ids)
    real = c.b.op("CAST", [ids], [c.b.tensor([n], dtype=np.float32)], "CastOptions")  # into 0..100
    moved = c.b.op("ADD", [real, c.b.constant(np.array([50], np.float32))], [c.b.tensor([n], dtype=np.float32)], "AddOptions")
    at = c.b.op("CAST", [moved], [c.b.tensor([n], dtype=np.int32)], "CastOptions")
    table = c.b.constant(c.r.normal(size=[rows, width]).astype(np.float32))
    steps = c.b.constant(c.r.integers(-128, 128, [rows, width]).astype(np.int8), 0.05, 3)
    picked = c.b.op("GATHER", [steps, at], [c.b.tensor([n, width], 0.05, 3)], "GatherOptions", axis=0)
    square = c.b.op("CONCATENATION", [at] * two, [c.b.tensor([n * two], dtype=np.int32)], "ConcatenationOptions", axis=0)
    square = c.b.op("RESHAPE", [square], [c.b.tensor([n, two], dtype=np.int32)], "ReshapeOptions", newShape=[n, two])
    columns = c.b.constant(c.r.normal(size=[width, rows, 2]).astype(np.float32))
    wide = c.b.op("GATHER", [columns, square], [c.b.tensor([width, n, two, 2], dtype=np.float32)], "GatherOptions", axis=1)
    return [wide, c.b.op("EMBEDDING_LOOKUP", [at, table], [c.b.tensor([n, width], dtype=np.float32)]), picked]


def known_lookup(c):
    rows, width, n = c.pick(1, 9), c.pick(1, 9), c.pick(1, 6)
    x = c.floats([rows, width])
    return [c.op("EMBEDDING_LOOKUP", [c.ints(c.r.integers(0, rows, [n])), x], x, [n, width])]


def update_slice(c):
    shape = c.shape(c.pick(1, 4))
    some = [c.pick(1, e) for e in shape]
    x = c.either(shape)
    other = c.b.input(some, *c.b.quant(x)) if c.b.graph.tensors[x].type == schema.TensorType.INT8 else c.floats(some)
    return [c.op("DYNAMIC_UPDATE_SLICE", [x, other, c.ints([c.pick(-1, e) for e in shape])], x, shape, "DynamicUpdateSliceOptions")]


def cumsum(c):
    shape = c.shape(c.pick(1, 4))
    x = c.floats(shape) if c.pick(0, 1) else c.integers(shape)
    return [c.op("CUMSUM", [x, c.ints(c.pick(-len(shape), len(shape) - 1))], x, shape, "CumsumOptions", exclusive=bool(c.pick(0, 1)), reverse=bool(c.pick(0, 1)))]


def matmul_broadcast(c):
    m, k, n = c.shape(3)
    batch = c.shape(c.pick(1, 2))
    one, two = ([e if c.pick(0, 1) else 1 for e in batch] for _ in range(2))
    two = two[c.pick(0, len(two)):]
    ax, ay = bool(c.pick(0, 1)), bool(c.pick(0, 1))
    x, other = c.steps(one + ([k, m] if ax else [m, k])), c.steps(two + ([n, k] if ay else [k, n]))
    out = np.broadcast_shapes(one, two)
    y = c.b.tensor([*out, m, n], float(c.b.quant(x)[0] * c.b.quant(other)[0] * 70 * np.sqrt(k)), c.pick(-20, 20))
    return [c.b.op("BATCH_MATMUL", [x, other], [y], "BatchMatMulOptions", adjX=ax, adjY=ay)]


CASES = [space_to_batch, batch_to_space, dilated, dilated_line, computed_shape, fill, quantize_int32, softmax_to_int16, zeros_like, broadcast_args, cast, l2_normalization, l2_normalization_float, l2_pool,
         integer_pair, integer_function, plain_reduction, reduce_truth, order_of_steps, prelu_by_place, spectrum, floor_div, gather_nd, gather_batches, lookup, known_lookup, update_slice, cumsum,
         matmul_broadcast, function_of_steps, *tflite_subgraphs.CASES]


def make(case, seed):
    c = Case(seed)
    for t in case(c):
        c.b.output(t)
    return c
