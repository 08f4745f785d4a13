# SPDX-License-Identifier: Apache-2.0
"""Generated cases for neutron_constraints.py: an operator with random extents, windows, axes and parameters of quantization."""
import random

import torch
import torch.nn.functional as F

STEPS, OTHER, ZERO, PROBABILITY = (0.05, 3), (0.07, -11), (0.05, 0), (1 / 256, -128)

# Who takes it, why the other does not, and when: words that the case's name has.
DIFFERENT = [
    ("ours", "a copy brings the result's parameters", ("avg_pool2d", "adaptive_avg_pool2d", "mean", "sum", "amax", "amin", "permute", "pad constant", "maximum", "minimum", "cat"), "other"),
    ("ours", "an operand is copied to the result's parameters", ("maximum", "minimum", "cat"), "mixed"),
    ("ours", "ceil_mode changes nothing here", ("avg_pool2d", "max_pool2d"), "ceil without effect"),
    ("ours", "of one element no step is taken", ("slice",), "never taken"),
    ("ours", "x - y is written as SUB", ("add",), "alpha -1"),
    ("ours", "windows of different extents are a product with a constant matrix", ("adaptive_avg_pool2d",), "uneven"),
    ("ours", "zero points become columns of numbers", ("bmm",), "zero points"),
    ("ours", "ExecuTorch takes one input channel for a depthwise convolution", ("conv_transpose2d",), "of 1 channel"),
]


def explained(case):
    return [who for who, _, kinds, word in DIFFERENT if case.kind in kinds and word in case.what]


class Generator:
    def __init__(self, case, seed):
        self.case, self.r = case, random.Random(seed)

    def shape(self, least, most, extent=7):
        return tuple(self.r.randint(1, extent) for _ in range(self.r.randint(least, most)))

    def named(self, kind, what, f, *shapes, **options):
        other = self.r.random() < 0.2 and options.get("result") is None
        if other:
            options["result"] = OTHER
        return self.case(kind, f"{what}, {shapes}{', other' if other else ''}", f, *shapes, **options)

    def pair(self):
        kind = self.r.choice(["add", "sub", "mul", "maximum", "minimum"])
        whole = self.shape(1, 7, 4)
        part = [n if self.r.random() < 0.5 else 1 for n in whole][self.r.randint(0, len(whole) - 1):]
        shapes, options, what = [whole, tuple(part)], {}, "a pair"
        if self.r.random() < 0.2:  # each is repeated somewhere
            shapes[0] = tuple(n if self.r.random() < 0.7 else 1 for n in whole)
        if self.r.random() < 0.5:
            shapes.reverse()
        if self.r.random() < 0.3:
            options["given"], what = (STEPS, OTHER), "mixed"
        alpha = self.r.choice([1, 1, 1, 2, -1]) if kind in ("add", "sub") else 1
        f = getattr(torch, kind)
        if alpha != 1:
            return self.named(kind, f"{what}, alpha {alpha}", lambda x, y: f(x, y, alpha=alpha), *shapes, **options)
        return self.named(kind, what, f, *shapes, **options)

    def pool(self):
        kind = self.r.choice(["avg_pool2d", "max_pool2d"])
        k, s = [self.r.randint(1, 4) for _ in range(2)], [self.r.randint(1, 3) for _ in range(2)]
        pad = [self.r.choice([0, 0, n // 2]) for n in k]
        shape = (self.r.randint(1, 2), self.r.randint(1, 9), self.r.randint(6, 12), self.r.randint(6, 12))
        ceil = self.r.random() < 0.3
        # A window that would begin behind the image and its padding is left out.
        reaches = [(n + 2 * p - w) % t and ((n + 2 * p - w) // t + 1) * t < n + p for n, p, w, t in zip(shape[2:], pad, k, s)]
        words = f"window {k}, stride {s}, pad {pad}" + (", ceil" + ("" if any(reaches) else " without effect") if ceil else "")
        if kind == "max_pool2d":
            return self.named(kind, words, lambda x: F.max_pool2d(x, k, s, pad, ceil_mode=ceil), shape)
        counted = self.r.random() < 0.7
        return self.named(kind, words + f", counted {counted}", lambda x: F.avg_pool2d(x, k, s, pad, ceil, counted), shape)

    def adaptive(self):
        size = (self.r.randint(1, 4), self.r.randint(1, 4))
        shape = (1, self.r.randint(1, 9), self.r.randint(4, 12), self.r.randint(4, 12))
        uneven = any(n % m for n, m in zip(shape[2:], size))
        return self.named("adaptive_avg_pool2d", f"{'uneven' if uneven else 'even'} {size}", lambda x: F.adaptive_avg_pool2d(x, size), shape)

    def reduction(self):
        kind, shape = self.r.choice(["mean", "sum", "amax", "amin"]), self.shape(2, 6, 4)
        axes, keep = sorted(self.r.sample(range(len(shape)), self.r.randint(1, len(shape)))), self.r.random() < 0.5
        return self.named(kind, f"axes {axes} kept {keep}", lambda x: getattr(x, kind)(axes, keepdim=keep), shape)

    def product(self):
        n, a, b, c = (self.r.randint(1, 40) for _ in range(4))
        if self.r.random() < 0.5:
            given = [self.r.choice([ZERO, ZERO, STEPS]) for _ in range(2)]
            return self.case("bmm", f"{'zero points' if STEPS in given else 'symmetric'} {n} {a} {b} {c}", torch.bmm, (n, a, b), (n, b, c), given=given)
        return self.named("linear", "", F.linear, (*self.shape(1, 3), b), weights=[((c, b), "w8t"), ((c,), "b32")][:self.r.randint(1, 2)])

    def convolution(self):
        groups = self.r.choice([1, 1, 1, 2, 3])
        ic, oc = groups * self.r.randint(1, 9), groups * self.r.randint(1, 9)
        k, s, d = ([self.r.randint(1, n) for _ in range(2)] for n in (4, 3, 2))
        pad = [self.r.randint(0, n) for n in k]
        shape = (self.r.randint(1, 2), ic, self.r.randint(8, 12), self.r.randint(8, 12))
        return self.named("conv2d", f"{oc} {k} stride {s} dilation {d} pad {pad} groups {groups}", lambda x, *p: F.conv2d(x, *p, stride=s, dilation=d, padding=pad, groups=groups),
                          shape, weights=[((oc, ic // groups, *k), "w8c0"), ((oc,), "b32")][:self.r.randint(1, 2)])

    def transposed(self):
        ic, oc = self.r.randint(1, 9), self.r.randint(1, 9)
        k, s = [self.r.randint(1, 4) for _ in range(2)], [self.r.choice([1, 2, 2, 3]) for _ in range(2)]
        pad = [self.r.randint(0, n) for n in k]
        return self.named("conv_transpose2d", f"of {ic} channel{'s' if ic > 1 else ''} to {oc} {k} stride {s} pad {pad}", lambda x, *p: F.conv_transpose2d(x, *p, stride=s, padding=pad),
                          (1, ic, self.r.randint(5, 9), self.r.randint(5, 9)), weights=[((ic, oc, *k), "w8c1"), ((oc,), "b32")][:self.r.randint(1, 2)])

    def move(self):
        kind, shape = self.r.choice(["permute", "slice", "cat", "pad constant", "reshape"]), self.shape(2, 6, 4)
        axis = self.r.randrange(len(shape))
        if kind == "permute":
            axes = self.r.sample(range(len(shape)), len(shape))
            return self.named(kind, f"{axes}", lambda x: x.permute(axes), shape)
        if kind == "slice":
            first = self.r.randrange(shape[axis])
            last, step = self.r.randint(first + 1, shape[axis]), self.r.choice([1, 1, 1, 2])
            unused = " never taken" if last - first <= step > 1 else ""
            return self.case(kind, f"axis {axis} {first}..{last} step {step}{unused} of {shape}", lambda x: aten_slice(x, axis, first, last, step), shape)
        if kind == "cat":
            parts = [tuple(self.r.randint(1, 4) if k == axis else n for k, n in enumerate(shape)) for _ in range(self.r.randint(2, 4))]
            mixed = self.r.random() < 0.3
            return self.named(kind, f"axis {axis}{', mixed' if mixed else ''}", lambda *x: torch.cat(x, axis), *parts, given=(STEPS, OTHER)[:1 + mixed])
        if kind == "pad constant":
            some = [self.r.randint(0, 2) for _ in range(2 * self.r.randint(1, len(shape)))]
            return self.named(kind, f"{some}", lambda x: torch.ops.aten.constant_pad_nd.default(x, some), shape)
        count = 1
        for n in shape:
            count *= n
        return self.case(kind, f"{shape}", lambda x: x.reshape(1, count), shape)

    def function(self):
        kind = self.r.choice(["relu", "sigmoid", "tanh", "clamp", "softmax", "leaky_relu"])
        shape = self.shape(1, 5)
        if kind == "clamp":
            low, high = sorted(self.r.sample([-2, -1, 0, 1, 3, 6], 2))
            return self.named(kind, f"{low}..{high}", lambda x: x.clamp(low, high), shape)
        if kind == "softmax":
            axis = self.r.randrange(len(shape))
            return self.case(kind, f"axis {axis} of {shape}", lambda x: x.softmax(axis), shape, result=PROBABILITY)
        return self.case(kind, f"{shape}", getattr(F, kind, None) or getattr(torch, kind), shape)


def aten_slice(x, axis, first, last, step):
    return torch.ops.aten.slice.Tensor(x, axis, first, last, step)


def generated(case, count, seed):
    g = Generator(case, seed)
    kinds = [g.pair, g.pool, g.adaptive, g.reduction, g.product, g.convolution, g.transposed, g.move, g.function]
    return [kinds[k % len(kinds)]() for k in range(count)]
