# SPDX-License-Identifier: Apache-2.0
"""Random networks in PyTorch, the same for the same seed: a grammar of the operators that people use, with odd and unequal extents.

A network is a list of steps over numbered values, so that a failing one can be cut down by machine: any value may become an input, any value an output."""
import copy
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

SAMPLES = 4
MOST_ELEMENTS = 6000
LARGEST, LEAST_SPREAD = 60.0, 0.02  # of a value: int8 has little to say about others


@dataclass
class Step:
    text: str
    function: object  # of the modules, then the operands
    modules: list
    operands: list
    results: list


@dataclass
class Plan:
    inputs: dict = field(default_factory=dict)  # value: whether it is channels-last
    steps: list = field(default_factory=list)
    outputs: list = field(default_factory=list)
    values: dict = field(default_factory=dict)  # value: its SAMPLES tensors

    def text(self):
        def of(v):
            return f"v{v}{list(self.values[v][0].shape)}"

        lines = [f"{of(v)} = input{' channels-last' if last else ''}" for v, last in self.inputs.items()]
        lines += [f"{', '.join(map(of, s.results))} = {s.text} of {', '.join(f'v{v}' for v in s.operands)}" for s in self.steps]
        return "\n".join(lines + ["outputs " + ", ".join(f"v{v}" for v in self.outputs)])


class Network(nn.Module):
    def __init__(self, plan):
        super().__init__()
        self.plan = plan
        self.parts = nn.ModuleList([nn.ModuleList(s.modules) for s in plan.steps])

    def forward(self, *inputs):
        live = dict(zip(self.plan.inputs, inputs))
        for step, modules in zip(self.plan.steps, self.parts):
            y = step.function(*modules, *[live[v] for v in step.operands])
            live.update(zip(step.results, y if isinstance(y, (tuple, list)) else [y]))
        y = [live[v] for v in self.plan.outputs]
        return tuple(y) if len(y) > 1 else y[0]


class Constant(nn.Module):
    def __init__(self, value):
        super().__init__()
        self.register_buffer("value", value)

    def forward(self):
        return self.value


def pruned(plan):
    """Without the steps that no output reads; every input stays, read or not."""
    needed, steps = set(plan.outputs), []
    for s in reversed(plan.steps):
        if needed & set(s.results):
            steps.insert(0, s)
            needed |= set(s.operands)
    return Plan(dict(plan.inputs), steps, list(plan.outputs), plan.values)


class Grammar:
    def __init__(self, seed):
        self.r = np.random.default_rng(seed)
        torch.manual_seed(seed)
        self.plan = Plan()

    # Choices.

    def pick(self, low, high):
        return int(self.r.integers(low, high + 1))

    def choose(self, items):
        return items[self.pick(0, len(items) - 1)]

    def chance(self, share):
        return self.r.random() < share

    def number(self, low, high):
        return round(float(self.r.uniform(low, high)), 3)

    def shape(self, v):
        return list(self.plan.values[v][0].shape)

    def any(self, *ranks, least=1):
        """A value of one of the ranks, the latest ones more often."""
        fit = [v for v in self.plan.values if (not ranks or len(self.shape(v)) in ranks) and self.plan.values[v][0].numel() >= least]
        return None if not fit else fit[-1] if self.chance(0.5) else self.choose(fit[-5:])

    def axes(self, rank):
        """One or more axes, perhaps counted from the end."""
        some = sorted(self.r.choice(rank, self.pick(1, rank), replace=False).tolist())
        return [a - rank if self.chance(0.3) else a for a in some]

    # Growing.

    def input(self, shape, channels_last=False):
        form = torch.channels_last if channels_last else torch.contiguous_format
        spread, middle = self.choose([1, 1, 3, 0.3]), self.choose([0, 0, 0, 1.5])
        v = len(self.plan.values)
        self.plan.values[v] = [(torch.randn(shape) * spread + middle).contiguous(memory_format=form) for _ in range(SAMPLES)]
        self.plan.inputs[v] = channels_last
        return v

    def add(self, text, function, operands, modules=()):
        """The results' numbers; None: the operator refuses these operands, or the numbers are of no use."""
        for m in modules:
            for name, p in m.named_parameters():
                nn.init.normal_(p, 0, 1 / max(1, p[0].numel()) ** 0.5 if p.dim() > 1 else 0.3)
            m.eval()
        try:
            with torch.no_grad():
                samples = [function(*modules, *[self.plan.values[v][k] for v in operands]) for k in range(SAMPLES)]
        except (RuntimeError, ValueError, IndexError, TypeError):
            return None
        samples = [list(s) if isinstance(s, (tuple, list)) else [s] for s in samples]
        for of_result in zip(*samples):
            every = torch.cat([t.flatten() for t in of_result])
            if of_result[0].numel() in range(1, MOST_ELEMENTS) and of_result[0].dtype == torch.float32 and of_result[0].dim() in range(1, 7):
                if torch.isfinite(every).all() and every.abs().max() < LARGEST and every.max() - every.min() > LEAST_SPREAD:
                    continue
            return None
        first = len(self.plan.values)
        results = list(range(first, first + len(samples[0])))
        for k, v in enumerate(results):
            self.plan.values[v] = [s[k] for s in samples]
        self.plan.steps.append(Step(text, function, list(modules), list(operands), results))
        return results

    def module(self, m, x):
        return self.add(repr(m), lambda m, x: m(x), [x], [m])

    def constant(self, shape):
        return Constant(torch.randn(shape) * self.choose([1, 0.5, 2]))

    # Operators: each appends one step or more, or says no by returning None.

    def groups_of(self, c):
        return self.choose([1, 1, 1, 1, c] + [g for g in (2, 3, 4) if c % g == 0])

    def window(self, most=4):
        return self.pick(1, most), self.pick(1, most)

    def channels(self):
        return self.choose([1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 12, 16, 17])

    def conv2d(self):
        x = self.any(4, 4, 3)
        if x is None:
            return None
        c = self.shape(x)[-3]
        g = self.groups_of(c)
        options = {"stride": self.choose([1, 1, 2, self.window(3)]), "dilation": self.choose([1, 1, 1, self.window(3)]), "groups": g, "bias": self.chance(0.6),
                   "padding": self.choose([0, 1, self.window(2), (0, 2), "same"])}
        if options["padding"] == "same":
            options["stride"] = 1
        elif self.chance(0.06):
            options["padding_mode"] = self.choose(["reflect", "replicate", "circular"])
        return self.module(nn.Conv2d(c, g * self.pick(1, 4) if g > 1 else self.channels(), self.choose([1, 3, 5, self.window(), self.window()]), **options), x)

    def conv1d(self):
        x = self.any(3)
        if x is None:
            return None
        c = self.shape(x)[1]
        g = self.groups_of(c)
        return self.module(nn.Conv1d(c, g * self.pick(1, 3) if g > 1 else self.channels(), self.pick(1, 5), self.pick(1, 3), self.pick(0, 2), self.pick(1, 2), g, self.chance(0.6)), x)

    def depthwise(self):
        x = self.any(4)
        if x is None:
            return None
        c = self.shape(x)[1]
        return self.module(nn.Conv2d(c, c * self.choose([1, 1, 2, 3]), self.window(5), self.choose([1, 2, self.window(2)]), self.choose([0, 1, 2]), groups=c, bias=self.chance(0.6)), x)

    def transposed(self):
        x = self.any(4, 3)
        if x is None:
            return None
        flat = len(self.shape(x)) == 3
        c = self.shape(x)[1]
        g = self.groups_of(c) if self.chance(0.5) else 1
        stride = self.choose([1, 2, 2, 3]) if flat or self.chance(0.6) else self.window(3)
        kind = nn.ConvTranspose1d if flat else nn.ConvTranspose2d
        return self.module(kind(c, g * self.pick(1, 5), self.pick(1, 4) if flat else self.choose([2, 3, self.window()]), stride, self.choose([0, 0, 1]), self.choose([0, 0, 1]), g,
                                self.chance(0.6), self.choose([1, 1, 1, 1, 2])), x)

    def linear(self):
        x = self.any()
        return self.module(nn.Linear(self.shape(x)[-1], self.channels(), self.chance(0.6)), x)

    def norm(self):
        x = self.any(4, 3, 2)
        if x is None:
            return None
        c = self.shape(x)[1]
        m = {4: nn.BatchNorm2d, 3: nn.BatchNorm1d, 2: nn.BatchNorm1d}[len(self.shape(x))](c)
        nn.init.normal_(m.running_mean, 0, 0.3), nn.init.uniform_(m.running_var, 0.5, 2)
        return self.module(m, x)

    def matmul(self):
        x = self.any(3, 3, 3, 2, 4)
        if x is None:
            return None
        shape = self.shape(x)
        k, n = shape[-1], self.choose([8, 16, 24, 5])
        form = self.pick(0, 8)
        if form == 0:
            return self.add("x @ x.mT", lambda x: x @ x.transpose(-1, -2), [x])
        if form == 1:
            return self.add("x.mT @ x", lambda x: x.transpose(-1, -2) @ x, [x])
        if form == 2:
            c = self.constant([*(shape[:-2] if self.chance(0.6) else []), k, n])
            return self.add(f"x @ constant{list(c.value.shape)}", lambda c, x: torch.matmul(x, c()), [x], [c])
        if form == 3:
            c = self.constant([*(shape[:-2] if self.chance(0.6) else []), n, shape[-2]])
            return self.add(f"constant{list(c.value.shape)} @ x", lambda c, x: torch.matmul(c(), x), [x], [c])
        if form == 4 and len(shape) == 3:
            y = self.input([shape[0], n, k])
            return self.add("bmm(x, y.mT)", lambda x, y: torch.bmm(x, y.permute(0, 2, 1)), [x, y])
        if form == 5 and len(shape) == 3:
            y = self.input([k, shape[0], n])
            return self.add("bmm(x, y.permute(1, 0, 2))", lambda x, y: torch.bmm(x, y.permute(1, 0, 2)), [x, y])
        if form == 6 and len(shape) == 3:
            y = self.input([shape[0], k, n])
            return self.add("bmm(x, y).mT", lambda x, y: torch.bmm(x, y).transpose(1, 2), [x, y])
        if form == 7 and len(shape) == 3:
            y = self.input([shape[0], shape[2], n])
            return self.add("bmm(x.mT, y.mT)", lambda x, y: torch.bmm(x.transpose(1, 2), y.transpose(1, 2)), [self.input([shape[0], k, 8]), self.input([shape[0], n, k])])
        c = self.constant([n, shape[-2]])
        return self.add("constant @ x", lambda c, x: torch.matmul(c(), x), [x], [c])

    def attention(self):
        x = self.any(3)
        if x is None:
            return None
        k = self.shape(x)[-1]
        return self.add("attention", lambda q, key, v, x: (q(x) @ key(x).transpose(1, 2) * 0.3).softmax(-1) @ v(x), [x], [nn.Linear(k, 8) for _ in range(3)])

    def partner(self, x):
        """A value that goes with x, perhaps broadcast, or None."""
        def goes(v):
            try:
                return max(torch.broadcast_shapes(self.shape(v), self.shape(x))) < 40
            except RuntimeError:
                return False

        fit = [v for v in self.plan.values if goes(v)]
        other = [v for v in fit if v != x]
        return self.choose(other) if other and self.chance(0.9) else x

    def broadcast_shape(self, shape):
        """That of a constant that goes with `shape`: axes of 1, axes left out in front."""
        s = [d if self.chance(0.6) else 1 for d in shape]
        return s[self.pick(0, len(s) - 1) if self.chance(0.4) else 0:]

    def binary(self):
        x = self.any()
        name = self.choose(["add", "add", "sub", "mul", "minimum", "maximum", "rsub"])
        f = {"rsub": lambda a, b: b - a}.get(name) or getattr(torch, name)
        form = self.pick(0, 5)
        if form <= 1:
            y = self.partner(x)
            return self.add(f"{name}(x, y)", f, [x, y] if self.chance(0.7) else [y, x])
        if form == 2:
            c = self.constant(self.broadcast_shape(self.shape(x)))
            return self.add(f"{name}(x, constant{list(c.value.shape)})", lambda c, x: f(x, c()), [x], [c])
        if form == 3:
            c = self.constant(self.broadcast_shape(self.shape(x)))
            return self.add(f"{name}(constant{list(c.value.shape)}, x)", lambda c, x: f(c(), x), [x], [c])
        if form == 4:
            y = self.input(self.broadcast_shape(self.shape(x)))
            return self.add(f"{name}(x, y)", f, [x, y] if self.chance(0.5) else [y, x])
        v = self.number(-3, 3)
        if name in ("minimum", "maximum"):
            return self.add(f"{name}(x, {v})", lambda x: f(x, torch.tensor(v)), [x])
        if name == "add" and self.chance(0.3):
            y = self.partner(x)
            return self.add(f"add(x, y, alpha={v})", lambda x, y: torch.add(x, y, alpha=v), [x, y])
        return self.add(f"{name}(x, {v})", lambda x: f(x, v), [x])

    def divide(self):
        x = self.any()
        v = self.choose([1, -1]) * self.number(0.3, 5)
        form = self.pick(0, 3)
        if form <= 1:
            return self.add(f"x / {v}", lambda x: x / v, [x])
        if form == 2:
            c = Constant(torch.rand(self.broadcast_shape(self.shape(x))) + 0.5)
            return self.add(f"x / constant{list(c.value.shape)}", lambda c, x: x / c(), [x], [c])
        return self.add(f"x / (y.abs() + 0.7)", lambda x, y: x / (y.abs() + 0.7), [x, self.partner(x)])

    def unary(self):
        x = self.any()
        low, high = sorted([self.number(-2, 2), self.number(-2, 2)])
        slope = self.number(-0.5, 1.5)
        fs = {"abs": torch.abs, "neg": torch.neg, "exp": lambda x: torch.exp(x.clamp(max=3.0)), "exp of itself": torch.exp, "log": lambda x: torch.log(x.abs() + 0.3), "rsqrt": lambda x: torch.rsqrt(x * x + 0.5),
              "sigmoid": torch.sigmoid, "tanh": torch.tanh, "relu": F.relu, "relu6": F.relu6, f"leaky_relu {slope}": lambda x: F.leaky_relu(x, slope),
              f"hardtanh {low} {high}": lambda x: F.hardtanh(x, low, high), "hardtanh": F.hardtanh, "hardtanh 0 1": lambda x: F.hardtanh(x, 0.0, 1.0),
              f"clamp min {low}": lambda x: x.clamp(min=low), f"clamp max {high}": lambda x: x.clamp(max=high),
              "hardswish": F.hardswish, "hardsigmoid": F.hardsigmoid}
        rare = {"gelu": F.gelu, "silu": F.silu, "x * sigmoid": lambda x: x * torch.sigmoid(x), "sqrt": lambda x: torch.sqrt(x.abs()), "square": torch.square, "elu": F.elu, "softplus": F.softplus, "mish": F.mish,
                "reciprocal": lambda x: 1.0 / (x.abs() + 0.5), "erf": torch.erf, "relu then neg": lambda x: -F.relu(x), "pow 3": lambda x: x**3, "rounding": lambda x: torch.floor(x * 4) / 4}
        fs = rare if self.chance(0.15) else fs
        name = self.choose(sorted(fs))
        return self.add(name, fs[name], [x])

    def prelu(self):
        x = self.any()
        s = self.shape(x)
        return self.module(nn.PReLU(s[1] if len(s) > 1 and self.chance(0.7) else 1), x)

    def softmax(self):
        x = self.any()
        d = self.pick(-len(self.shape(x)), len(self.shape(x)) - 1)
        f = F.log_softmax if self.chance(0.15) else F.softmax
        return self.add(f"{f.__name__} {d}", lambda x: f(x, d), [x])

    def pool(self):
        x = self.any(4, 4, 3)
        if x is None:
            return None
        flat = len(self.shape(x)) == 3 and self.chance(0.8)
        one = lambda a, b: self.pick(a, b) if flat or self.chance(0.4) else (self.pick(a, b), self.pick(a, b))
        kernel, stride, ceil = one(1, 4), one(1, 3), self.chance(0.25)
        padding = one(0, 1)
        if self.chance(0.5):
            kind = nn.MaxPool1d if flat else nn.MaxPool2d
            return self.module(kind(kernel, stride, padding, 1 if self.chance(0.85) else 2, ceil_mode=ceil), x)
        if flat:
            return self.module(nn.AvgPool1d(kernel, stride, padding, ceil, self.chance(0.6)), x)
        return self.module(nn.AvgPool2d(kernel, stride, padding, ceil, self.chance(0.6), self.pick(2, 9) if self.chance(0.1) else None), x)

    def adaptive_pool(self):
        x = self.any(4, 3)
        if x is None:
            return None
        h, w = self.shape(x)[-2:]
        if len(self.shape(x)) == 3:
            return self.module(nn.AdaptiveAvgPool1d(self.choose([1, w, self.pick(1, w)])), x)
        kind = nn.AdaptiveAvgPool2d if self.chance(0.8) else nn.AdaptiveMaxPool2d
        return self.module(kind((self.choose([1, 1, h, self.pick(1, h)]), self.choose([1, w, self.pick(1, w)]))), x)

    def reduction(self):
        x = self.any()
        axes, keep = self.axes(len(self.shape(x))), self.chance(0.5)
        name = self.choose(["mean", "mean", "sum", "amax", "amin"])
        if name == "mean" and self.chance(0.1):
            name = "var"
        return self.add(f"{name} over {axes} {'kept' if keep else ''}", lambda x: getattr(x, name)(axes, keepdim=keep), [x])

    def pad(self):
        x = self.any()
        rank = len(self.shape(x))
        few = self.pick(1, min(rank, 3))
        amounts = [self.pick(0, 2) for _ in range(2 * few)]
        if self.chance(0.15):
            amounts[self.pick(0, 2 * few - 1)] = -1
        if self.chance(0.15):
            mode = self.choose(["reflect", "replicate", "circular"])
            return self.add(f"pad {amounts} {mode}", lambda x: F.pad(x, amounts, mode), [x])
        v = self.choose([0.0, 0.0, self.number(-2, 2), 1.0])
        return self.add(f"pad {amounts} with {v}", lambda x: F.pad(x, amounts, value=v), [x])

    def cat(self):
        x = self.any()
        s = self.shape(x)
        d = self.pick(0, len(s) - 1)
        fit = [v for v in self.plan.values if len(self.shape(v)) == len(s) and all(a == b for k, (a, b) in enumerate(zip(s, self.shape(v))) if k != d)]
        many = [self.choose(fit) for _ in range(self.pick(1, 3))]
        where = self.pick(0, len(many))
        many.insert(where, x)
        d = d - len(s) if self.chance(0.3) else d
        if self.chance(0.15):
            t = list(s)
            t[d] = self.pick(1, 3)
            c = self.constant(t)
            return self.add(f"cat with constant{t} along {d}", lambda c, *xs: torch.cat([*xs, c()], d), many, [c])
        return self.add(f"cat along {d}", lambda *xs: torch.cat(xs, d), many)

    def stack(self):
        x = self.any()
        d = self.pick(0, len(self.shape(x)))
        fit = [v for v in self.plan.values if self.shape(v) == self.shape(x)]
        return self.add(f"stack along {d}", lambda *xs: torch.stack(xs, d), [x, self.choose(fit)])

    def slice(self):
        x = self.any(least=2)
        if x is None:
            return None
        s = self.shape(x)
        places = []
        for d in s:
            start = self.pick(0, d - 1) if self.chance(0.5) else None
            end = self.pick((start or 0) + 1, d) if self.chance(0.5) else None
            places.append(slice(start, end if end is None or self.chance(0.7) or end == d else end - d, self.choose([None, None, None, 2, 3])))
        if self.chance(0.2):
            places[self.pick(0, len(s) - 1)] = 0
        return self.add("slice " + " ".join(str(p).replace("None", "") for p in places), lambda x: x[tuple(places)], [x])

    def split(self):
        x = self.any(least=2)
        if x is None:
            return None
        s = self.shape(x)
        d = self.pick(0, len(s) - 1)
        if self.chance(0.5):
            n = self.pick(2, 3)
            return self.add(f"chunk {n} along {d}", lambda x: torch.chunk(x, n, d), [x])
        first = self.pick(1, max(1, s[d] - 1))
        return self.add(f"split {first} along {d}", lambda x: torch.split(x, [first, s[d] - first], d), [x])

    def permute(self):
        x = self.any(2, 3, 4, 5)
        if x is None:
            return None
        order = self.r.permutation(len(self.shape(x))).tolist()
        return self.add(f"permute {order}", lambda x: x.permute(order), [x])

    def view(self):
        x = self.any()
        s = self.shape(x)
        form = self.pick(0, 6)
        if form == 0:
            d = self.pick(0, len(s))
            return self.add(f"unsqueeze {d}", lambda x: x.unsqueeze(d), [x])
        if form == 1:
            ones = [k for k, d in enumerate(s) if d == 1]
            d = self.choose(ones) if ones else 0
            return self.add(f"squeeze {d}", lambda x: x.squeeze(d), [x])
        if form == 2 and len(s) > 1:
            a = self.pick(0, len(s) - 2)
            b = self.pick(a + 1, len(s) - 1)
            return self.add(f"flatten {a} {b}", lambda x: x.flatten(a, b), [x])
        if form == 3:
            d = self.pick(0, len(s) - 1)
            f = self.choose([k for k in range(1, s[d] + 1) if s[d] % k == 0])
            to = s[:d] + [f, s[d] // f] + s[d + 1:]
            return self.add(f"reshape {to}", lambda x: x.reshape(to), [x])
        if form == 4:
            to = [self.choose([k for k in range(1, s[0] * s[-1] + 1) if (s[0] * s[-1]) % k == 0])] + s[1:-1] + [-1]
            return self.add(f"reshape {to}", lambda x: x.reshape(to), [x])
        if form == 5:
            to = [self.pick(1, 3) if d == 1 and self.chance(0.6) else d for d in s]
            return self.add(f"expand {to}", lambda x: x.expand(to), [x])
        if len(s) == 4:
            f = self.choose([torch.channels_last, torch.contiguous_format])
            return self.add(f"clone {f}", lambda x: x.clone(memory_format=f), [x])
        return self.add("flatten", lambda x: x.flatten(), [x])

    def upsample(self):
        x = self.any(4)
        if x is None:
            return None
        h, w = self.shape(x)[2:]
        mode = self.choose(["nearest", "bilinear"])
        options = {"align_corners": self.chance(0.5)} if mode == "bilinear" else {}
        size = (h * self.choose([1, 2, 2, 4, 8]), w * self.choose([1, 2, 2, 3, 4])) if self.chance(0.85) else (self.pick(1, 9), self.pick(1, 9))
        return self.add(f"interpolate {size} {mode} {options}", lambda x: F.interpolate(x, size=size, mode=mode, **options), [x])

    def shuffle(self):
        x = self.any(4)
        if x is None:
            return None
        r = 2
        return self.module(self.choose([nn.PixelShuffle(r), nn.PixelUnshuffle(r), nn.ChannelShuffle(2), nn.ZeroPad2d((1, 0, 2, 1))]), x)

    def residual(self):
        x = self.any(4)
        if x is None:
            return None
        c = self.shape(x)[1]
        return self.add("residual", lambda a, b, x: F.relu(b(F.relu(a(x))) + x), [x], [nn.Conv2d(c, 8, 3, 1, 1), nn.Conv2d(8, c, 1)])

    def excite(self):
        x = self.any(4)
        if x is None:
            return None
        c = self.shape(x)[1]
        return self.add("squeeze and excite", lambda a, b, x: x * torch.sigmoid(b(F.relu(a(x.mean((2, 3), keepdim=True))))), [x], [nn.Conv2d(c, 4, 1), nn.Conv2d(4, c, 1)])


OPERATORS = (["conv2d"] * 5 + ["conv1d"] * 2 + ["depthwise"] * 2 + ["transposed"] * 2 + ["linear"] * 2 + ["norm", "attention", "prelu", "softmax", "stack", "shuffle", "residual", "excite", "divide", "pad"]
             + ["matmul"] * 3 + ["binary"] * 5 + ["unary"] * 5 + ["pool"] * 3 + ["adaptive_pool"] * 2 + ["reduction"] * 3 + ["cat"] * 2 + ["slice"] * 2 + ["split"] * 2 + ["permute"] * 3 + ["view"] * 3
             + ["upsample"] * 2)


def random_plan(seed):
    g = Grammar(seed)
    for _ in range(g.choose([1, 1, 1, 2, 3])):
        batch = g.choose([1, 1, 1, 2, 3])
        rank = g.choose([4, 4, 4, 4, 3, 3, 2, 5])
        shape = {4: [batch, g.channels(), g.pick(3, 13), g.pick(3, 12)], 3: [batch, g.choose([3, 5, 8, 16, 24]), g.choose([5, 8, 11, 16, 24])], 2: [batch, g.pick(2, 24)],
                 5: [batch, g.pick(2, 4), g.pick(2, 5), g.pick(2, 4), g.pick(2, 5)]}[rank]
        g.input(shape, rank == 4 and g.chance(0.3))
    for _ in range(g.choose([1, 2, 3, 5, 8, 12])):
        for _ in range(5):
            if getattr(g, g.choose(OPERATORS))():
                break
    plan = g.plan
    made = [v for s in plan.steps for v in s.results]
    if not made:
        return random_plan(seed + 1_000_000)
    plan.outputs = sorted({made[-1], *[v for v in made if g.chance(0.12)]})
    if g.chance(0.05):
        plan.outputs.append(g.choose(list(plan.inputs) + plan.outputs))
    kept = pruned(plan)
    read = {v for s in kept.steps for v in s.operands} | set(kept.outputs)
    kept.inputs = {v: last for v, last in kept.inputs.items() if v in read or g.chance(0.05)}
    return kept


def smaller(plan):
    """Plans with less in them, the smallest first."""
    if len(plan.outputs) > 1:
        for v in plan.outputs:
            yield pruned(Plan(plan.inputs, plan.steps, [v], plan.values))
    for s in plan.steps:
        for v in s.results:
            if [v] != plan.outputs:
                yield pruned(Plan(plan.inputs, plan.steps, [v], plan.values))
    for s in reversed(plan.steps):
        cut = {v: False for v in s.results}
        if not set(plan.outputs) & set(cut):
            rest = pruned(Plan({**plan.inputs, **cut}, [t for t in plan.steps if t is not s], plan.outputs, plan.values))
            yield rest
    read = {v for s in plan.steps for v in s.operands} | set(plan.outputs)
    if any(v not in read for v in plan.inputs):
        yield Plan({v: last for v, last in plan.inputs.items() if v in read}, plan.steps, plan.outputs, plan.values)
    for v, last in plan.inputs.items():
        if last:
            yield Plan({**plan.inputs, v: False}, plan.steps, plan.outputs, {**plan.values, v: [t.contiguous() for t in plan.values[v]]})


def network_of(plan):
    return Network(copy.copy(plan)).eval()
