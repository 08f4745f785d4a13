# SPDX-License-Identifier: Apache-2.0
"""Fits the lines of the int16 kernels in targets/base-*.toml to what emulated boards count.

    build/venv/bin/python bench/int16_cost_fit.py [--tool build/deuteron] [--shared ../shared] [--tflite N]

Compiles eight networks with --precision int16, and some with single layers in int16, runs each once on a board of each instruction set, and fits the instructions of every call with
non-negative coefficients: docs/cpu-cost.md has the formula. Prints the lines, and how far the sum and the worst call are off. With --tflite it is N random models of one
operator with TFLite's int16 arithmetic instead (tests/stock/tflite_int16.py), and their kernels.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
from scipy.optimize import nnls

ROOT = pathlib.Path(__file__).resolve().parents[1]
BOARDS = {"mve": ("cortex-m55", "mps3-an547"), "dsp": ("cortex-m4", "mps2-an386"), "scalar": ("cortex-m3", "mps2-an385"), "thumb1": ("cortex-m0+", "mps2-an511")}
MODELS = ["resnet8", "dscnn_kws", "mobilenet_v1_025_vww", "autoencoder_ad", "cifarnet", "digits_bmm", "mnist_lstm", "mobilenet_v3_small"]
SOME_LAYERS = {"resnet8": ["add"], "dscnn_kws": ["layers.0.conv", "layers.3.conv", "layers.6.conv", "linear"], "autoencoder_ad": ["fcs.0", "fcs.3", "fcs.7"], "cifarnet": ["conv2", "fc"]}


def calls_of(text):
    """Name, multiply-adds, results and taps of each kernel call of a lowered graph, in order."""
    for line in text.splitlines():
        call = re.search(r" = call (\S+?)\(", line)
        if not call:
            continue
        shape = re.search(r": s(?:16|8)\[([\d,]*)\]", line)
        extents = [int(v) for v in shape[1].split(",")] if shape else [0]
        macs, results, taps = int((re.search(r"macs=(\d+)", line) or [0, 0])[1]), int(np.prod(extents)), 0
        if call[1] == "deuteron::conv2d_s16.out":
            taps = macs // extents[-1]
        if "pool2d" in call[1]:  # behind the window: strides, padding, and of the maximum dilations
            height, width = re.findall(r"\[(\d+),(\d+)\]", line)[-4 if "max" in call[1] else -3]
            taps = results * int(height) * int(width)
        yield call[1], macs, results, taps


def programs():
    yield from ((model, ["--precision", "int16"]) for model in MODELS)
    yield from ((model, [w for name in names for w in ("--layer", f"{name}=int16")]) for model, names in SOME_LAYERS.items())


def measure(arguments, isa, where):
    target, board = BOARDS[isa]
    rows = {}
    for model, options in programs():
        folder, program, trace = arguments.shared / "fixtures" / "models" / model, where / "m.pte", where / "t.etdp"
        subprocess.run([arguments.tool, "compile", folder / "float.pt2", "--target", target, "--calibrate", folder / "inputs",
                        *options, "-o", program, "--intermediates", where / "graphs"], check=True, capture_output=True)
        text = next((where / "graphs").glob("*-fit-scratch.txt")).read_text()
        sample = sorted((folder / "inputs").glob("*.bin"))[0]
        subprocess.run([arguments.tool, "profile", program, "--input", sample, "--on", f"qemu:{board}", "-o", trace], check=True, capture_output=True)
        subprocess.run([arguments.tool, "inspect", trace, "--rows", "0", "--json", where / "t.json"], check=True, capture_output=True)
        kernels = [k for k in json.loads((where / "t.json").read_text())["kernels"] if "::" in k["name"]]
        for kernel, call in zip(sorted(kernels, key=lambda k: k["instruction"]), calls_of(text), strict=True):
            assert kernel["name"] == call[0], (kernel["name"], call[0])
            if "_s16" in call[0] or "requantize" in call[0]:
                rows.setdefault(call[0].removesuffix(".out"), []).append((*call[1:], kernel["median"]))
    return rows


def tflite_calls(text):
    """The same of the kernels with TFLite's arithmetic; elements of the operand of a sum or a product in place of taps."""
    for line in text.splitlines():
        if call := re.search(r" = call (\S+?)\(", line):
            shape, operand = re.search(r": s(?:16|8|64|32)\[([\d,]*)\]", line), re.search(r"args\(in0\[([\d,]*)", line)
            count = lambda m: int(np.prod([int(v) for v in m[1].split(",")])) if m else 0
            yield call[1], int((re.search(r"macs=(\d+)", line) or [0, 0])[1]), count(shape), count(operand) if "sum" in call[1] or "prod" in call[1] else 0


# Layers are fitted to inputs of the sizes that networks have: in small ones the multiply-adds are lost among what is done for each result.
LAYERS = {"conv": lambda r: [1, r.integers(6, 17), r.integers(6, 17), 8 * r.integers(1, 7)], "depthwise": lambda r: [1, r.integers(6, 17), r.integers(6, 17), 8 * r.integers(1, 9)],
          "linear": lambda r: [1, r.integers(2, 9), 16 * r.integers(2, 25)], "matmul": lambda r: [r.integers(1, 5), r.integers(8, 33), r.integers(16, 65)],
          "transposed": lambda r: [1, r.integers(4, 9), r.integers(4, 9), 8 * r.integers(1, 5)]}


def measure_tflite(arguments, isa, where):
    sys.path.insert(0, str(ROOT / "tests" / "stock"))
    import tflite_builtins
    import tflite_int16
    target, board = BOARDS[isa]
    rows = {}
    for seed in range(1, arguments.tflite + 1):
        name = tflite_int16.ALONE[seed % len(tflite_int16.ALONE)] if seed % 3 else list(LAYERS)[seed // 3 % len(LAYERS)]
        made = tflite_int16.alone(name, seed, [int(v) for v in LAYERS[name](np.random.default_rng(seed))] if name in LAYERS else None)
        if made is None:
            continue
        model, program, trace = where / "m.tflite", where / "m.pte", where / "t.etdp"
        model.write_bytes(made.b.bytes())
        done = subprocess.run([arguments.tool, "compile", model, "--target", target, "--io", "int8", "-o", program, "--intermediates", where / "graphs"],
                              capture_output=True, text=True)
        if done.returncode != 0:
            continue
        inputs = []
        for k, x in enumerate(tflite_builtins.samples(made.b, made.r)):
            np.save(where / f"in{k}.npy", x)
            inputs += ["--input", where / f"in{k}.npy"]
        subprocess.run([arguments.tool, "profile", program, *inputs, "--on", f"qemu:{board}", "-o", trace], check=True, capture_output=True)
        subprocess.run([arguments.tool, "inspect", trace, "--rows", "0", "--json", where / "t.json"], check=True, capture_output=True)
        kernels = [k for k in json.loads((where / "t.json").read_text())["kernels"] if "::" in k["name"]]
        for kernel, call in zip(sorted(kernels, key=lambda k: k["instruction"]), tflite_calls(next((where / "graphs").glob("*-fit-scratch.txt")).read_text()), strict=True):
            assert kernel["name"] == call[0], (kernel["name"], call[0])
            if "_16x8" in call[0]:
                rows.setdefault(call[0].removesuffix(".out"), []).append((*call[1:], kernel["median"]))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=ROOT / "build" / "deuteron")
    parser.add_argument("--shared", type=pathlib.Path, default=ROOT.parent / "shared")
    parser.add_argument("--tflite", type=int, default=0, help="so many random .tflite models with int16 activations")
    arguments = parser.parse_args()
    for isa in BOARDS:
        with tempfile.TemporaryDirectory() as where:
            measured = (measure_tflite if arguments.tflite else measure)(arguments, isa, pathlib.Path(where))
        for name, rows in sorted(measured.items()):
            counted = np.array([row[3] for row in rows], float)
            features = np.array([[1, *(v / 256 for v in row[:3])] for row in rows])
            scale = 1 / (counted if "conv2d_16x8" not in name else np.sqrt(counted))  # relative errors count; depthwise and dense ones have one line: their sum, too
            fitted, _ = nnls(features * scale[:, None], counted * scale)
            predicted = features @ fitted
            fields = ", ".join(f"{f} = {v:.0f}" for f, v in zip(("call", "mac", "result", "operand" if arguments.tflite else "tap"), fitted) if round(v) or f == "call")
            print(f'{isa:6s} "{name}" = {{ {fields} }}  # {len(rows)} calls, sum {100 * (predicted.sum() / counted.sum() - 1):+.1f} %, '
                  f"worst {100 * np.abs(predicted / counted - 1).max():.0f} %")


if __name__ == "__main__":
    main()
