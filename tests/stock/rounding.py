#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which rounding is whose, where a multiplier lies exactly between two: ExecuTorch's compiler takes the even one, TFLite's kernels and our
converter for the NPU the one further from zero. ops/common/multiplier_test.cpp has the same scales. Usage: rounding.py neutron_runner"""
import ast
import importlib.util
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from tflite_models import Builder, interpret

kTieX, kTieWeight = np.float32(1 + 2.0**-15), np.float32(1 + 2.0**-16)
kEven = (1 << 30) + (1 << 15) + (1 << 14)


def stock_multiplier():
    """ExecuTorch's own function, without its package: that asks for tools of other backends."""
    root = importlib.util.find_spec("executorch").submodule_search_locations[0]
    source = (Path(root) / "backends/cortex_m/passes/passes_utils.py").read_text()
    found = [n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef) and n.name == "quantize_multiplier_aot"]
    names = {"math": math, "torch": torch}
    exec(ast.unparse(found[0]), names)
    return names["quantize_multiplier_aot"]


def requantize(v, multiplier, shift):
    v = (v * multiplier + (1 << 30)) >> 31
    return v if shift >= 0 else (abs(v) + (1 << (-shift - 1)) >> -shift) * (1 if v >= 0 else -1)


def telling_bias(shift, start):
    """A sum that the two multipliers bring to different steps."""
    for step in range(start, 120):
        near = ((step << -shift) + (1 << (-shift - 1)) << 31) // (kEven + 1)
        for bias in range(near - 4, near + 5):
            if bias < 1 << 31 and requantize(bias, kEven, shift) != requantize(bias, kEven + 1, shift):
                return bias, step
    raise AssertionError("no such sum")


def check(good, what):
    print(("ok   " if good else "FAIL ") + what)
    return good


def main():
    good = True
    factor = float(kTieX) * float(kTieWeight)
    assert math.frexp(factor)[0] * 2**31 == kEven + 0.5, "the scales give no tie"
    quantize_multiplier_aot = stock_multiplier()
    for shift in (1, 0, -7, -22):
        found = quantize_multiplier_aot(math.ldexp(factor, shift - 1))
        good &= check(found == (kEven, shift), f"ExecuTorch: {found} for shift {shift}, the even one is {(kEven, shift)}")

    # A convolution whose sums are its biases.
    shift, channels = -22, 5
    biases, start = [], 70
    for _ in range(channels):
        bias, start = telling_bias(shift, start)
        biases.append(bias)
        start += 1
    weight_scale = np.full(channels, kTieWeight * np.float32(2.0 ** (shift - 1)), np.float32)
    b = Builder()
    x = b.input([1, 1, 1, 3], kTieX, 0)
    weight = b.constant(np.ones([channels, 1, 1, 3], np.int8), weight_scale)
    bias = b.constant(np.array(biases, np.int32), kTieX * weight_scale)
    y = b.tensor([1, 1, 1, channels], 1.0, 0)
    b.output(b.op("CONV_2D", [x, weight, bias], [y], "Conv2DOptions", strideH=1, strideW=1, dilationHFactor=1, dilationWFactor=1))
    zeros = np.zeros([1, 1, 1, 3], np.int8)
    even, away = ([requantize(v, m, shift) for v in biases] for m in (kEven, kEven + 1))
    tflite = interpret(b.bytes(), [zeros])[0].ravel().tolist()
    good &= check(tflite == away and tflite != even, f"TFLite: {tflite}, away from zero {away}, even {even}")
    with tempfile.TemporaryDirectory() as folder:
        stem = Path(folder) / "tie"
        stem.with_suffix(".tflite").write_bytes(b.bytes())
        stem.with_suffix(".in0").write_bytes(zeros.tobytes())
        subprocess.run([sys.argv[1], folder], check=True, stdout=subprocess.DEVNULL)
        ours = np.fromfile(f"{stem}.plain.out0", np.int8).tolist()
    good &= check(ours == away, f"our converter: {ours}")
    return 0 if good else 1


sys.exit(main())
