# SPDX-License-Identifier: Apache-2.0
"""What the NPU takes, asked of us and of ExecuTorch's own converters: the limits of [npu.limits] belong to the version of the SDK that the installed package names.

    neutron_constraints.py DEUTERON [--only KIND] [--list] [--table] [--random N] [--seed S]

Every case is one operator of torch between quantize and dequantize, at a limit or past it. ExecuTorch's answer is that of its converter
(executorch/backends/nxp/backend/ir/converter/node_converters): is_supported() of every node that its lowering makes of the operator. Ours is where the operator goes in
`deuteron analyze --prefer npu`. Both see the same exported program. Where the answers differ, DIFFERENT says why; a row there that no case needs is a failure too. Generated cases: neutron_random_cases.py."""
import argparse
import collections
import json
import logging
import pathlib
import re
import subprocess
import sys
import tempfile
import types
import warnings

# The SDK is closed. The converters ask it what their target is: an N3 without a controller of its own, and the multiply-adds of its units.
sdk = sys.modules["eiq_neutron_sdk"] = types.ModuleType("eiq_neutron_sdk")
sdk.neutron_library_utils = types.SimpleNamespace(isNeutronTarget=lambda name: True)
sdk.neutron_converter = types.SimpleNamespace(
    getNeutronTarget=lambda name: types.SimpleNamespace(name=name, npu=types.SimpleNamespace(subsystem=False, hwVersion=2, numMacs=8)))

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from executorch.backends.nxp.backend.custom_delegation_options import CustomDelegationOptions  # noqa: E402
from executorch.backends.nxp.backend.edge_program_converter import EdgeProgramToIRConverter, functions_converters  # noqa: E402
from executorch.backends.nxp.backend.neutron_target_spec import NeutronTargetSpec  # noqa: E402
from executorch.backends.nxp.backend.node_format_inference import NodeFormatInference  # noqa: E402
from executorch.backends.nxp.edge_passes.neutron_edge_pass_manager import NeutronEdgePassManager  # noqa: E402
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower  # noqa: E402
from torch.export import export, save  # noqa: E402

from neutron_random_cases import explained, generated  # noqa: E402

aten, QD = torch.ops.aten, torch.ops.quantized_decomposed
KEPT_WHOLE = [aten.prelu.default, aten.pad.default, aten.hardswish.default]  # by NXP's own pipeline: backends/nxp/tests/executorch_pipeline.py
AT_ONCE = 60  # cases in one program
STEPS, OTHER = (0.05, 3), (0.07, -11)
FLOAT = (None, None)  # is not quantized
# Converters that have no rule which a quantized model can break.
TAKES_ALL = {"CloneConverter": "the order of memory, which every contiguous or channels-last value has"}
EDGES = {"cortex_m::quantize_per_tensor", "cortex_m::dequantize_per_tensor"}

# imxrt700cm with room for all cases at once.
ROOMY = """format = 1
name = "roomy"
extends = ["imxrt700cm"]
[[memory]]
name = "sram"
bytes = 1073741824
holds = ["activations", "constants"]
reach = ["cpu", "npu"]
"""

# Who takes it, why the other does not, and the cases: a kind, and what of it.
DIFFERENT_ROWS = [
    ("theirs", "the loops of the open machine go to six axes, neighbours that are walked through as one counted once; in ExecuTorch no rule asks for the rank",
     [(kind, "seven axes") for kind in ("add", "sub", "mul", "maximum", "minimum")] + [(kind, "axes (0, 2, 4) of rank 7, kept") for kind in ("mean", "sum", "amax", "amin")]),
    ("theirs", "no rule asks for the rank, but its conversion of a transposition fails beyond six axes", [("permute", "(6, 5, 4, 3, 2, 1, 0)")]),
    ("ours", "operands with other parameters are copied to the result's first; ExecuTorch leaves that to its quantizer, which makes no such model",
     [(kind, f"other parameters of {of}") for kind in ("maximum", "minimum", "cat") for of in ("an operand", "the result")]),
    ("ours", "the operator keeps its operand's parameters, and a copy behind it brings the result's",
     [(kind, "other parameters") for kind in ("avg_pool2d", "adaptive_avg_pool2d", "amax", "amin", "permute")]
     + [("pad constant", f"{what}, other parameters") for what in ("of an image", "of all axes", "which crops", "of rank 6", "of rank 7")]),
    ("ours", "MEAN and SUM have a result with parameters of its own in TFLite; ExecuTorch's quantizer shares the operand's, and its rule asks for that",
     [("mean", "other parameters"), ("sum", "other parameters")]),
    ("ours", "x - y is written as SUB", [("add", "alpha -1")]),
    ("ours", "windows of different extents are a product with a constant matrix", [("adaptive_avg_pool2d", "(9, 8) to (2, 4)")]),
    ("ours", "a result that nobody quantizes keeps its operand's steps", [("relu", "a result in float")]),
    ("ours", "ceil_mode changes nothing here", [("avg_pool2d", "ceil_mode without effect"), ("max_pool2d", "ceil_mode without effect")]),
    ("theirs", "of steps that may be 255 from a zero point the machine's sums hold 32768 products; ExecuTorch has no rule for the inner extent", [("bmm", "(1, 1, 40000) by (1, 40000, 1)")]),
    ("ours", "the batch axes are one; ExecuTorch lowers them to a bmm between an expand and a view, and has no converter for expand", [("bmm", "4-D")]),
    ("ours", "zero points become columns of numbers: docs/neutron.md", [("bmm", "a zero point of the first"), ("bmm", "a zero point of the second")]),
    ("ours", "a product of two computed matrices is a series of one; ExecuTorch has mm for constant weights alone", [("mm", "two computed matrices"), ("linear", "a computed weight")]),
    ("ours", "each group is a convolution of its own, with its own channels; ExecuTorch counts those of all groups", [("conv2d", "2 groups of 512 channels, 8x8")]),
    ("ours", "ExecuTorch takes one input channel for a depthwise convolution", [("conv_transpose2d", "one input channel")]),
    ("ours", "at an end of the model it is a view, which nobody computes", [("reshape", "(12, 36) to rank 8")]),
]
DIFFERENT = {case: (who, why) for who, why, cases in DIFFERENT_ROWS for case in cases}


def qdq(x, scale, zero):
    if scale is None:
        return x
    return QD.dequantize_per_tensor.default(QD.quantize_per_tensor.default(x, scale, zero, -128, 127, torch.int8), scale, zero, -128, 127, torch.int8)


class Case:
    """f(inputs.., weights..): weights are (shape, kind) with kind w8 (a scale for each row of axis 0), w8t, b32."""

    def __init__(self, kind, what, f, *shapes, weights=(), given=(), result=STEPS):
        self.kind, self.what, self.f, self.shapes, self.weights = kind, what, f, shapes, weights
        self.given = list(given) + [STEPS] * (len(shapes) - len(given))
        self.result = result


class Cases(torch.nn.Module):
    def __init__(self, cases):
        super().__init__()
        self.cases = cases
        for k, case in enumerate(cases):
            for n, (shape, kind) in enumerate(case.weights):
                data = torch.randint(-100, 100, shape)
                self.register_buffer(f"w{k}_{n}", data.to(torch.int32 if kind == "b32" else torch.int8))
                if kind.startswith("w8c"):
                    axis = int(kind[3:])
                    self.register_buffer(f"s{k}_{n}", torch.rand(shape[axis], dtype=torch.float64) * 0.01 + 0.01)
                    self.register_buffer(f"z{k}_{n}", torch.zeros(shape[axis], dtype=torch.int64))

    def weight(self, k, n, kind):
        w = getattr(self, f"w{k}_{n}")
        if kind == "b32":
            return QD.dequantize_per_tensor.default(w, STEPS[0] * 0.01, 0, -2**31, 2**31 - 1, torch.int32)
        if kind == "w8t":
            return QD.dequantize_per_tensor.default(w, 0.01, 0, -127, 127, torch.int8)
        return QD.dequantize_per_channel.default(w, getattr(self, f"s{k}_{n}"), getattr(self, f"z{k}_{n}"), int(kind[3:]), -127, 127, torch.int8)

    def forward(self, *inputs):
        results, at = [], 0
        for k, case in enumerate(self.cases):
            taken = [qdq(x, *q) for x, q in zip(inputs[at:], case.given)]
            at += len(case.shapes)
            y = case.f(*taken, *[self.weight(k, n, kind) for n, (_, kind) in enumerate(case.weights)])
            results.append(qdq(y, *case.result))
        return tuple(results)


# ------------------------------------------------------------------------------------------------------------------- cases


def unary():
    functions = {"abs": torch.abs, "exp": torch.exp, "log": torch.log, "rsqrt": torch.rsqrt, "sigmoid": torch.sigmoid, "tanh": torch.tanh, "hardswish": F.hardswish,
                 "leaky_relu": F.leaky_relu, "relu": F.relu, "neg": torch.neg}
    for name, f in functions.items():
        for shape in ((7,), (3, 5), (2, 3, 5, 7), (1, 2, 3, 2, 3)):
            yield Case(name, f"rank {len(shape)}", f, shape)
        yield Case(name, "other parameters", f, (2, 9), result=OTHER)
        yield Case(name, "a result in float", f, (2, 9), result=FLOAT)
    for name, f in {"erf": torch.erf, "sin": torch.sin, "floor": torch.floor}.items():
        yield Case(name, "no converter", f, (2, 9))


def pairs():
    functions = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "maximum": torch.maximum, "minimum": torch.minimum}
    shapes = {"one shape": ((2, 3, 5), (2, 3, 5)), "a row": ((2, 3, 5), (5,)), "an element": ((2, 3, 5), (1,)), "channels": ((1, 4, 5, 3), (1, 4, 1, 1)),
              "an outer pair": ((4, 1), (1, 5)), "an outer pair of images": ((1, 4, 1, 3), (1, 1, 5, 3)), "rank 6": ((1, 2, 1, 2, 3, 2), (1, 2, 1, 2, 3, 2)),
              "rank 7": ((1, 2, 1, 2, 1, 3, 2), (1, 2, 1, 2, 1, 1, 2)), "rank 7 of one shape": ((2, 2, 2, 2, 2, 3, 2), (2, 2, 2, 2, 2, 3, 2)),
              "rank 7 and an element": ((2, 2, 2, 2, 2, 3, 2), (1,)), "seven axes": ((2, 2, 2, 2, 2, 2, 3), (2, 1, 2, 1, 2, 1, 3))}
    for name, f in functions.items():
        for what, (a, b) in shapes.items():
            yield Case(name, what, f, a, b)
        yield Case(name, "other parameters of an operand", f, (3, 5), (3, 5), given=(STEPS, OTHER))
        yield Case(name, "other parameters of the result", f, (3, 5), (3, 5), result=OTHER)
    yield Case("add", "alpha 2", lambda x, y: torch.add(x, y, alpha=2), (3, 5), (3, 5))
    yield Case("sub", "alpha 2", lambda x, y: torch.sub(x, y, alpha=2), (3, 5), (3, 5))
    yield Case("add", "alpha -1", lambda x, y: torch.add(x, y, alpha=-1), (3, 5), (3, 5))


def pools():
    for kernel, stride, shape in ((2, 2, (1, 3, 8, 10)), ((3, 1), (1, 2), (2, 5, 9, 7)), ((4096, 1), 1, (1, 3, 4097, 2)), ((4097, 1), 1, (1, 3, 4099, 2)),
                                  (1, (4096, 1), (1, 3, 4100, 2)), (1, (4097, 1), (1, 3, 4100, 2)), ((1, 4097), 1, (1, 3, 2, 4099)), ((90, 100), 2, (1, 3, 91, 104))):
        yield Case("avg_pool2d", f"kernel {kernel}, stride {stride}", lambda x, k=kernel, s=stride: F.avg_pool2d(x, k, s), shape)
        yield Case("max_pool2d", f"kernel {kernel}, stride {stride}", lambda x, k=kernel, s=stride: F.max_pool2d(x, k, s), shape)
    image = (1, 3, 9, 11)
    for what, f in {"padding, counted": lambda x: F.avg_pool2d(x, 3, 2, 1), "padding, not counted": lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
                    "not counted, without padding": lambda x: F.avg_pool2d(x, 3, 2, 0, count_include_pad=False), "ceil_mode": lambda x: F.avg_pool2d(x, 2, 2, ceil_mode=True),
                    "ceil_mode without effect": lambda x: F.avg_pool2d(x, 3, 2, ceil_mode=True), "a divisor": lambda x: F.avg_pool2d(x, 2, 2, divisor_override=3),
                    "the window's size as divisor": lambda x: F.avg_pool2d(x, 2, 2, divisor_override=4)}.items():
        yield Case("avg_pool2d", what, f, image)
    yield Case("avg_pool2d", "other parameters", lambda x: F.avg_pool2d(x, 2, 2), image, result=OTHER)
    for what, f in {"padding": lambda x: F.max_pool2d(x, 3, 2, 1), "dilation": lambda x: F.max_pool2d(x, 2, 1, dilation=2), "ceil_mode": lambda x: F.max_pool2d(x, 2, 2, ceil_mode=True),
                    "ceil_mode without effect": lambda x: F.max_pool2d(x, 3, 2, ceil_mode=True)}.items():
        yield Case("max_pool2d", what, f, image)
    yield Case("max_pool2d", "other parameters", lambda x: F.max_pool2d(x, 2, 2), image, result=OTHER)
    for size, shape in (((3, 4), (1, 3, 9, 8)), ((1, 1), (2, 5, 7, 6)), ((2, 4), (1, 3, 9, 8)), ((1, 2), (1, 3, 4097, 2)), ((2, 1), (1, 3, 8194, 1))):
        yield Case("adaptive_avg_pool2d", f"{shape[2:]} to {size}", lambda x, s=size: F.adaptive_avg_pool2d(x, s), shape)
    yield Case("adaptive_avg_pool2d", "other parameters", lambda x: F.adaptive_avg_pool2d(x, (3, 4)), (1, 3, 9, 8), result=OTHER)


def reductions():
    functions = {"mean": lambda x, d, k: x.mean(d, keepdim=k), "sum": lambda x, d, k: x.sum(d, keepdim=k), "amax": lambda x, d, k: x.amax(d, keepdim=k), "amin": lambda x, d, k: x.amin(d, keepdim=k)}
    for name, f in functions.items():
        for dims, keep, shape in (((1,), False, (3, 5)), ((-1,), True, (2, 3, 5)), ((2, 3), False, (1, 4, 6, 5)), ((1,), True, (2, 4, 6, 5)), ((0, 2), False, (2, 3, 5)),
                                  ((1, 3), False, (2, 3, 2, 3, 2)), ((5,), False, (1, 2, 1, 2, 3, 2)), ((6,), False, (1, 2, 1, 2, 1, 3, 2)),
                                  ((1, 2, 5), True, (2, 2, 2, 2, 2, 3, 2)), ((0, 2, 4), True, (2, 3, 2, 2, 2, 2, 2))):
            yield Case(name, f"axes {dims} of rank {len(shape)}{', kept' if keep else ''}", lambda x, f=f, d=dims, k=keep: f(x, d, k), shape)
        yield Case(name, "other parameters", lambda x, f=f: f(x, (1,), False), (3, 5), result=OTHER)


def products():
    zero = (0.05, 0)
    for a, b in (((1, 8, 16), (1, 16, 24)), ((3, 24, 40), (3, 40, 8)), ((5, 7, 16), (5, 16, 24)), ((4, 8, 12), (4, 12, 16)), ((4, 8, 16), (4, 16, 20)), ((2, 197, 13), (2, 13, 197)),
                 ((1, 1, 1), (1, 1, 1)), ((12, 49, 5), (12, 5, 49)), ((1, 3, 1001), (1, 1001, 2)), ((1, 1, 32768), (1, 32768, 1)), ((1, 1, 40000), (1, 40000, 1))):
        yield Case("bmm", f"{a} by {b}", torch.bmm, a, b, given=(zero, zero))
    yield Case("bmm", "4-D", torch.matmul, (2, 3, 5, 7), (2, 3, 7, 4), given=(zero, zero))
    yield Case("bmm", "a zero point of the first", torch.bmm, (2, 5, 7), (2, 7, 3), given=(STEPS, zero))
    yield Case("bmm", "a zero point of the second", torch.bmm, (2, 5, 7), (2, 7, 3), given=(zero, OTHER))
    yield Case("mm", "two computed matrices", torch.mm, (9, 13), (13, 11), given=(zero, zero))
    for rows, inner, columns in ((1, 9, 7), (5, 16, 8), (3, 1001, 2), (2, 65528, 1), (2, 65529, 1), (1, 200000, 2)):
        yield Case("mm", f"{rows}x{inner} by a constant of {columns} columns", torch.mm, (rows, inner), weights=[((inner, columns), "w8t")])
        yield Case("linear", f"{inner} to {columns}, {rows} rows", F.linear, (rows, inner), weights=[((columns, inner), "w8t"), ((columns,), "b32")])
    yield Case("linear", "a computed weight", F.linear, (5, 9), (7, 9), given=(zero, zero))
    yield Case("linear", "three axes", F.linear, (2, 5, 9), weights=[((7, 9), "w8t"), ((7,), "b32")])
    yield Case("linear", "without bias", F.linear, (5, 9), weights=[((7, 9), "w8t")])
    yield Case("addmm", "bias [p]", lambda x, w, b: torch.addmm(b, x, w), (5, 9), weights=[((9, 7), "w8t"), ((7,), "b32")])
    yield Case("addmm", "bias [1,p]", lambda x, w, b: torch.addmm(b, x, w), (5, 9), weights=[((9, 7), "w8t"), ((1, 7), "b32")])
    yield Case("addmm", "bias [n,p]", lambda x, w, b: torch.addmm(b, x, w), (5, 9), weights=[((9, 7), "w8t"), ((5, 7), "b32")])
    yield Case("addmm", "beta 2", lambda x, w, b: torch.addmm(b, x, w, beta=2), (5, 9), weights=[((9, 7), "w8t"), ((7,), "b32")])
    yield Case("addmm", "a computed bias", lambda x, b, w: torch.addmm(b, x, w), (5, 9), (7,), weights=[((9, 7), "w8t")])


def convolutions():
    def conv(what, shape, w, kind="w8c0", bias=True, given=(), **options):
        weights = [(w, kind)] + ([((w[0],), "b32")] if bias else [])
        return Case("conv2d", what, lambda x, *p, o=options: F.conv2d(x, *p, **o), shape, weights=weights, given=given)

    yield conv("3x3", (1, 3, 9, 11), (5, 3, 3, 3), padding=1)
    yield conv("without bias", (2, 4, 9, 11), (5, 4, 3, 2), bias=False, stride=2)
    yield conv("one scale", (1, 3, 9, 11), (5, 3, 3, 3), kind="w8t")
    yield conv("padding as the kernel", (1, 3, 9, 11), (5, 3, 3, 3), padding=3)
    for k in (4095, 4096, 4097):
        yield conv(f"kernel height {k}", (1, 4, 4099, 2), (3, 4, k, 1))
        yield conv(f"kernel width {k}", (1, 4, 2, 4099), (3, 4, 1, k))
        yield conv(f"stride {k}", (1, 4, 4100, 2), (3, 4, 1, 1), stride=(k, 1))
        yield conv(f"dilation {k}", (1, 4, 4100, 2), (3, 4, 2, 1), dilation=(k, 1))
    for channels in (65520, 65521, 65528, 65529):
        yield conv(f"1x1 of {channels} channels", (1, channels, 1, 2), (2, channels, 1, 1))
    yield conv("8x8 of 1016 channels", (1, 1016, 9, 9), (2, 1016, 8, 8))
    yield conv("8x8 of 1017 channels", (1, 1017, 9, 9), (2, 1017, 8, 8))
    yield conv("depthwise", (1, 6, 9, 11), (6, 1, 3, 3), groups=6, padding=1)
    yield conv("depthwise, 7x9 of 1024 channels", (1, 1024, 9, 10), (1024, 1, 7, 9), groups=1024)
    yield conv("depthwise, 8x8 of 1024 channels", (1, 1024, 9, 10), (1024, 1, 8, 8), groups=1024)
    yield conv("2 groups", (1, 6, 9, 11), (4, 3, 3, 3), groups=2)
    yield conv("2 groups of 512 channels, 8x8", (1, 1024, 9, 9), (4, 512, 8, 8), groups=2)
    yield conv("3 groups with a multiplier", (1, 3, 9, 11), (6, 1, 3, 3), groups=3)
    yield Case("conv2d", "a computed weight", lambda x, w: F.conv2d(x, w), (1, 3, 9, 11), (5, 3, 3, 3), given=(STEPS, (0.05, 0)))

    def transposed(what, shape, w, bias=True, kind="w8c1", **options):
        weights = [(w, kind)] + ([((w[1] * options.get("groups", 1),), "b32")] if bias else [])
        return Case("conv_transpose2d", what, lambda x, *p, o=options: F.conv_transpose2d(x, *p, **o), shape, weights=weights)

    yield transposed("3x2 with stride 2", (1, 4, 5, 6), (4, 5, 3, 2), stride=2)
    yield transposed("without bias", (1, 4, 5, 6), (4, 5, 3, 3), bias=False)
    yield transposed("output padding", (1, 4, 5, 6), (4, 5, 3, 3), stride=2, output_padding=1)
    yield transposed("stride as the kernel", (1, 4, 5, 6), (4, 5, 2, 2), stride=2)
    yield transposed("stride above the kernel", (1, 4, 5, 6), (4, 5, 1, 2), stride=2)
    yield transposed("stride 3", (1, 4, 5, 6), (4, 5, 3, 3), stride=3)
    yield transposed("padding below the kernel", (1, 4, 7, 6), (4, 5, 3, 3), padding=2)
    yield transposed("padding as the kernel", (1, 4, 9, 9), (4, 5, 3, 3), padding=3)
    yield transposed("dilation 2", (1, 4, 5, 6), (4, 5, 3, 3), dilation=2)
    yield transposed("2 groups", (1, 4, 5, 6), (4, 3, 3, 3), groups=2, kind="w8t")
    yield transposed("depthwise", (1, 4, 5, 6), (4, 1, 3, 3), groups=4, kind="w8t")
    yield transposed("2 groups, scales along axis 1", (1, 4, 5, 6), (4, 3, 3, 3), groups=2)
    yield transposed("depthwise, scales along axis 1", (1, 4, 5, 6), (4, 1, 3, 3), groups=4)
    yield transposed("2 groups of 4, stride 2, scales along axis 1", (1, 8, 5, 6), (8, 3, 2, 2), groups=2, stride=2)
    yield transposed("one input channel", (1, 1, 5, 6), (1, 3, 3, 3))
    yield transposed("kernel 4096", (1, 4, 2, 2), (4, 3, 4096, 1))
    yield transposed("kernel 4097", (1, 4, 2, 2), (4, 3, 4097, 1))
    yield transposed("8x8 of 1016 channels", (1, 1016, 2, 2), (1016, 2, 8, 8))
    yield transposed("8x8 of 1024 channels", (1, 1024, 2, 2), (1024, 2, 8, 8))


def moves():
    pad = aten.constant_pad_nd.default  # what aten.pad is lowered to, but for reflection
    for what, f, shape in (("of an image", lambda x: pad(x, (1, 2, 0, 1)), (1, 3, 5, 7)), ("of all axes", lambda x: pad(x, (1, 0, 2, 1, 0, 1), 0.5), (2, 3, 4)),
                           ("which crops", lambda x: pad(x, (-1, 2)), (2, 3, 7)), ("of rank 6", lambda x: pad(x, (1, 1)), (1, 2, 1, 2, 3, 2)), ("of rank 7", lambda x: pad(x, (1, 1)), (1, 2, 1, 2, 1, 3, 2))):
        yield Case("pad constant", what, f, shape)
        yield Case("pad constant", what + ", other parameters", f, shape, result=OTHER)
    for mode in ("reflect", "replicate", "circular"):
        yield Case("pad " + mode, "of an image", lambda x, m=mode: F.pad(x, (1, 2, 2, 1), mode=m), (1, 3, 5, 7))
        yield Case("pad " + mode, "of a signal", lambda x, m=mode: F.pad(x, (2, 1), mode=m), (2, 3, 7))
    yield Case("pad reflect", "other parameters", lambda x: F.pad(x, (1, 2, 2, 1), mode="reflect"), (1, 3, 5, 7), result=OTHER)
    for axes in ((1, 0), (0, 2, 1), (0, 2, 3, 1), (3, 0, 2, 1), (4, 1, 0, 3, 2), (5, 4, 3, 2, 1, 0), (6, 5, 4, 3, 2, 1, 0)):
        yield Case("permute", f"{axes}", lambda x, a=axes: x.permute(a), tuple(range(2, 2 + len(axes))))
    yield Case("permute", "other parameters", lambda x: x.permute(1, 0), (3, 5), result=OTHER)
    for what, f, shape in (("from 1", lambda x: x[:, 1:4], (2, 9, 5)), ("the last", lambda x: x[:, :, -2:], (2, 9, 5)), ("step 2", lambda x: x[:, ::2], (2, 9)), ("channels", lambda x: x[:, 1:3], (1, 4, 5, 7)),
                           ("rank 6", lambda x: x[:, :, :, :, 1:], (1, 2, 1, 2, 3, 2)), ("rank 7", lambda x: x[:, :, :, :, :, 1:], (1, 2, 1, 2, 1, 3, 2))):
        yield Case("slice", what, f, shape)
    for shape, to in (((4, 6), (2, 12)), ((2, 3, 4), (24,)), ((1, 3, 4, 5), (1, 60)), ((12, 36), (2, 3, 2, 3, 2, 3, 2)), ((12, 36), (2, 3, 2, 3, 2, 3, 2, 1))):
        yield Case("reshape", f"{shape} to rank {len(to)}", lambda x, t=to: x.reshape(t), shape)
    for n in (2, 3, 6):
        yield Case("cat", f"{n} parts", lambda *x: torch.cat(x, 1), *[(2, 3 + k, 5) for k in range(n)])
    yield Case("cat", "other parameters of an operand", lambda *x: torch.cat(x, 1), (2, 3), (2, 4), given=(STEPS, OTHER))
    yield Case("cat", "other parameters of the result", lambda *x: torch.cat(x, 1), (2, 3), (2, 4), result=OTHER)
    yield Case("cat", "rank 6", lambda *x: torch.cat(x, 3), (1, 2, 1, 2, 3, 2), (1, 2, 1, 3, 3, 2))
    yield Case("cat", "rank 7", lambda *x: torch.cat(x, 3), (1, 2, 1, 2, 1, 3, 2), (1, 2, 1, 3, 1, 3, 2))
    yield Case("clone", "of a matrix", lambda x: x.clone(), (3, 5))
    for size, bilinear, corners in (((10, 14), False, None), ((20, 7), False, None), ((40, 56), False, None), ((5, 7), False, None), ((80, 7), False, None), ((15, 14), False, None), ((10, 14), True, False),
                                    ((40, 28), True, False), ((80, 112), True, False), ((15, 21), True, False), ((9, 13), True, True), ((33, 49), True, True), ((10, 14), True, True), ((8, 12), False, None)):
        what = f"5x7 to {size[0]}x{size[1]}" + (", corners aligned" if corners else "")
        yield Case("bilinear" if bilinear else "nearest", what, lambda x, s=size, b=bilinear, c=corners: F.interpolate(x, size=s, mode="bilinear" if b else "nearest", align_corners=c), (1, 3, 5, 7))
    yield Case("bilinear", "corners of one row aligned", lambda x: F.interpolate(x, size=(2, 13), mode="bilinear", align_corners=True), (1, 3, 1, 7))
    yield Case("nearest", "other parameters", lambda x: F.interpolate(x, size=(10, 14)), (1, 3, 5, 7), result=OTHER)


def bounds():
    for low, high in ((-1, 1), (0, 1), (0, 6), (0, None), (-2, 3), (None, 2), (-0.5, None), (0, 5), (-6, 6)):
        yield Case("clamp", f"{low}..{high}", lambda x, a=low, b=high: torch.clamp(x, a, b), (2, 3, 5))
        yield Case("clamp", f"{low}..{high}, other parameters", lambda x, a=low, b=high: torch.clamp(x, a, b), (2, 3, 5), result=OTHER)
    for low, high in ((-1, 1), (0, 6), (-3, 3)):
        yield Case("hardtanh", f"{low}..{high}", lambda x, a=low, b=high: F.hardtanh(x, a, b), (2, 3, 5))
        yield Case("hardtanh", f"{low}..{high}, other parameters", lambda x, a=low, b=high: F.hardtanh(x, a, b), (2, 3, 5), result=OTHER)


def others():
    probability = (1 / 256, -128)
    for shape, axis in (((3, 10), -1), ((3, 10), 0), ((2, 3, 10), 2), ((2, 3, 10), 1), ((2, 2040), 1), ((2, 2041), 1), ((4096, 5), 1), ((4097, 5), 1), ((4096, 128), 1), ((370, 1417), 1), ((964, 544), 1)):
        yield Case("softmax", f"axis {axis} of {shape}", lambda x, a=axis: x.softmax(a), shape, result=probability)
    yield Case("prelu", "a result in float", F.prelu, (2, 4), weights=[((4,), "w8t")], result=FLOAT)
    yield Case("prelu", "one slope", F.prelu, (2, 4, 5, 3), weights=[((1,), "w8t")])
    yield Case("prelu", "a slope for each channel", F.prelu, (2, 4), weights=[((4,), "w8t")])
    yield Case("prelu", "a computed slope of an image", F.prelu, (2, 4, 5, 3), (4,), given=(STEPS, (0.01, 0)))
    yield Case("prelu", "a computed slope", F.prelu, (2, 4), (4,), given=(STEPS, (0.01, 0)))


def all_cases():
    for group in (unary, pairs, pools, reductions, products, convolutions, moves, bounds, others):
        yield from group()


# ------------------------------------------------------------------------------------------------------------------- both answers


def is_border(node):
    return node.op != "call_function" or "quantize_per" in str(node.target)


def computing(output):
    """The nodes between the inputs and an output that are neither quantize nor dequantize."""
    found, todo = [], [output]
    while todo:
        node = todo.pop()
        if not is_border(node) and node not in found and "getitem" not in str(node.target):
            found.append(node)
        todo += [n for n in node.all_input_nodes if n not in todo]
    return found


def outputs_of(program):
    return [n for n in program.graph.nodes if n.op == "output"][0].args[0]


ANSWERS = {}  # by converter: {taken: so many nodes, refused: so many}


def their_answers(program):
    """By output: the nodes that no converter takes; nothing: it is taken."""
    config = EdgeCompileConfig(_check_ir_validity=False, preserve_ops=KEPT_WHOLE, _core_aten_ops_exception_list=[aten.prelu.default])
    edge = to_edge_transform_and_lower(program, transform_passes=NeutronEdgePassManager(), compile_config=config).exported_program()
    NodeFormatInference(edge).identify_node_formats()
    constants, target = EdgeProgramToIRConverter.map_inputs_to_parameters(edge), NeutronTargetSpec("imxrt700")

    def takes(node):
        converter = functions_converters.get(node.target)
        taken = converter is not None and converter.is_supported(node, target, constants, CustomDelegationOptions())
        if converter is not None:
            ANSWERS.setdefault(converter.__name__, {True: 0, False: 0})[taken] += 1
        return taken

    return [[n.name for n in computing(output) if not takes(n)] for output in outputs_of(edge)]


def our_answers(deuteron, program, where):
    save(program, str(where / "m.pt2"))
    (where / "roomy.toml").write_text(ROOMY)
    done = subprocess.run([deuteron, "analyze", where / "m.pt2", "--target", where / "roomy.toml", "--prefer", "npu", "--json", where / "r.json"], capture_output=True, text=True, timeout=300)
    if done.returncode:
        sys.exit(f"deuteron analyze: exit {done.returncode}: {done.stderr[:3000]}")
    refused = {}
    for o in json.loads((where / "r.json").read_text())["operators"]:
        if o["placement"] != "npu" and o["op"] not in EDGES and "[neutron.partition.empty]" not in o["reason"]:
            for name in re.findall(r"(\w+) \(", o["source"]):
                refused.setdefault(name, o["reason"])
    return [[refused[n.name] for n in computing(output) if n.name in refused] for output in outputs_of(program)]


def check_each_converter():
    """Each was asked of something that it takes and of something that it does not."""
    failures = 0
    for name in sorted({converter.__name__ for converter in functions_converters.values()}):
        answers = ANSWERS.get(name, {True: 0, False: 0})
        lacks = [what for what, taken in (("takes", True), ("refuses", False)) if not answers[taken] and not (name in TAKES_ALL and not taken)]
        for what in lacks:
            failures += 1
            print(f"FAILED {name}: no case that it {what}")
    return failures


def table(counts):
    """Markdown."""
    lines = ["| operator | both take | both refuse | ours only | ExecuTorch only |", "| --- |" + " ---: |" * 4]
    pairs = [(True, True), (False, False), (True, False), (False, True)]
    lines += [f"| {kind} | {' | '.join(str(of[pair]) for pair in pairs)} |" for kind, of in sorted(counts.items())]
    lines += ["", "| only | of | why |", "| --- | --- | --- |"]
    for who, why, cases in DIFFERENT_ROWS:
        kinds = ", ".join(dict.fromkeys(kind for kind, _ in cases))
        lines.append(f"| {'ours' if who == 'ours' else 'ExecuTorch'} | {kinds} | {why} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("deuteron")
    parser.add_argument("--only", default="", help="kinds that contain this")
    parser.add_argument("--random", type=int, default=60, help="so many generated cases")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--table", action="store_true", help="print how many cases of each kind who takes, and why answers differ")
    parser.add_argument("--list", action="store_true", help="print every case with both answers")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.ERROR)
    torch.manual_seed(1)
    made = generated(Case, options.random, options.seed)
    cases = [c for c in [*all_cases(), *made] if options.only in c.kind]
    counts = {}  # by kind, of (we take it, they do)
    failures, taken, unused = 0, 0, {key: row for key, row in DIFFERENT.items() if options.only in key[0]}
    # ExecuTorch's inference of formats goes through the output of a program: a softmax beside an image there would have its channels first.
    apart = [[c for c in cases if c.kind != "softmax"], [c for c in cases if c.kind == "softmax"]]
    for some in [part[at:at + AT_ONCE] for part in apart for at in range(0, len(part), AT_ONCE)]:
        model = Cases(some)
        program = export(model.eval(), tuple(torch.zeros(s) for c in some for s in c.shapes))
        with tempfile.TemporaryDirectory() as folder:
            ours = our_answers(options.deuteron, program, pathlib.Path(folder))
        theirs = their_answers(program)
        for case, we, they in zip(some, ours, theirs):
            taken += not they
            if options.list:
                print(f"{case.kind:20} {case.what:44} {'-' if we else 'ours':5} {'-' if they else 'theirs':7} {we[0] if we else ''} {they}")
            key = (case.kind, case.what)
            counts.setdefault(case.kind, collections.Counter())[(not we, not they)] += 1
            if bool(we) == bool(they):
                continue
            known = (explained(case) or None) if case in made else unused.pop(key, None) or DIFFERENT.get(key)
            if known is None or (known[0] == "ours") != (not we):
                failures += 1
                print(f"FAILED {key}: ours: {'; '.join(we) or 'taken'}; ExecuTorch: {they or 'taken'}")
    failures += check_each_converter() if not options.only else 0
    if options.table:
        print(table(counts))
    for key in unused:
        failures += 1
        print(f"FAILED {key}: DIFFERENT has a row for it, and both answer alike")
    print(f"{len(cases)} cases, {sum(c in made for c in cases)} of them generated, {taken} of them taken by ExecuTorch, {len(DIFFERENT)} explained differences, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
