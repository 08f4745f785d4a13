#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random layers whose sums come near to what int32 holds, or pass it: the result of 64-bit arithmetic, within a step, or a refusal. On the NPU too,
whose programs the open machine model runs.

  tests/extreme_sums.py DEUTERON [--cases N] [--seed S]
"""
import argparse
import base64
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: this interpreter has no NumPy")
    sys.exit(77)

TARGETS = ["cortex-m0plus", "cortex-m4", "cortex-m55", "imxrt700", "imxrt700cm"]
LIMIT = 2**31 // (255 * 127)  # products that reach it


def text(kind, x, w, bias, scale):
    data = base64.b64encode(w.tobytes()).decode()
    shape, filters = {"linear": ([1, w.shape[1]], w.shape), "conv2d": ([1, 1, 2, w.shape[1]], (w.shape[0], 1, 1, w.shape[1])),
                      "conv_transpose2d": ([1, 1, 2, w.shape[1]], (w.shape[0], 1, 1, w.shape[1])),
                      "depthwise": ([1, w.shape[1], 2, w.shape[0]], (w.shape[0], w.shape[1], 1, 1))}[kind]  # fmt: skip
    out = {"linear": [1, w.shape[0]], "depthwise": [1, 1, 2, w.shape[0]]}.get(kind, [1, 1, 2, w.shape[0]])
    op, more = ("conv2d", f" groups={w.shape[0]}") if kind == "depthwise" else (kind, "")
    join = lambda extents: ",".join(map(str, extents))  # noqa: E731
    return (f"input v : f32[{join(shape)}]\nx = quantize(v) quant=q(scale=0.01 zero=-128)\nw = const s8[{join(filters)}] q(scale=0.01 zero=0) base64 \"{data}\"\n"
            f"b = const s32[{w.shape[0]}] q(scale=0.0001 zero=0 range=-2147483648..2147483647) {join(bias)}\ny = {op}(x, w, b){more} : s8[{join(out)}] q(scale={scale!r} zero=3)\nz = dequantize(y)\noutput z\n"), shape  # fmt: skip


def expected(kind, x, w, bias, scale):
    columns = {"linear": lambda: x.reshape(1, -1), "depthwise": None}.get(kind, lambda: x.reshape(2, -1))
    wide = w.astype(np.int64)
    if columns is None:  # [taps, 2, channels]
        sums = np.einsum("twc,ct->wc", x.astype(np.int64).reshape(w.shape[1], 2, -1) + 128, wide) + bias
    else:
        sums = (columns().astype(np.int64) + 128) @ wide.T + bias
    return np.clip(np.round(sums * (0.01 * 0.01 / scale)) + 3, -128, 127)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("deuteron")
    arguments.add_argument("--cases", type=int, default=40)
    arguments.add_argument("--seed", type=int, default=20251121)
    given = arguments.parse_args()
    random = np.random.default_rng(given.seed)
    wrong = refused = 0
    kinds = ["linear", "conv2d", "conv_transpose2d", "depthwise"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for case in range(given.cases):
            kind, target = kinds[case % len(kinds)], TARGETS[case // len(kinds) % len(TARGETS)]
            terms = int(random.choice([LIMIT - 1, LIMIT + 1, LIMIT * 2, 300, 40000]))
            x_shape = {"linear": terms, "depthwise": 2 * terms * 2}.get(kind, 2 * terms)
            x = np.where(random.random(x_shape) < 0.02, random.integers(-128, 128, x_shape), 127).astype(np.int8)
            w = np.where(random.random((2, terms)) < 0.02, 0, random.choice([127, -127, -128], (2, 1))).astype(np.int8)
            bias = random.choice([0, 2**30, -(2**30), 2**31 - 1], 2)
            scale = float(np.float32(terms * 255 * 127 * 1e-4 / random.choice([60, 100, 1e6])))
            model, shape = text(kind, x, w, bias, scale)
            (folder / "m.txt").write_text(model)
            np.save(folder / "x.npy", x.reshape(shape))
            said = subprocess.run([given.deuteron, "compile", "m.txt", "--target", target, "--io", "int8", "-o", "m.pte"], cwd=folder, capture_output=True, text=True)
            if said.returncode == 1:
                refused += 1
                continue
            if said.returncode == 0:
                said = subprocess.run([given.deuteron, "run", "m.pte", "--input", "x.npy", "--output-dir", "out"], cwd=folder, capture_output=True, text=True)
            got = np.load(folder / "out" / "output0.npy").astype(int) if said.returncode == 0 else None
            wanted = expected(kind, x, w, bias, scale)
            if got is None or np.abs(got.reshape(-1) - wanted.reshape(-1)).max() > 1:
                wrong += 1
                print(f"{kind} on {target}, {terms} terms, bias {bias}, scale {scale}: {got} for {wanted.astype(int)} {said.stderr[-300:]}")
    print(f"{given.cases} layers: {wrong} wrong, {refused} refused")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
