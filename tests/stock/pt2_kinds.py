#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models of torch with branches and with dynamic quantization, compiled and run, against torch.

    pt2_kinds.py DEUTERON

Results differ by at most four steps of int8 of their range: of the input, the weight or the operands of a pick, the sum and the result."""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torch.ao.quantization.fx._decomposed  # registers the operators

Q = torch.ops.quantized_decomposed
SAMPLES, STEPS = 64, 4
LOW, HIGH = -128, 127


class Branches(torch.nn.Module):
    """Two results of either branch, one of which is an operand as it is."""

    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Linear(4, 3), torch.nn.Linear(4, 3)

    def forward(self, x):
        y, z = torch.cond(x.sum() > 0, lambda x: (self.a(x).relu(), x.clone()), lambda x: (self.b(x) * 2, x * 0.5), (x,))
        return y, z


class Nested(torch.nn.Module):
    def forward(self, x):
        def inner(x):
            return torch.cond(x.amax() > 1, lambda x: x + 1, lambda x: x - 1, (x,))
        return torch.cond(x.sum() > 0, inner, lambda x: x * 2, (x,))


class Dynamic(torch.nn.Module):
    def __init__(self, by_token):
        super().__init__()
        self.by_token = by_token
        self.register_buffer("weight", torch.randint(-127, 128, (5, 4), dtype=torch.int8))
        self.register_buffer("scales", torch.rand(5) * .02 + .01)
        self.register_buffer("zeros", torch.zeros(5, dtype=torch.int64))

    def forward(self, x):
        weight = Q.dequantize_per_channel(self.weight, self.scales, self.zeros, 0, -127, 127, torch.int8)
        if self.by_token:
            scale, zero = Q.choose_qparams_per_token_asymmetric(x, torch.int8)
            x = Q.dequantize_per_token(Q.quantize_per_token(x, scale, zero, LOW, HIGH, torch.int8), scale, zero, LOW, HIGH, torch.int8, torch.float32)
        else:
            scale, zero = Q.choose_qparams.tensor(x, LOW, HIGH, 1e-5, torch.int8)
            x = Q.dequantize_per_tensor.tensor(Q.quantize_per_tensor.tensor(x, scale, zero, LOW, HIGH, torch.int8), scale, zero, LOW, HIGH, torch.int8)
        return torch.nn.functional.linear(x, weight).relu()


def fault_of(tool, model, folder):
    x = torch.randn(SAMPLES, 1, 4)
    torch.export.save(torch.export.export(model, (x[0],)), folder / "m.pt2")
    np.save(folder / "x.npy", x.numpy())
    with torch.no_grad():
        wanted = [model(v) for v in x]
    wanted = [np.stack([w.numpy() for w in each]) for each in zip(*[w if isinstance(w, tuple) else (w,) for w in wanted])]
    for command in ([tool, "compile", folder / "m.pt2", "--target", "cortex-m55", "--calibrate", folder / "x.npy", "-o", folder / "m.pte"],
                    [tool, "run", folder / "m.pte", "--input", folder / "x.npy", "--output-dir", folder / "out"]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return done.stderr
    for k, w in enumerate(wanted):
        found = np.load(folder / "out" / ("output%d.npy" % k)).reshape(w.shape)
        # A condition that is decided by less than a step may go the other way.
        apart = np.abs(w - found).reshape(SAMPLES, -1).max(axis=1) > STEPS * np.ptp(w) / 255
        if apart.sum() > SAMPLES // 32:
            return "output %d: %d of %d samples differ by more than %d steps" % (k, apart.sum(), SAMPLES, STEPS)
    return ""


def main():
    torch.manual_seed(5)
    good = True
    for name, model in (("branches", Branches()), ("nested", Nested()), ("dynamic", Dynamic(False)), ("dynamic_by_token", Dynamic(True))):
        with tempfile.TemporaryDirectory() as place:
            fault = fault_of(sys.argv[1], model.eval(), pathlib.Path(place))
        good &= not fault
        print("%s %s %s" % ("FAIL" if fault else "ok  ", name, fault))
    return 0 if good else 1


sys.exit(main())
