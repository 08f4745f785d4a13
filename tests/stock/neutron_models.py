# SPDX-License-Identifier: Apache-2.0
"""Random int8 TFLite models through the Neutron converter and the machine model, against the stock TFLite interpreter with reference kernels.

    neutron_models.py NEUTRON_RUNNER [COUNT [FIRST_SEED]]

Bit for bit, in every mode of conversion. Where a table stands for a function that TFLite computes in another way (TABLES), and for SUM, whose reference
kernel cannot be used, results may be off by one step; every fourth model is one of these operators alone, so that nothing hides behind that.
So is FULLY_CONNECTED: TFLite rounds a product in double, the machine one with a factor of at most 31 bits; where both lie next to a tie they are a
step apart."""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from tflite_models import Builder, interpret, schema

# TFLite computes these with integer approximations or rounds ties otherwise: the table is float32, rounded to nearest even.
TABLES = ["LOGISTIC", "TANH", "HARD_SWISH", "EXP", "LOG", "RSQRT", "ABS", "LEAKY_RELU", "RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1", "QUANTIZE"]
kMostElements = 40000


class Random:
    def __init__(self, seed):
        self.r = np.random.default_rng(seed)
        self.b = Builder()
        self.live = []

    def pick(self, low, high):
        return int(self.r.integers(low, high + 1))

    def choose(self, items):
        return items[self.pick(0, len(items) - 1)]

    def scale(self):
        return float(np.float32(10 ** self.r.uniform(-2.5, 0)))

    def zero(self):
        return self.choose([0, self.pick(-128, 127), self.pick(-20, 20), -128])

    def new(self, shape, scale=None, zero=None):
        t = self.b.tensor(shape, self.scale() if scale is None else scale, self.zero() if zero is None else zero)
        self.live.append(t)
        return t

    def like(self, x, shape):
        s, z = self.b.quant(x)
        return self.new(shape, s, z)

    def ints(self, values):
        return self.b.constant(np.array(values, np.int32))

    def int8(self, shape, scale=None, zero=0, axis=0):
        return self.b.constant(self.r.integers(-127, 128, shape).astype(np.int8), self.scale() if scale is None else scale, zero, axis)

    def any(self, rank=None, small=True):
        fit = [t for t in self.live[-4:] if rank in (None, len(self.b.shape(t)))]
        return self.choose(fit) if fit else None

    def activation(self):
        return self.choose([0, 0, 0, 1, 3])

    # Operators: each appends one, or says no by returning None.

    def padded(self, x, value=None, channels=False):
        shape = self.b.shape(x)
        pads = [[0, 0], [self.pick(0, 2), self.pick(0, 2)], [self.pick(0, 2), self.pick(0, 2)], [0, 0]]
        if channels:
            pads[self.choose([0, 3])] = [self.pick(0, 1), self.pick(0, 2)]
        out = [d + p[0] + p[1] for d, p in zip(shape, pads)]
        s, z = self.b.quant(x)
        y = self.like(x, out)
        if value is None:
            return self.b.op("PAD", [x, self.ints(pads)], [y], "PadOptions")
        v = self.b.constant(np.array([value], np.int8), s, z)
        return self.b.op("PADV2", [x, self.ints(pads), v], [y], "PadV2Options")

    def window(self, h, w, most=4, dilate=True):
        k = [self.pick(1, min(most, h)), self.pick(1, min(most, w))]
        d = [self.pick(1, 2) if dilate else 1 for _ in k]
        d = [v if (n - 1) * v + 1 <= e else 1 for v, n, e in zip(d, k, [h, w])]
        s = [self.pick(1, 3), self.pick(1, 3)] if max(d) == 1 else [1, 1]
        same = self.pick(0, 1)
        if same:
            out = [-(-e // t) for e, t in zip([h, w], s)]
        else:
            out = [(e - (n - 1) * v - 1) // t + 1 for e, n, v, t in zip([h, w], k, d, s)]
        return k, d, s, 0 if same else 1, out

    def conv(self):
        x = self.any(4)
        if x is None:
            return None
        if self.pick(0, 2) == 0:
            x = self.padded(x, self.choose([None, self.b.quant(x)[1]]))
        n, h, w, c = self.b.shape(x)
        k, d, s, padding, out = self.window(h, w)
        oc = self.pick(1, 20)
        channels = self.pick(0, 3) > 0
        ws = 10 ** self.r.uniform(-2.5, -0.5, oc if channels else 1)
        weight = self.int8([oc] + k + [c], ws)
        sx = self.b.quant(x)[0]
        bias = self.b.constant(self.r.integers(-3000, 3000, [oc]).astype(np.int32), np.float32(sx) * np.float32(ws), 0)
        y = self.new([n] + out + [oc], float(sx * np.mean(ws) * 127 * np.sqrt(k[0] * k[1] * c)))
        return self.b.op("CONV_2D", [x, weight, bias], [y], "Conv2DOptions", padding=padding, strideH=s[0], strideW=s[1], dilationHFactor=d[0], dilationWFactor=d[1],
                         fusedActivationFunction=self.activation())

    def residual(self):
        x = self.conv()
        if x is None:
            return None
        shape = self.b.shape(x)
        same = [t for t in self.live if self.b.shape(t) == shape and t != x]
        other = self.choose(same) if same and self.pick(0, 1) else self.b.input(shape, self.scale(), self.zero())
        y = self.new(shape, float(max(self.b.quant(x)[0], self.b.quant(other)[0]) * 1.3))
        return self.b.op("ADD", [x, other] if self.pick(0, 1) else [other, x], [y], "AddOptions", fusedActivationFunction=self.activation())

    def depthwise(self):
        x = self.any(4)
        if x is None:
            return None
        if self.pick(0, 2) == 0:
            x = self.padded(x)
        n, h, w, c = self.b.shape(x)
        k, d, s, padding, out = self.window(h, w)
        s = [s[0], s[0]]
        if padding == 0:
            out = [-(-e // t) for e, t in zip([h, w], s)]
        else:
            out = [(e - (m - 1) * v - 1) // t + 1 for e, m, v, t in zip([h, w], k, d, s)]
        m = self.choose([1, 1, 2, 3])
        ws = 10 ** self.r.uniform(-2.5, -0.5, c * m)
        weight = self.int8([1] + k + [c * m], ws, axis=3)
        sx = self.b.quant(x)[0]
        bias = self.b.constant(self.r.integers(-3000, 3000, [c * m]).astype(np.int32), np.float32(sx) * np.float32(ws), 0)
        y = self.new([n] + out + [c * m], float(sx * np.mean(ws) * 127 * np.sqrt(k[0] * k[1])))
        return self.b.op("DEPTHWISE_CONV_2D", [x, weight, bias], [y], "DepthwiseConv2DOptions", padding=padding, strideH=s[0], strideW=s[1], depthMultiplier=m,
                         dilationHFactor=d[0], dilationWFactor=d[1], fusedActivationFunction=self.activation())

    def transposed(self):
        x = self.any(4)
        if x is None:
            return None
        n, h, w, c = self.b.shape(x)
        k = [self.pick(1, 4), self.pick(1, 4)]
        s = [self.pick(1, 2), self.pick(1, 2)]
        oc = self.pick(1, 10)
        same = self.pick(0, 1)
        out = [h * s[0], w * s[1]] if same else [(h - 1) * s[0] + k[0], (w - 1) * s[1] + k[1]]
        ws = 10 ** self.r.uniform(-2.5, -0.5, oc)
        sx = self.b.quant(x)[0]
        y = self.new([n] + out + [oc], float(sx * np.mean(ws) * 127 * np.sqrt(k[0] * k[1] * c)))
        bias = self.b.constant(self.r.integers(-3000, 3000, [oc]).astype(np.int32), np.float32(sx) * np.float32(ws), 0)
        ins = [self.ints([n] + out + [oc]), self.int8([oc] + k + [c], ws), x] + ([bias] if self.pick(0, 1) else [])
        return self.b.op("TRANSPOSE_CONV", ins, [y], "TransposeConvOptions", padding=0 if same else 1, strideH=s[0], strideW=s[1])

    def linear(self):
        x = self.any()
        shape = self.b.shape(x)
        if len(shape) < 2:
            return None
        o, i = self.pick(1, 30), shape[-1]
        per_channel = self.pick(0, 1)
        ws = 10 ** self.r.uniform(-2.5, -0.5, o if per_channel else 1)
        sx = self.b.quant(x)[0]
        y = self.new(shape[:-1] + [o], float(sx * np.mean(ws) * 127 * np.sqrt(i)))
        ins = [x, self.int8([o, i], ws)]
        if self.pick(0, 1):
            ins.append(self.b.constant(self.r.integers(-3000, 3000, [o]).astype(np.int32), np.float32(sx) * np.float32(ws), 0))
        return self.b.op("FULLY_CONNECTED", ins, [y], "FullyConnectedOptions", keepNumDims=True, fusedActivationFunction=self.activation())

    def matmul(self):
        x = self.any()
        shape = self.b.shape(x)
        if len(shape) not in (3, 4):
            return None
        ax, ay = bool(self.pick(0, 1)), bool(self.pick(0, 1))
        m, k = (shape[-1], shape[-2]) if ax else (shape[-2], shape[-1])
        n = self.pick(1, 12)
        other_shape = shape[:-2] + ([n, k] if ay else [k, n])
        if self.pick(0, 2) == 0:
            other_shape[0] = 1
        z = 0 if self.pick(0, 1) else self.pick(-20, 20)
        other = self.b.input(other_shape, self.scale(), z)
        sx, so = self.b.quant(x)[0], self.b.quant(other)[0]
        y = self.new(shape[:-2] + [m, n], float(sx * so * 70 * np.sqrt(k)))
        return self.b.op("BATCH_MATMUL", [x, other], [y], "BatchMatMulOptions", adjX=ax, adjY=ay)

    def pool(self):
        x = self.any(4)
        if x is None:
            return None
        average = self.pick(0, 1)
        if self.pick(0, 1):
            x = self.padded(x, None if average else -128)
        n, h, w, c = self.b.shape(x)
        k, _, s, padding, out = self.window(h, w, dilate=False)
        y = self.like(x, [n] + out + [c])
        return self.b.op("AVERAGE_POOL_2D" if average else "MAX_POOL_2D", [x], [y], "Pool2DOptions", padding=padding, strideH=s[0], strideW=s[1],
                         filterHeight=k[0], filterWidth=k[1], fusedActivationFunction=self.activation())

    def pair(self):
        x = self.any()
        shape = self.b.shape(x)
        if len(shape) > 4:
            return None
        fn = self.choose(["ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM"])
        extreme = fn in ("MAXIMUM", "MINIMUM")
        s, z = self.b.quant(x) if extreme else (self.scale(), self.zero())
        kind = self.pick(0, 3)
        same = [t for t in self.live if self.b.shape(t) == shape and (not extreme or self.b.quant(t) == (s, z))]
        if kind == 0 and same:
            other = self.choose(same)
        elif kind == 1:
            other = self.b.constant(self.r.integers(-128, 128, [1] if self.pick(0, 1) else shape[-1:]).astype(np.int8), s, z)
        else:
            o = [d if self.pick(0, 1) else 1 for d in shape]
            other = self.b.input(o if kind == 2 else shape, s, z)
        s2 = self.b.quant(other)[0]
        sx = self.b.quant(x)[0]
        y = self.like(x, shape) if extreme else self.new(shape, float(sx * s2 * 60 if fn == "MUL" else max(sx, s2) * 1.3))
        options = {"ADD": "AddOptions", "SUB": "SubOptions", "MUL": "MulOptions"}.get(fn, "MaximumMinimumOptions")
        fields = {} if extreme else {"fusedActivationFunction": self.activation()}
        return self.b.op(fn, [x, other] if self.pick(0, 1) else [other, x], [y], options, **fields)

    def reduce(self, fn=None):
        x = self.any()
        shape = self.b.shape(x)
        fn = fn or self.choose(["MEAN", "REDUCE_MAX", "REDUCE_MIN"])
        axes = [i for i in range(len(shape)) if self.pick(0, 1)] or [len(shape) - 1]
        keep = len(axes) == len(shape) or bool(self.pick(0, 1))
        out = [1 if i in axes else d for i, d in enumerate(shape)] if keep else [d for i, d in enumerate(shape) if i not in axes]
        s, _ = self.b.quant(x)
        n = int(np.prod([shape[a] for a in axes]))
        y = self.like(x, out) if fn.startswith("REDUCE") else self.new(out, None if fn == "MEAN" else float(s * n))
        return self.b.op(fn, [x, self.ints(axes)], [y], "ReducerOptions", keepDims=keep)

    def prelu(self):
        x = self.any(4)
        if x is None:
            return None
        s = self.b.shape(x)
        zero = self.pick(-3, 3)
        slope = self.b.input([s[3]], 0.01, zero) if self.pick(0, 3) == 0 else self.int8([1, 1, s[3]], 0.01, zero)
        return self.b.op("PRELU", [x, slope], [self.new(s, self.b.quant(x)[0] * 1.1)])

    def softmax(self):
        x = self.any()
        return self.b.op("SOFTMAX", [x], [self.new(self.b.shape(x), 1 / 256, -128)], "SoftmaxOptions", beta=self.choose([1.0, 0.5, 0.37]))

    def clamp(self):
        x = self.any()
        name = self.choose(["RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1"])
        return self.b.op(name, [x], [self.like(x, self.b.shape(x))])

    def pad(self):
        x = self.any(4)
        if x is None:
            return None
        if self.pick(0, 2):
            return self.padded(x, self.choose([None, -7]), channels=True)
        shape = self.b.shape(x)
        mode = self.pick(0, 1)
        pads = [[0, 0]] + [[self.pick(0, min(2, d - 1)), self.pick(0, min(2, d - 1))] for d in shape[1:]]
        y = self.like(x, [d + p[0] + p[1] for d, p in zip(shape, pads)])
        return self.b.op("MIRROR_PAD", [x, self.ints(pads)], [y], "MirrorPadOptions", mode=mode)

    def concat(self):
        x = self.any()
        shape = self.b.shape(x)
        if len(shape) > 5:
            return None
        q = self.b.quant(x)
        axis = self.pick(0, len(shape) - 1)
        parts = [t for t in self.live if self.b.quant(t) == q and len(self.b.shape(t)) == len(shape)
                 and all(a == b or i == axis for i, (a, b) in enumerate(zip(self.b.shape(t), shape)))]
        while len(parts) < 2 or self.pick(0, 3) == 0:
            other = list(shape)
            other[axis] = self.pick(1, 4)
            parts.append(self.b.input(other, *q) if self.pick(0, 1) else self.int8(other, *q))
        parts = [self.choose(parts) for _ in range(self.pick(2, 4))]
        out = list(shape)
        out[axis] = sum(self.b.shape(p)[axis] for p in parts)
        return self.b.op("CONCATENATION", parts, [self.like(x, out)], "ConcatenationOptions", axis=axis)

    def branches(self):
        """Convolutions and pools of one tensor, concatenated: what can be made in place."""
        x = self.any(4)
        if x is None:
            return None
        n, h, w, c = self.b.shape(x)
        s, z = self.b.quant(x)
        parts = []
        for _ in range(self.pick(2, 3)):
            if self.pick(0, 1):
                parts.append(self.b.op("MAX_POOL_2D", [x], [self.like(x, [n, h, w, c])], "Pool2DOptions", padding=0, strideH=1, strideW=1, filterHeight=3, filterWidth=2))
            else:
                oc = self.pick(1, 12)
                weight = self.int8([oc, 1, 1, c], 0.02)
                bias = self.b.constant(np.zeros([oc], np.int32), s * np.float32(0.02), 0)
                parts.append(self.b.op("CONV_2D", [x, weight, bias], [self.like(x, [n, h, w, oc])], "Conv2DOptions", padding=1, strideH=1, strideW=1,
                                       dilationHFactor=1, dilationWFactor=1))
        axis = 3 if n > 1 or self.pick(0, 2) else 0
        if axis == 0 and len({self.b.shape(p)[3] for p in parts}) > 1:
            axis = 3
        out = [n, h, w, c]
        out[axis] = sum(self.b.shape(p)[axis] for p in parts)
        if axis == 0:
            out[3] = self.b.shape(parts[0])[3]
        return self.b.op("CONCATENATION", parts, [self.like(x, out)], "ConcatenationOptions", axis=axis)

    def slice(self):
        x = self.any()
        shape = self.b.shape(x)
        if len(shape) > 5:
            return None
        axis = self.pick(0, len(shape) - 1)
        begin = [self.pick(0, d - 1) if i == axis or self.pick(0, 4) == 0 else 0 for i, d in enumerate(shape)]
        size = [self.pick(1, d - b) if b or i == axis else d for i, (d, b) in enumerate(zip(shape, begin))]
        if self.pick(0, 1) or len(shape) > 4:
            return self.b.op("SLICE", [x, self.ints(begin), self.ints(size)], [self.like(x, size)], "SliceOptions")
        step = [self.pick(1, 2) for _ in shape]
        end = [b + n for b, n in zip(begin, size)]
        out = [-(-n // t) for n, t in zip(size, step)]
        return self.b.op("STRIDED_SLICE", [x, self.ints(begin), self.ints(end), self.ints(step)], [self.like(x, out)], "StridedSliceOptions", beginMask=0,
                         endMask=0, ellipsisMask=0, newAxisMask=0, shrinkAxisMask=0)

    def transpose(self):
        x = self.any()
        shape = self.b.shape(x)
        perm = [int(v) for v in self.r.permutation(len(shape))]
        return self.b.op("TRANSPOSE", [x, self.ints(perm)], [self.like(x, [shape[p] for p in perm])], "TransposeOptions")

    def reshape(self):
        x = self.any()
        shape = self.b.shape(x)
        n = int(np.prod(shape))
        kind = self.pick(0, 3)
        out = [shape[0], n // shape[0]] if kind == 0 else [1] + shape if kind == 1 and len(shape) < 5 else shape[:-2] + [shape[-1], shape[-2]] if kind == 2 and len(shape) > 1 else [1, 1, shape[0], n // shape[0]]
        return self.b.op("RESHAPE", [x, self.ints(out)], [self.like(x, out)], "ReshapeOptions", newShape=out)

    def resize(self):
        x = self.any(4)
        if x is None:
            return None
        n, h, w, c = self.b.shape(x)
        out = [h * self.pick(1, 3), w * self.pick(1, 3)] if self.pick(0, 1) else [self.pick(1, 9), self.pick(1, 9)]
        bilinear = self.pick(0, 1)
        mode = self.pick(0, 2)
        name = "BILINEAR" if bilinear else "NEAREST_NEIGHBOR"
        return self.b.op("RESIZE_" + name, [x, self.ints(out)], [self.like(x, [n] + out + [c])], "Resize%sOptions" % ("Bilinear" if bilinear else "NearestNeighbor"),
                         alignCorners=mode == 1, halfPixelCenters=mode == 2)

    def table(self):
        x = self.any()
        name = self.choose(TABLES)
        shape = self.b.shape(x)
        if name in ("LOG", "RSQRT"):  # of positive numbers
            x = self.b.input(shape, self.scale(), -128)
        s, z = {"LOGISTIC": (1 / 256, -128), "TANH": (1 / 128, 0)}.get(name, (self.scale(), self.zero()))
        options = {"HARD_SWISH": "HardSwishOptions", "ABS": "AbsOptions", "EXP": "ExpOptions", "LEAKY_RELU": "LeakyReluOptions", "QUANTIZE": "QuantizeOptions"}
        fields = {"alpha": 0.1} if name == "LEAKY_RELU" else {}
        return self.b.op(name, [x], [self.new(shape, s, z)], options.get(name), **fields)


EXACT = ["conv", "conv", "residual", "depthwise", "transposed", "matmul", "pool", "pair", "reduce", "prelu", "softmax", "clamp", "pad", "concat", "branches", "slice",
         "transpose", "reshape", "resize"]


def model(seed):
    r = Random(seed)
    for _ in range(r.pick(1, 2)):
        shape = [r.pick(1, 3), r.pick(4, 9), r.pick(3, 8), r.choose([1, 2, 3, 5, 8, 11, 16])] if r.pick(0, 4) else [r.pick(2, 5), r.pick(3, 9), r.pick(2, 17)]
        r.live.append(r.b.input(shape, r.scale(), r.zero()))
    for _ in range(r.pick(1, 6)):
        before = len(r.live)
        getattr(r, r.choose(EXACT))()
        while len(r.live) > before and int(np.prod(r.b.shape(r.live[-1]))) > kMostElements:
            break
    outs = {r.live[-1]}
    for t in r.live:
        if r.pick(0, 5) == 0:
            outs.add(t)
    for t in sorted(outs):
        r.b.output(t)
    return r


def near(seed):
    """One operator for which TFLite may be a step off."""
    r = Random(seed)
    r.live.append(r.b.input([r.pick(1, 3), r.pick(2, 9), r.pick(2, 8), r.pick(1, 16)], r.scale(), r.zero()))
    kind = r.pick(0, 7)
    r.b.output(r.reduce("SUM") if kind == 0 else r.linear() if kind < 4 else r.table())
    return r


def write(folder, name, r):
    data = r.b.bytes()
    (folder / (name + ".tflite")).write_bytes(data)
    inputs = []
    for i, t in enumerate(r.b.graph.inputs):
        x = r.r.integers(-127, 128, r.b.shape(t)).astype(np.int8)
        (folder / ("%s.in%d" % (name, i))).write_bytes(x.tobytes())
        inputs.append(x)
    return data, inputs


def main(runner, count, first):
    failures = compared = 0
    with tempfile.TemporaryDirectory() as d:
        folder = Path(d)
        wanted = {}
        seed = first
        while len(wanted) < count:
            exact = seed % 4 != 0
            name = "%s%06d" % ("m" if exact else "near", seed)
            r = model(seed) if exact else near(seed)
            seed += 1
            data, inputs = write(folder, name, r)
            try:
                wanted[name] = interpret(data, inputs, schema.BuiltinOperator.SUM not in r.b.codes)
            except (RuntimeError, ValueError) as e:  # what the interpreter refuses is no reference
                (folder / (name + ".tflite")).unlink()
                if "-v" in sys.argv:
                    print(name, "refused by the interpreter:", str(e).splitlines()[0][:150])
        done = subprocess.run([runner, str(folder)], capture_output=True, text=True)
        kernels = {tuple(line.split()[:2]): line for line in done.stdout.splitlines()}
        if done.returncode != 0:
            print("the runner failed: %d %s" % (done.returncode, done.stderr[:500]))
            failures += 1
            print("\n".join(line for line in done.stdout.splitlines() if "error" in line or "failed" in line)[:3000])
        for name, outputs in wanted.items():
            for mode in ["plain", "unfused", "fetch", "profile"]:
                for i, y in enumerate(outputs):
                    path = folder / ("%s.%s.out%d" % (name, mode, i))
                    if not path.exists():
                        print(name, mode, "no output", i)
                        failures += 1
                        continue
                    ours = np.frombuffer(path.read_bytes(), np.int8)
                    compared += 1
                    off = np.abs(ours.astype(int) - y.ravel().astype(int)) if ours.size == y.size else None
                    if off is None or off.max() > (1 if name.startswith("near") else 0):
                        failures += 1
                        print(name, mode, "output", i, y.shape, "sizes differ" if off is None else "%d of %d differ, at most %d" % ((off > 0).sum(), off.size, off.max()),
                              kernels.get((name, mode), "")[:200])
    print("%d models, %d outputs compared, %d failures" % (len(wanted), compared, failures))
    return 1 if failures else 0


if __name__ == "__main__":
    plain = [a for a in sys.argv[1:] if not a.startswith("-")]
    sys.exit(main(plain[0], int(plain[1]) if len(plain) > 1 else 300, int(plain[2]) if len(plain) > 2 else 1))
