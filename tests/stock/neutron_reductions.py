# SPDX-License-Identifier: Apache-2.0
"""Means, sums and extremes of ranks 1 to 5 over every set of axes, exported by PyTorch here and now: on the NPU, right, as cheap as its reductions are, and
the same bits on the CPU.

    neutron_reductions.py DEUTERON

A model for each rank has them all as outputs. Float: everything on the NPU of imxrt700, with no more cycles than its Reduce kernels take for these shapes (means
over rows or columns of an image are average pools, which take up to a tenth more), near the float model. Quantized, with the parameters of the operand or with others:
every output within one step of PyTorch's, and the same bits with every function kept off the NPU in turn, and all of them; for one model on an emulated Cortex-M33 too."""
import itertools
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torch.ao.quantization.fx._decomposed  # the operators of quantized models
from torch import nn
from torch.export import export, save

TOOL = sys.argv[1]
FUNCTIONS = ["mean", "sum", "amax", "amin"]
SHAPES = [(37,), (5, 19), (3, 7, 11), (2, 5, 9, 6), (2, 3, 5, 4, 7)]
SETUP, LANES, BYTES = 2000, 8, 16  # of a kernel of the open machine, as docs/neutron-machine.md
Q = torch.ops.quantized_decomposed


def parameters(x):
    low, high = min(0.0, x.min().item()), max(0.0, x.max().item())
    scale = float(np.float32(max((high - low) / 255, 1e-6)))
    return scale, round(-128 - low / scale)


def rounded(x, scale, zero):
    return Q.dequantize_per_tensor.default(Q.quantize_per_tensor.default(x, scale, zero, -128, 127, torch.int8), scale, zero, -128, 127, torch.int8)


class Reductions(nn.Module):
    def __init__(self, shape, keep):
        super().__init__()
        ranks = range(len(shape))
        axes = [a for n in range(1, len(shape) + 1) for a in itertools.combinations(ranks, n)]
        self.which, self.keep, self.given = [(f, a) for f in FUNCTIONS for a in axes], keep, None

    def forward(self, x):
        if not self.given:
            return tuple(getattr(torch, f)(x, dim=a, keepdim=self.keep) for f, a in self.which)
        x = rounded(x, *self.given[0])
        return tuple(rounded(getattr(torch, f)(x, dim=a, keepdim=self.keep), *p) for (f, a), p in zip(self.which, self.given[1:]))


def native_cycles(shape, axes):
    elements, results = math.prod(shape), math.prod(e for k, e in enumerate(shape) if k not in axes)
    return SETUP + max(-(-elements // LANES), -(-(elements + results) // BYTES))


def tool(*arguments):
    done = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, arguments))}: exit {done.returncode}: {done.stderr[:600]}")


def compiled(where, target, *options):
    tool("compile", where / "m.pt2", "--target", target, *options, "-o", where / "m.pte", "--json", where / "r.json")
    return json.loads((where / "r.json").read_text())


def results(where, *options):
    tool("run", where / "m.pte", "--input", where / "x.bin", "--output-dir", where / "out", *options)
    return [np.load(where / "out" / f"output{k}.npy") for k in range(len(list((where / "out").glob("*.npy"))))]


def same(a, b):
    return len(a) == len(b) and all(p.shape == q.shape and p.tobytes() == q.tobytes() for p, q in zip(a, b))


def on_cpu(report):
    return {(o["op"], o["reason"]) for o in report["operators"] if o["placement"] != "npu" and "quantize_per_tensor" not in o["op"]}


def try_model(shape, kind, keep, where):
    torch.manual_seed(len(shape))
    x = torch.randn(4, *shape) + 0.3
    model = Reductions(shape, keep)
    if kind != "float":
        real = [torch.stack(list(v)) for v in zip(*(model(s) for s in x))]
        model.given = [parameters(x)] + [parameters(v) if kind == "own" else parameters(x) for v in real]
    save(export(model.eval(), (x[0],)), str(where / "m.pt2"))
    x.numpy().tofile(where / "c.bin")
    x[0].numpy().tofile(where / "x.bin")
    wrong = []
    report = compiled(where, "imxrt700", *(["--calibrate", where / "c.bin"] if kind == "float" else []))
    if on_cpu(report):
        wrong.append(f"on the CPU: {on_cpu(report)}")
    reference = results(where)
    wanted = [v.numpy() for v in model(x[0])]
    if [v.shape for v in reference] != [v.shape for v in wanted]:
        return ["other shapes"]
    native = sum(native_cycles(shape, axes) for _, axes in model.which)
    if kind == "float":
        if report["npu_cycles"] > (1.1 if len(shape) == 4 else 1) * native:
            wrong.append(f"{report['npu_cycles']} cycles, {native} with Reduce kernels")
        if report["sqnr_db"] < 28:
            wrong.append(f"{report['sqnr_db']:.1f} dB")
        return wrong
    for (f, axes), p, got, want in zip(model.which, model.given[1:], reference, wanted):
        steps = np.abs(got - want).max() / p[0]
        if steps > 1.01:
            wrong.append(f"{f} over {axes}: {steps:.1f} steps off")
    for excluded in [[f] for f in FUNCTIONS] + [FUNCTIONS]:
        report = compiled(where, "imxrt700cm", "--prefer", "npu", *(a for f in excluded for a in ("--layer", f"{f}=cpu")))
        if any(s.split(" (aten.")[-1].split(".")[0] in excluded for o in report["operators"] if o["placement"] == "npu" for s in o["source"].split(", ")):
            wrong.append(f"without {excluded}: on the NPU although excluded")
        if not same(results(where), reference):
            wrong.append(f"without {excluded}: other bits")
        if len(shape) == 3 and kind == "own" and not same(results(where, "--on", "qemu:mps2-an505"), reference):
            wrong.append(f"without {excluded}: other bits on the board")
    return wrong


count = failed = 0
for shape in SHAPES:
    for kind, keep in (("float", True), ("own", False), ("shared", True)):
        with tempfile.TemporaryDirectory() as folder:
            for problem in try_model(shape, kind, keep, pathlib.Path(folder)):
                failed += 1
                print(f"FAILED {shape} {kind}: {problem}")
        count += 1
print(f"{count} models, {sum(len(FUNCTIONS) * (2 ** len(s) - 1) * 3 for s in SHAPES)} reductions: {failed} wrong")
sys.exit(1 if failed else 0)
