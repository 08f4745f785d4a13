# SPDX-License-Identifier: Apache-2.0
"""Random TFLite models with int16 activations and int8 weights (16x8): what tflite_import.py compares beside those of int8."""
import numpy as np
import tflite_subgraphs
from neutron_models import Random
from tflite_models import Builder, interpret, schema

kMostElements = 40000


def rounded_twice(sums, factor):
    """Sums times a factor as TFLite's MultiplyByQuantizedMultiplier of int32 has them, held to int16."""
    part, shift = np.frexp(factor)
    multiplier = int(np.floor(part * 2 ** 31 + 0.5))
    high = (sums * 2 ** max(int(shift), 0) * multiplier + 2 ** 30) >> 31
    down = max(-int(shift), 0)
    size = (np.abs(high) + (2 ** down >> 1)) >> down  # ties away from zero
    return np.clip(np.sign(high) * size, -32768, 32767).astype(np.int16)


class Builder16(Builder):
    """Tensors are int16 unless told."""

    def tensor(self, shape, scale=None, zero=0, dtype=np.int16, data=None, axis=0, name=None):
        return super().tensor(shape, scale, zero, dtype, data, axis, name)

    def input(self, shape, scale, zero):
        return super().input(shape, scale, 0)


class Int16(Random):
    def __init__(self, seed):
        super().__init__(seed)
        self.b = Builder16()

    def scale(self):
        return float(np.float32(10 ** self.r.uniform(-4.5, -2.5)))

    def zero(self):
        return 0

    def steps(self, shape, scale):
        return self.b.constant(self.r.integers(-32768, 32768, shape).astype(np.int16), scale, 0)

    def weights(self, shape, count, axis=0):
        ws = 10 ** self.r.uniform(-3.5, -1.5, count)
        return self.b.constant(self.r.integers(-128, 128, shape).astype(np.int8), ws, 0, axis), ws

    def bias(self, x, ws, channels, narrow):
        """int64, wide at times; or int32."""
        most = 10 ** self.r.uniform(2, 8 if narrow else 11)
        values = self.r.integers(-int(most), int(most) + 1, [channels]).astype(np.int32 if narrow else np.int64)
        t = self.b.constant(values, np.float32(self.b.quant(x)[0]) * np.float32(ws), 0)
        return t

    def said(self, narrow):
        return {"quantizedBiasType": schema.TensorType.INT32 if narrow else self.choose([schema.TensorType.INT64, schema.TensorType.FLOAT32])}

    def wide(self, x, ws, taps):
        """The scale of a layer's result, of a sum of so many products."""
        return float(self.b.quant(x)[0] * np.mean(ws) * 100 * np.sqrt(taps) * 10 ** self.r.uniform(-0.3, 0.5))

    def conv(self):
        x = self.any(4)
        if x is None:
            return None
        n, h, w, c = self.b.shape(x)
        k, d, s, padding, out = self.window(h, w)
        groups = self.choose([g for g in range(1, c + 1) if c % g == 0]) if self.pick(0, 4) == 0 else 1
        oc = groups * self.pick(1, max(1, 20 // groups))
        narrow = self.pick(0, 4) == 0
        weight, ws = self.weights([oc] + k + [c // groups], oc if self.pick(0, 3) else 1)
        y = self.new([n] + out + [oc], self.wide(x, ws, k[0] * k[1] * c // groups))
        return self.b.op("CONV_2D", [x, weight, self.bias(x, ws, oc, narrow)], [y], "Conv2DOptions", padding=padding, strideH=s[0], strideW=s[1],
                         dilationHFactor=d[0], dilationWFactor=d[1], fusedActivationFunction=self.activation(), **self.said(narrow))

    def residual(self):
        x = self.conv()
        if x is None:
            return None
        shape = self.b.shape(x)
        same = [t for t in self.live if self.b.shape(t) == shape and t != x]
        other = self.choose(same) if same and self.pick(0, 1) else self.b.input(shape, self.scale(), 0)
        y = self.new(shape, float(max(self.b.quant(x)[0], self.b.quant(other)[0]) * 1.3))
        return self.b.op("ADD", [x, other] if self.pick(0, 1) else [other, x], [y], "AddOptions", fusedActivationFunction=self.activation(),
                         potScaleInt16=bool(self.pick(0, 1)))

    def depthwise(self):
        x = self.any(4)
        if x is None:
            return None
        n, h, w, c = self.b.shape(x)
        k, d, s, padding, _ = self.window(h, w)
        s = [s[0], s[0]]
        out = [-(-e // t) for e, t in zip([h, w], s)] if padding == 0 else [(e - (m - 1) * v - 1) // t + 1 for e, m, v, t in zip([h, w], k, d, s)]
        m = self.choose([1, 1, 2, 3])
        weight, ws = self.weights([1] + k + [c * m], c * m if self.pick(0, 3) else 1, 3)
        y = self.new([n] + out + [c * m], self.wide(x, ws, k[0] * k[1]))
        return self.b.op("DEPTHWISE_CONV_2D", [x, weight, self.bias(x, ws, c * m, False)], [y], "DepthwiseConv2DOptions", padding=padding, strideH=s[0],
                         strideW=s[1], depthMultiplier=m, dilationHFactor=d[0], dilationWFactor=d[1], fusedActivationFunction=self.activation())

    def linear(self):
        x = self.any()
        shape = self.b.shape(x)
        if len(shape) < 2:
            return None
        o, i = self.pick(1, 30), shape[-1]
        narrow = self.pick(0, 3) == 0
        weight, ws = self.weights([o, i], o if self.pick(0, 1) else 1)
        y = self.new(shape[:-1] + [o], self.wide(x, ws, i))
        ins = [x, weight] + ([self.bias(x, ws, o, narrow)] if self.pick(0, 2) else [])
        return self.b.op("FULLY_CONNECTED", ins, [y], "FullyConnectedOptions", keepNumDims=True, fusedActivationFunction=self.activation(), **self.said(narrow))

    def transposed(self):
        x = self.any(4)
        if x is None:
            return None
        n, h, w, c = self.b.shape(x)
        k, s, same, oc = [self.pick(1, 4), self.pick(1, 4)], [self.pick(1, 3), self.pick(1, 3)], self.pick(0, 1), self.pick(1, 8)
        out = [e * t for e, t in zip([h, w], s)] if same else [(e - 1) * t + max(t, q) for e, t, q in zip([h, w], s, k)]
        narrow, channels = self.pick(0, 3) == 0, self.pick(0, 1)
        weight, ws = self.weights([oc] + k + [c], oc if channels else 1)
        y = self.new([n] + out + [oc], self.wide(x, ws, k[0] * k[1] * c))
        ins = [self.ints([n] + out + [oc]), weight, x] + ([self.bias(x, ws, oc, narrow)] if self.pick(0, 1) else [])
        return self.b.op("TRANSPOSE_CONV", ins, [y], "TransposeConvOptions", padding=0 if same else 1, strideH=s[0], strideW=s[1], **self.said(narrow))

    def matmul(self):
        """By int16, or by int8."""
        x = self.any()
        shape = self.b.shape(x)
        if len(shape) not in (3, 4):
            return None
        ax, ay, narrow, n = bool(self.pick(0, 1)), bool(self.pick(0, 1)), self.pick(0, 1), self.pick(1, 12)
        m, k = (shape[-1], shape[-2]) if ax else (shape[-2], shape[-1])
        other_shape = [1 if self.pick(0, 2) == 0 else shape[0]] + shape[1:-2] + ([n, k] if ay else [k, n])
        kind, so = np.int8 if narrow else np.int16, self.scale()
        if self.pick(0, 1):
            other = self.b.tensor(other_shape, so, 0, kind)
            self.b.graph.inputs.append(other)
        else:
            other = self.b.constant(self.r.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, other_shape).astype(kind), so, 0)
        y = self.new(shape[:-2] + [m, n], float(self.b.quant(x)[0] * so * np.sqrt(k) * (140 if narrow else 36000)))
        return self.b.op("BATCH_MATMUL", [x, other], [y], "BatchMatMulOptions", adjX=ax, adjY=ay)

    def pair(self):
        x = self.any()
        shape = self.b.shape(x)
        if len(shape) > 4:
            return None
        fn = self.choose(["ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM"])
        extreme = fn in ("MAXIMUM", "MINIMUM")
        s = self.b.quant(x)[0] if extreme else self.scale()
        kind = self.pick(0, 3)
        same = [t for t in self.live if self.b.shape(t) == shape and (not extreme or self.b.quant(t)[0] == s)]  # the operand itself, too
        if kind == 0 and same:
            other = self.choose(same)
        elif kind == 1:
            other = self.steps([1] if self.pick(0, 1) else shape[-1:], s)
        else:
            other = self.b.input([d if self.pick(0, 1) else 1 for d in shape] if kind == 2 else shape, s, 0)
        s2, sx = self.b.quant(other)[0], self.b.quant(x)[0]
        y = self.like(x, shape) if extreme else self.new(shape, float(sx * s2 * 12000 if fn == "MUL" else max(sx, s2) * 10 ** self.r.uniform(-1, 0.5)))
        options = {"ADD": "AddOptions", "SUB": "SubOptions", "MUL": "MulOptions"}.get(fn, "MaximumMinimumOptions")
        fields = {} if extreme else {"fusedActivationFunction": self.activation()}
        if fn in ("ADD", "SUB"):
            fields["potScaleInt16"] = bool(self.pick(0, 1))
        return self.b.op(fn, [x, other] if self.pick(0, 1) else [other, x], [y], options, **fields)

    def powers(self):
        """A sum or a difference of scales that are powers of two, one of them the result's."""
        shape, exponent = self.b.shape(self.any()), -self.pick(8, 15)
        scales = [2.0 ** exponent, 2.0 ** (exponent - self.pick(0, 9))]
        self.r.shuffle(scales)
        x, other = [self.b.input(shape, s, 0) for s in scales]
        fn = self.choose(["ADD", "SUB"])
        return self.b.op(fn, [x, other], [self.new(shape, 2.0 ** exponent)], fn.title() + "Options", fusedActivationFunction=self.activation(),
                         potScaleInt16=bool(self.pick(0, 3)))

    def reduce(self, fn=None):
        x = self.any()
        shape = self.b.shape(x)
        fn = fn or self.choose(["MEAN", "REDUCE_MAX", "REDUCE_MIN"])
        axes = [i for i in range(len(shape)) if self.pick(0, 1)] or [len(shape) - 1]
        keep = len(axes) == len(shape) or bool(self.pick(0, 1))
        out = [1 if i in axes else d for i, d in enumerate(shape)] if keep else [d for i, d in enumerate(shape) if i not in axes]
        n = int(np.prod([shape[a] for a in axes]))
        s = self.b.quant(x)[0]
        y = self.like(x, out) if fn.startswith("REDUCE") else self.new(out, float(s * 10 ** self.r.uniform(-0.7, 0.3) * (1 if fn == "MEAN" else np.sqrt(n))))
        return self.b.op(fn, [x, self.ints(axes)], [y], "ReducerOptions", keepDims=keep)

    def total(self):
        """TFLite 2.3.0 has no kernel of SUM in integers that works: its reference reads int16 as uint8, its other one computes in float. What is wanted is what
        that reference computes on int16."""
        x, made = self.b.graph.inputs[0], self.reduce("SUM")
        axes = tuple(int(v) for v in np.frombuffer(self.b.buffers[self.b.graph.tensors[self.b.graph.operators[-1].inputs[1]].buffer].data.tobytes(), np.int32))
        factor = float(self.b.quant(x)[0]) / float(self.b.quant(made)[0])
        self.wanted = lambda inputs: [rounded_twice(inputs[0].astype(np.int64).sum(axes), factor).reshape(self.b.shape(made))]
        return made

    def softmax(self):
        x = self.any()
        return self.b.op("SOFTMAX", [x], [self.new(self.b.shape(x), 2.0 ** -15)], "SoftmaxOptions", beta=self.choose([1.0, 0.5, 0.37]))

    def sigmoid(self):
        x = self.any()
        if self.pick(0, 2) == 0:
            x = self.b.input(self.b.shape(x), self.choose([2.0 ** -12, 2.0 ** -11, 2.0 ** -9, 0.01]), 0)
        return self.b.op(self.choose(["LOGISTIC", "TANH"]), [x], [self.new(self.b.shape(x), 2.0 ** -15)])

    def clamp(self):
        x = self.any()
        s = self.b.quant(x)[0] * (1 if self.pick(0, 1) else 10 ** self.r.uniform(-0.5, 0.5))
        return self.b.op(self.choose(["RELU", "RELU6"]), [x], [self.new(self.b.shape(x), float(s))])

    def leaky(self):
        x = self.any()
        y = self.new(self.b.shape(x), float(self.b.quant(x)[0] * self.choose([0.5, 2, 10 ** self.r.uniform(-0.5, 0.5)])))
        return self.b.op("LEAKY_RELU", [x], [y], "LeakyReluOptions", alpha=self.choose([0.1, 0.01, 0.3, 1.5, -0.25, -0.3]))

    def quantize(self):
        """Other steps; or int8 and back."""
        x = self.any()
        shape, s = self.b.shape(x), self.b.quant(x)[0]
        if self.pick(0, 1):
            return self.b.op("QUANTIZE", [x], [self.new(shape, float(s * 10 ** self.r.uniform(-1, 1)))], "QuantizeOptions")
        narrow = self.b.tensor(shape, float(s * 256 * 10 ** self.r.uniform(-0.5, 0.3)), self.pick(-128, 127), np.int8)
        self.b.op("QUANTIZE", [x], [narrow], "QuantizeOptions")
        return self.b.op("QUANTIZE", [narrow], [self.new(shape, float(s * 10 ** self.r.uniform(-0.3, 0.3)))], "QuantizeOptions")

    def int8_in_between(self):
        """A convolution on int8 among int16."""
        x = self.any(4)
        if x is None:
            return None
        n, h, w, c = self.b.shape(x)
        s = np.float32(self.b.quant(x)[0] * 200)
        narrow = self.b.tensor([n, h, w, c], float(s), self.pick(-20, 20), np.int8)
        self.b.op("QUANTIZE", [x], [narrow], "QuantizeOptions")
        oc = self.pick(1, 9)
        weight, ws = self.weights([oc, 1, 1, c], oc)
        bias = self.b.constant(self.r.integers(-3000, 3000, [oc]).astype(np.int32), s * np.float32(ws), 0)
        made = self.b.tensor([n, h, w, oc], float(s * np.mean(ws) * 100 * np.sqrt(c)), self.pick(-20, 20), np.int8)
        self.b.op("CONV_2D", [narrow, weight, bias], [made], "Conv2DOptions", padding=1, strideH=1, strideW=1, dilationHFactor=1, dilationWFactor=1,
                  fusedActivationFunction=self.activation())
        return self.b.op("QUANTIZE", [made], [self.new([n, h, w, oc], float(self.b.quant(made)[0] / 100))], "QuantizeOptions")

    def padded(self, x, value=None, channels=False):
        if value is None:
            return super().padded(x, None, channels)
        shape = self.b.shape(x)
        pads = [[0, 0], [self.pick(0, 2), self.pick(0, 2)], [self.pick(0, 2), self.pick(0, 2)], [0, self.pick(0, 1)]]
        y = self.like(x, [d + p[0] + p[1] for d, p in zip(shape, pads)])
        v = self.b.constant(np.array([self.pick(-32768, 32767)], np.int16), self.b.quant(x)[0], 0)
        return self.b.op("PADV2", [x, self.ints(pads), v], [y], "PadV2Options")

    def concat(self):
        x = self.any()
        shape = self.b.shape(x)
        if len(shape) > 5:
            return None
        s = self.b.quant(x)[0]
        axis = self.pick(0, len(shape) - 1)
        parts = [x]
        while len(parts) < 2 or self.pick(0, 2) == 0:
            other = list(shape)
            other[axis] = self.pick(1, 4)
            parts.append(self.b.input(other, s, 0) if self.pick(0, 1) else self.steps(other, s))
        out = list(shape)
        out[axis] = sum(self.b.shape(p)[axis] for p in parts)
        return self.b.op("CONCATENATION", parts, [self.like(x, out)], "ConcatenationOptions", axis=axis)

    def split(self):
        x = self.any()
        shape = self.b.shape(x)
        fit = [(a, n) for a, d in enumerate(shape) for n in (2, 3) if d % n == 0]
        if not fit or len(shape) > 4:
            return None
        axis, n = self.choose(fit)
        out = [d // n if a == axis else d for a, d in enumerate(shape)]
        parts = [self.like(x, out) for _ in range(n)]
        self.b.op("SPLIT", [self.b.constant(np.array(axis, np.int32)), x], parts, "SplitOptions", numSplits=n)
        packed = self.like(x, [n] + out)
        return self.b.op("PACK", parts[::-1], [packed], "PackOptions", axis=0, valuesCount=n)

    def gather(self):
        x = self.any()
        shape = self.b.shape(x)
        axis = self.pick(0, len(shape) - 1)
        at = self.r.integers(0, shape[axis], [self.pick(1, 5)])
        out = list(shape)
        out[axis] = len(at)
        return self.b.op("GATHER", [x, self.ints(at)], [self.like(x, out)], "GatherOptions", axis=axis, batchDims=0)

    def unpack(self):
        x = self.any()
        shape = self.b.shape(x)
        axis = self.pick(0, len(shape) - 1)
        if len(shape) < 2 or shape[axis] > 6:
            return None
        parts = [self.like(x, shape[:axis] + shape[axis + 1:]) for _ in range(shape[axis])]
        self.b.op("UNPACK", [x], parts, "UnpackOptions", num=shape[axis], axis=axis)
        return parts[-1]

    def moves(self):
        """What random graphs have none of."""
        x = self.any(4)
        if x is None:
            return None
        n, h, w, c = self.b.shape(x)
        kind = self.choose(["REVERSE_V2", "TILE", "SPACE_TO_DEPTH", "DEPTH_TO_SPACE", "SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND", "GATHER_ND", "BROADCAST_TO", "EXPAND_DIMS",
                            "DYNAMIC_UPDATE_SLICE", "FILL"])
        if kind == "REVERSE_V2":
            return self.b.op(kind, [x, self.ints([self.pick(0, 3)])], [self.like(x, [n, h, w, c])], "ReverseV2Options")
        if kind == "TILE":
            times = [self.pick(1, 2) for _ in range(4)]
            return self.b.op(kind, [x, self.ints(times)], [self.like(x, [a * b for a, b in zip([n, h, w, c], times)])], "TileOptions")
        if kind == "EXPAND_DIMS":
            y = self.b.op(kind, [x, self.ints(2)], [self.like(x, [n, h, 1, w, c])], "ExpandDimsOptions")
            return self.b.op("SQUEEZE", [y], [self.like(x, [n, h, w, c])], "SqueezeOptions", squeezeDims=[2])
        if kind == "DYNAMIC_UPDATE_SLICE":
            some = [self.pick(1, e) for e in (n, h, w, c)]
            other, start = self.b.input(some, self.b.quant(x)[0], 0), self.ints([self.pick(-1, e) for e in (n, h, w, c)])
            return self.b.op(kind, [x, other, start], [self.like(x, [n, h, w, c])], "DynamicUpdateSliceOptions")
        if kind == "FILL":
            one = self.b.op(kind, [self.ints([n, h, w, c]), self.steps([], self.b.quant(x)[0])], [self.like(x, [n, h, w, c])], "FillOptions")
            return self.b.op("MAXIMUM", [x, one], [self.like(x, [n, h, w, c])], "MaximumMinimumOptions")
        if kind == "BROADCAST_TO":
            row = self.b.input([1, c], self.b.quant(x)[0], 0)
            return self.b.op(kind, [row, self.ints([h, c])], [self.like(x, [h, c])], "BroadcastToOptions")
        if kind == "GATHER_ND":
            at = np.stack([self.r.integers(0, n, [3]), self.r.integers(0, h, [3])], 1).astype(np.int32)
            return self.b.op(kind, [x, self.b.constant(at)], [self.like(x, [3, w, c])], "GatherNdOptions")
        if kind == "SPACE_TO_DEPTH":
            x = self.b.input([n, 2 * h, 2 * w, c], self.scale(), 0)
            return self.b.op(kind, [x], [self.like(x, [n, h, w, 4 * c])], "SpaceToDepthOptions", blockSize=2)
        if kind == "DEPTH_TO_SPACE":
            x = self.b.input([n, h, w, 4 * c], self.scale(), 0)
            return self.b.op(kind, [x], [self.like(x, [n, 2 * h, 2 * w, c])], "DepthToSpaceOptions", blockSize=2)
        if kind == "SPACE_TO_BATCH_ND":
            x = self.b.input([n, 2 * h, 2 * w, c], self.scale(), 0)
            return self.b.op(kind, [x, self.ints([2, 2]), self.ints([[0, 0], [0, 2]])], [self.like(x, [4 * n, h, w + 1, c])], "SpaceToBatchNDOptions")
        x = self.b.input([4 * n, h, w, c], self.scale(), 0)
        return self.b.op(kind, [x, self.ints([2, 2]), self.ints([[0, 0], [0, 1]])], [self.like(x, [n, 2 * h, 2 * w - 1, c])], "BatchToSpaceNDOptions")

    def function(self):
        """Of steps that are not negative, where it has no value below 0."""
        fn, shape = self.choose(["ABS", "EXP", "GELU", "LOG", "RSQRT", "SQRT"]), self.b.shape(self.any())
        s = float(np.float32(10 ** self.r.uniform(-4.5, -3.3)))
        x = self.b.input(shape, s, 0)
        if fn in ("LOG", "RSQRT", "SQRT"):
            x = self.b.op("ABS", [x], [self.new(shape, s)], "AbsOptions")
        y = {"ABS": s * self.choose([1, 0.5, 10 ** self.r.uniform(-0.5, 0.5)]), "EXP": np.exp(32767 * s) / 32767 * 10 ** self.r.uniform(-0.4, 0.4),
             "GELU": s * 10 ** self.r.uniform(-0.3, 0.3), "LOG": 10 ** self.r.uniform(-3.6, -3), "RSQRT": 10 ** self.r.uniform(-3, -1) / np.sqrt(s) / 100,
             "SQRT": np.sqrt(s / 32767) * 10 ** self.r.uniform(-0.2, 1)}[fn]
        return self.b.op(fn, [x], [self.new(shape, float(y))], {"ABS": "AbsOptions", "EXP": "ExpOptions", "GELU": "GeluOptions"}.get(fn),
                         **({"approximate": bool(self.pick(0, 1))} if fn == "GELU" else {}))

    def prelu(self):
        """Slopes are int8, for each channel or one for all."""
        x = self.any()
        shape = self.b.shape(x)
        ws = 10 ** self.r.uniform(-3, -1.5)
        many = [1] * (len(shape) - 2) + [shape[-1] if self.pick(0, 3) else 1]
        slope = self.b.constant(self.r.integers(-128, 128, many).astype(np.int8), ws)
        return self.b.op("PRELU", [x, slope], [self.new(shape, float(self.b.quant(x)[0] * self.choose([1, 0.5, 2, 10 ** self.r.uniform(-0.5, 0.5)])))])

    def compare(self):
        x = self.any()
        shape = self.b.shape(x)
        other = self.steps(shape[-1:], self.scale()) if self.pick(0, 1) else self.b.input(shape, self.scale(), 0)
        fn = self.choose(["EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "NOT_EQUAL"])
        return self.b.op(fn, [x, other], [self.b.tensor(shape, dtype=np.bool_)], fn.title().replace("_", "") + "Options")

    def equal(self):
        """Of steps near 0, of which many are one number in TFLite, and of two scales that are nearly the same."""
        shape, s = self.b.shape(self.any()), self.scale() * self.choose([1, 1, 300])
        fine = self.b.input(shape, s / 400, 0)
        x = self.b.op("QUANTIZE", [fine], [self.new(shape, s)], "QuantizeOptions")
        near = s * self.choose([1, 1, 1.01])
        other = self.b.constant(self.r.integers(-60, 61, shape[-1:]).astype(np.int16), near, 0) if self.pick(0, 1) else self.b.input(shape, near, 0)
        fn = self.choose(["EQUAL", "NOT_EQUAL"])
        return self.b.op(fn, [x, other] if self.pick(0, 1) else [other, x], [self.b.tensor(shape, dtype=np.bool_)], fn.title().replace("_", "") + "Options")

    def negative(self):
        x = self.any()
        return self.b.op("NEG", [x], [self.like(x, self.b.shape(x))], "NegOptions")

    def divisor(self, shape, s):
        """Without 0, at which TFLite stops, and without -1: TFLite leaves the quotient of -32768 open."""
        steps = self.r.integers(1, 10 ** self.r.uniform(0.5, 4.5), shape) + 1
        return self.b.constant((steps * self.r.choice([-1, 1], shape)).astype(np.int16), s, 0)

    def floor(self):
        """TFLite divides steps as they stand, whatever their scales."""
        x = self.any()
        shape = self.b.shape(x)
        other = self.divisor(shape[-1:] if self.pick(0, 1) and len(shape) <= 4 else shape, self.scale())
        fn = self.choose(["FLOOR_DIV", "FLOOR_MOD"])
        return self.b.op(fn, [x, other], [self.new(shape, self.scale())], fn.title().replace("_", "") + "Options")

    def quotient(self):
        """By a constant, or by what an input cannot make 0. Where TFLite shifts by more than 31 bits, which C++ leaves open, 0 is wanted."""
        x = self.b.graph.inputs[0]
        shape, s = self.b.shape(x), self.scale()
        small = shape[-1:] if self.pick(0, 1) and len(shape) <= 4 else shape
        other = self.divisor(small, s)
        d = np.frombuffer(self.b.buffers[-1].data.tobytes(), np.int16).reshape(small).astype(np.int64)
        sx = np.float32(self.b.quant(x)[0])
        y = self.new(shape, float(sx / s * max(1 / np.median(np.abs(d)) * 10 ** self.r.uniform(-0.5, 1), 2.0 ** -14.5)))
        made = self.b.op("DIV", [x, other], [y], "DivOptions", fusedActivationFunction=self.activation())
        shift = int(np.frexp(sx / (np.float32(s) * np.float32(self.b.quant(y)[0])))[1])

        def wanted(inputs):
            n = np.where(d < 0, -1, 1) * inputs[0].astype(np.int64)
            doubled = 30 - np.floor(np.log2(np.maximum(np.where(n < 0, -n - 1, n), 0.5))).astype(np.int64)
            far = np.floor(np.log2(np.abs(d))).astype(np.int64) + doubled - shift > 31
            return [np.where(far | (n == 0), np.int16(0), interpret(self.b.bytes(), inputs)[0])]
        self.wanted = wanted
        return made

    def real_square(self):
        """TFLite Micro has it, the interpreter does not: the squared difference of real values is wanted."""
        x = self.b.graph.inputs[0]
        shape, s = self.b.shape(x), self.scale()
        other = self.b.input(shape, s, 0)
        sx, so = (float(np.float32(self.b.quant(t)[0])) for t in (x, other))
        made = self.b.op("SQUARED_DIFFERENCE", [x, other], [self.new(shape, max(sx, so) ** 2 * 32768 * self.choose([1, 2, 4]))])
        sy = float(np.float32(self.b.quant(made)[0]))
        self.wanted = lambda inputs: [np.clip(np.rint((inputs[0] * sx - inputs[1] * so) ** 2 / sy), -32768, 32767).astype(np.int16)]
        return made

    def product(self):
        """Of numbers about 1, over some axes."""
        shape, s = self.b.shape(self.any()), float(np.float32(10 ** self.r.uniform(-4.3, -3.8)))
        x = self.b.input(shape, s, 0)
        axes = [i for i in range(len(shape)) if self.pick(0, 1)] or [len(shape) - 1]
        self.r.shuffle(axes)
        keep = len(axes) == len(shape) or bool(self.pick(0, 1))
        out = [1 if i in axes else d for i, d in enumerate(shape)] if keep else [d for i, d in enumerate(shape) if i not in axes]
        y = self.new(out, float(10 ** self.r.uniform(-5, -3)))
        return self.b.op("REDUCE_PROD", [x, self.ints(axes)], [y], "ReducerOptions", keepDims=keep)

    def select(self):
        """By truth values of an input, or of a comparison."""
        x = self.any()
        shape, s = self.b.shape(x), self.b.quant(x)[0]
        two = self.pick(0, 1)
        kept = [e if self.pick(0, 1) or not two else 1 for e in shape]
        condition = self.b.tensor(kept, dtype=np.bool_)
        self.b.graph.inputs.append(condition)
        other = self.steps([1] if two else shape, s) if self.pick(0, 1) else self.b.input(shape, s, 0)
        operands = [x, other] if self.pick(0, 1) else [other, x]
        return self.b.op("SELECT_V2" if two else "SELECT", [condition, *operands], [self.like(x, shape)], "SelectV2Options" if two else "SelectOptions")

    def branch(self):
        """An input says which of two subgraphs gives the result, and which gives what it takes."""
        x = self.any()
        shape, quant = self.b.shape(x), self.b.quant(x)
        flag = self.b.tensor([1], dtype=np.bool_)
        self.b.graph.inputs.append(flag)
        main = self.b.graph
        for fn in ("MAXIMUM", None):
            self.b.graph = self.b.subgraph(b"branch")
            a = self.b.input(shape, quant[0], 0)
            self.b.output(self.b.op(fn, [a, self.steps(shape, quant[0])], [self.like(a, shape)], "MaximumMinimumOptions") if fn else a)
            self.b.others.append(self.b.graph)
        self.b.graph = main
        n = len(self.b.others)
        return self.b.op("IF", [flag, x], [self.like(x, shape)], "IfOptions", thenSubgraphIndex=n - 1, elseSubgraphIndex=n)

    def recurrent(self):
        return tflite_subgraphs.recurrent_of_int16(self)

    def real(self):
        """In float and back: what TFLite computes between DEQUANTIZE and QUANTIZE."""
        x = self.any()
        shape = self.b.shape(x)
        y = self.b.op("DEQUANTIZE", [x], [self.b.tensor(shape, dtype=np.float32)], "DequantizeOptions")
        return self.b.op("ADD", [y, self.b.constant(np.array([0.3], np.float32))], [self.b.tensor(shape, dtype=np.float32)], "AddOptions")


OPERATORS = ["conv", "depthwise", "linear", "transposed", "matmul", "residual", "pair", "powers", "pool", "clamp", "sigmoid", "softmax", "leaky", "quantize", "reduce",
             "function", "prelu", "compare", "equal", "negative", "floor", "product", "select", "int8_in_between", "pad", "concat", "slice", "split", "gather", "unpack",
             "transpose", "reshape", "resize"]
ALONE = OPERATORS + ["total", "quotient", "real", "real_square", "moves", "branch", "recurrent"]


def start(seed, shape=None):
    r = Int16(seed)
    if shape is None and r.pick(0, 4):
        shape = [r.pick(1, 3), r.pick(4, 9), r.pick(3, 8), r.choose([1, 2, 3, 5, 8, 11, 16])]
    elif shape is None:
        shape = [r.pick(2, 5), r.pick(3, 9), r.pick(2, 17)]
    r.live.append(r.b.input(shape, r.scale(), 0))
    return r


def alone(name, seed, shape=None):
    r = start(seed, shape)
    made = getattr(r, name)()
    if made is None:
        return None
    r.b.output(made)
    return r


def model(seed):
    r = start(seed)
    for _ in range(r.pick(2, 7)):
        getattr(r, r.choose(["conv", "residual", "depthwise", "linear"] + OPERATORS))()
        if int(np.prod(r.b.shape(r.live[-1]))) > kMostElements:
            break
    for t in sorted({r.live[-1]} | {t for t in r.live if r.pick(0, 5) == 0}):
        r.b.output(t)
    return r
