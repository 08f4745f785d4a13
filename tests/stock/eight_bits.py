# SPDX-License-Identifier: Apache-2.0
"""What eight bits cost a random network (random_networks.py), whoever computes: the bound that programs are held to.

Every number that an operator of PyTorch makes is rounded to int8 over the range that it has in the float model, and so are weights. What an int8 operator gives
depends on its kind:

- a move gives its operand's numbers, and nothing is rounded;
- bounds, padding and pools round to the steps of their operand;
- what joins or compares tensors brings them to the coarsest of their steps first;
- everything else has steps of its own. Where it is made of several int8 operators, each of these rounds too (`inside` counts them in what the compiler makes of it),
  to steps no coarser than the result's.

Rounding to nearest is off by half a step at most. An int8 kernel is off by one: it rounds a product of its sum and a multiplier of 31 bits, or looks the result up
in a table of rounded numbers. So no error of a program is more than twice the one here: 6.02 dB."""
import math
import pathlib
import re
import subprocess
import tempfile

import numpy as np
import torch
import torch.nn.functional as F
from random_networks import SAMPLES
from torch.utils._python_dispatch import TorchDispatchMode

MARGIN_DB = 20 * math.log10(2)
# Draws of the errors inside operators, and of ranges, which the compiler may choose up to a tenth wider: with few numbers it is luck how near each lies to a step.
# The worst counts.
WIDER = (1.0, 1.02, 1.04, 1.06, 1.08, 1.1)
MOVES = {"view", "_unsafe_view", "reshape", "permute", "t", "transpose", "slice", "select", "expand", "clone", "unsqueeze", "squeeze", "alias", "detach", "split",
         "split_with_sizes", "chunk", "unbind", "as_strided", "index", "relu", "amax", "amin", "max_pool2d_with_indices", "upsample_nearest1d", "upsample_nearest2d",
         "reflection_pad1d", "reflection_pad2d", "replication_pad1d", "replication_pad2d", "flip", "roll", "repeat", "_to_copy"}
OPERANDS_STEPS = {"clamp", "clamp_min", "clamp_max", "hardtanh", "constant_pad_nd", "avg_pool1d", "avg_pool2d", "_adaptive_avg_pool2d"}
SHARED_STEPS = {"cat", "stack", "maximum", "minimum"}
FIXED = {"sigmoid": (1 / 256, -128), "_softmax": (1 / 256, -128), "tanh": (1 / 128, 0)}  # the steps of TFLite's builtins, whatever the numbers
# What may be made of several int8 operators, by the name of what torch computes.
COMPOSED = {"native_layer_norm": lambda x, y: F.layer_norm(x, x.shape[-1:]), "native_group_norm": lambda x, y: F.group_norm(x, 2), "gelu": lambda x, y: F.gelu(x),
            "_log_softmax": lambda x, y: F.log_softmax(x, -1), "silu": lambda x, y: F.silu(x), "mish": lambda x, y: F.mish(x), "elu": lambda x, y: F.elu(x),
            "celu": lambda x, y: F.celu(x), "selu": lambda x, y: F.selu(x), "softplus": lambda x, y: F.softplus(x), "hardsigmoid": lambda x, y: F.hardsigmoid(x),
            "div": lambda x, y: x / y, "var": lambda x, y: x.var((2, 3))}
PRODUCTS = {"convolution": (1,), "addmm": (1, 2), "mm": (0, 1), "bmm": (0, 1)}  # which operands may be weights


def rounded_values(text):
    """How many values of a quantized graph in the text form have other steps than what they are made of."""
    scales, count = {}, 0
    for name, op, operands, scale in re.findall(r"(?m)^(?:\| )?(\S+) = (\w+)\(([^)]*)\).*: s8\[[^\]]*\] q\(scale=(\S+) ", text):
        if op not in ("delegate", "quantize"):  # the whole of what is counted by itself; the operands, which are rounded in any case
            count += scale not in (scales.get(o) for o in operands.split(", "))
        scales[name] = scale
    return count


def inside(deuteron):
    """Of each operator of COMPOSED: how many int8 values between its operands and its result are rounded, on the target where these are most."""
    found, inputs = {}, (torch.linspace(-2, 3, 240).reshape(2, 4, 5, 6), torch.linspace(1, 3, 240).reshape(2, 4, 5, 6))
    with tempfile.TemporaryDirectory() as folder:
        where = pathlib.Path(folder)
        for k, x in enumerate(inputs):
            np.save(where / f"x{k}.npy", x[None].numpy())
        for name, function in COMPOSED.items():
            module = torch.nn.Module()
            module.forward = function
            torch.export.save(torch.export.export(module, inputs), where / "m.pt2")
            for target in ("imxrt700cm", "cortex-m33"):
                command = [deuteron, "analyze", where / "m.pt2", "--target", target, "--calibrate", where / "x0.npy", "--calibrate", where / "x1.npy",
                           "--stop-after=partition"]
                text = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
                found[name] = max(found.get(name, 0), rounded_values(text) - 1)
    return found


def steps(low, high, wider=1.0):
    """(scale, zero point) of a range, with 0 in it."""
    low, high = min(0.0, low) * wider, max(0.0, high) * wider
    scale = max(high - low, 1e-6) / 255
    return scale, round(-128 - low / scale)


def rounded(t, grid):
    scale, zero = grid
    return ((t / scale).round() + zero).clamp(-128, 127).sub(zero) * scale


def is_number(t):
    return isinstance(t, torch.Tensor) and t.is_floating_point() and t.numel() > 0


def is_global_pool(name, args):
    """As PyTorch computes it, and as the CPU has it: the NPU's mean has steps of its own."""
    return name == "mean" and len(args) > 1 and args[0].dim() >= 3 and sorted(d % args[0].dim() for d in args[1]) == [args[0].dim() - 2, args[0].dim() - 1]


def results_of(y):
    return list(y) if isinstance(y, (tuple, list)) else [y]


class Ranges(TorchDispatchMode):
    """Of every result of a model, over all of its runs."""

    def __init__(self):
        super().__init__()
        self.ranges, self.at = [], 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        y = function(*args, **(kwargs or {}))
        for t in filter(is_number, results_of(y)):
            low, high = float(t.min()), float(t.max())
            if self.at < len(self.ranges):
                low, high = min(low, self.ranges[self.at][0]), max(high, self.ranges[self.at][1])
                self.ranges[self.at] = low, high
            else:
                self.ranges.append((low, high))
            self.at += 1
        return y


class Rounds(TorchDispatchMode):
    """A run in which every result is rounded."""

    def __init__(self, ranges, noise, wider, inside):
        super().__init__()
        self.ranges, self.noise, self.wider, self.inside, self.at, self.grids, self.alive = ranges, noise, wider, inside, 0, {}, []

    def give(self, t, grid):
        self.alive.append(t)  # as long as its id says something
        self.grids[id(t)] = grid
        return t

    def grid(self, t):
        return self.grids.get(id(t)) if isinstance(t, torch.Tensor) else None

    def weights(self, name, args):
        """A constant operand of a product in 127 steps: of a convolution for each channel."""
        args = list(args)
        for k in PRODUCTS[name]:
            if is_number(args[k]) and self.grid(args[k]) is None:
                largest = args[k].abs().amax(tuple(range(1, args[k].dim())), keepdim=True) if name == "convolution" else args[k].abs().max()
                scale = largest.clamp(min=1e-9) / 127
                args[k] = (args[k] / scale).round() * scale
        return args

    def result(self, t, name, args, known, own):
        if name in MOVES:
            return self.give(t, known[0])
        if name in OPERANDS_STEPS or is_global_pool(name, args):
            return self.give(rounded(t, known[0]), known[0])
        if name in SHARED_STEPS:
            return self.give(t, max(known))
        grid = FIXED[name] if name in FIXED else steps(*own, self.wider)
        t = rounded(t, grid)
        if inside := self.inside.get(name, 0):  # as many errors of half a step at most as one of their root's size
            t = t + (torch.rand(t.shape, generator=self.noise) - 0.5) * grid[0] * math.sqrt(inside)
        return self.give(t, grid)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.overloadpacket.__name__
        known = [g for a in args for g in map(self.grid, a if isinstance(a, (tuple, list)) else [a]) if g]
        if name in SHARED_STEPS and known:
            shared = max(known)
            args = [[rounded(e, shared) for e in a] if isinstance(a, (tuple, list)) else rounded(a, shared) if is_number(a) else a for a in args]
        if name in PRODUCTS:
            args = self.weights(name, args)
        y = function(*args, **(kwargs or {}))
        made = []
        for t in results_of(y):
            if is_number(t):
                own = self.ranges[self.at]
                self.at += 1
                t = self.result(t, name, args, known, own) if known else t
            made.append(t)
        return type(y)(made) if type(y) in (tuple, list) else made[0]


def run(plan, live):
    for s in plan.steps:
        y = s.function(*s.modules, *[live[v] for v in s.operands])
        live.update(zip(s.results, results_of(y)))
    return [live[v] for v in plan.outputs]


def simulated(plan, inside):
    """The outputs in some draws, each a list for every output of what all samples give. `inside`: what inside() says."""
    ranges, draws = Ranges(), []
    with torch.no_grad():
        for k in range(SAMPLES):
            ranges.at = 0
            with ranges:
                run(plan, {v: plan.values[v][k] for v in plan.inputs})
        spans = {v: (min(float(t.min()) for t in plan.values[v]), max(float(t.max()) for t in plan.values[v])) for v in plan.inputs}
        for draw, wider in enumerate(WIDER):
            noise, outputs = torch.Generator().manual_seed(draw), []
            for k in range(SAMPLES):
                rounds = Rounds(ranges.ranges, noise, wider, inside)
                grids = {v: steps(*span, wider) for v, span in spans.items()}
                live = {v: rounds.give(rounded(plan.values[v][k], grids[v]), grids[v]) for v in plan.inputs}
                with rounds:
                    outputs.append(run(plan, live))
            draws.append([[y[o].numpy() for y in outputs] for o in range(len(plan.outputs))])
    return draws
