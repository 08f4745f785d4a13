# SPDX-License-Identifier: Apache-2.0
"""Accuracy on samples that calibration has not seen: ours, plain histogram ranges, and PT2E, on the same random splits.

    build/venv/bin/python bench/held_out.py --int16 | --int16-layer NAME .. [--splits 8]
    build/venv/bin/python bench/held_out.py --mixed 10% | --target-db X [--orders 8 | --splits 8]
    build/venv/bin/python bench/held_out.py [--tool build/deuteron] [--shared ../shared] [--orders 8 | --splits 8 | --folds 3] [--samples N] [--models A,B] [--no-pt2e]

Two thirds of a model's samples calibrate, the rest is held out. The samples are put into a random order, and each third of it is held out once; so many --orders. With --splits each
split is drawn by itself (two thirds, or N samples), with --folds each Nth sample is held out once. Figures are signal to noise against the float model in dB, of all held-out samples
together, mean over the splits. `estimate` is what `compile` says beforehand (held_out_sqnr_db), `off` how far its mean is from the truth, and the standard error of that, from one
order to the next; `within`: splits whose truth lies between what it says of halves of the samples.

Why each sample is held out as often as any other: few samples hold most of the noise. Of splits drawn one by one, eight leave a sample out of 24 in calibration every time once in
26 times; resnet8's worst one was such. It is then part of every estimate and of no truth.
 --int16 prints int8, int16 and the gain instead,
held out, of four models; --int16-layer the same for some layers in int16; --mixed and --target-db for layers that the compiler chooses, with the instructions that it predicts. PT2E is ExecuTorch's CortexMQuantizer, simulated in PyTorch. A `!` marks a row under PT2E or plain ranges.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODELS = ["resnet8", "dscnn_kws", "mobilenet_v1_025_vww", "autoencoder_ad", "cifarnet", "digits_cnn", "digits_bmm", "hello_sine", "mnist_lstm"]
PLAIN = ["--observer", "histogram"]


def sqnr(expected, got):
    noise = float(((expected - got) ** 2).sum())
    return 200.0 if noise == 0 else 10 * float(np.log10(float((expected**2).sum()) / noise))


class Model:
    def __init__(self, folder):
        self.folder = folder
        shape = json.loads((folder / "model.json").read_text())["inputs"][0]["shape"]
        self.x = np.stack([np.fromfile(f, "<f4").reshape(shape) for f in sorted((folder / "inputs").glob("*.bin"))])
        self.y = np.stack([np.fromfile(f, "<f4") for f in sorted((folder / "expected").glob("*.bin"))])

    def thirds(self, seed):
        """Each third of a random order is held out once."""
        order = list(range(len(self.x)))
        random.Random(1000 + seed).shuffle(order)
        return [(sorted(k for i, k in enumerate(order) if i % 3 != third), sorted(order[third::3])) for third in range(3)]

    def splits(self, arguments):
        if arguments.folds or arguments.splits or arguments.samples:
            return [self.split(k, arguments.samples, arguments.folds) for k in range(arguments.folds or arguments.splits or 8)]
        return [split for seed in range(arguments.orders) for split in self.thirds(seed)]

    def split(self, seed, samples, folds=0):
        if folds:
            return [[k for k in range(len(self.x)) if (k % folds == seed) == held] for held in (False, True)]
        order = list(range(len(self.x)))
        random.Random(1000 + seed).shuffle(order)
        count = min(samples or round(len(order) * 2 / 3), len(order) - 1)
        return sorted(order[:count]), sorted(order[count:])


def ours(tool, model, split, options):
    """held out, in-sample, estimate, whether held out is between what a tenth of the halves is under and over"""
    calibrate, held = split
    with tempfile.TemporaryDirectory() as where:
        where = pathlib.Path(where)
        np.save(where / "calibrate.npy", model.x[calibrate])
        np.save(where / "held.npy", model.x[held])
        subprocess.run([tool, "compile", model.folder / "float.pt2", "--target", "cortex-m55", "--calibrate", where / "calibrate.npy",
                        "-o", where / "m.pte", "--json", where / "m.json", *options], check=True, capture_output=True)
        subprocess.run([tool, "run", where / "m.pte", "--input", where / "held.npy", "--output-dir", where / "out"], check=True, capture_output=True)
        report = json.loads((where / "m.json").read_text())
        got = np.load(where / "out" / "output0.npy").reshape(len(held), -1)
    truth, halves = sqnr(model.y[held], got), report.get("held_out_sqnr_db_of_halves")
    return truth, report["sqnr_db"], report.get("held_out_sqnr_db"), None if halves is None else halves[0] <= truth <= halves[1]


def simulate_pt2e(program, quantizer, calibrate, held):
    """What PT2E answers to each sample of held, simulated in PyTorch; a sample is a list of arrays, one for each input."""
    import torch
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    def tensors(sample):
        inputs = [torch.from_numpy(x) for x in sample]
        return [x.to(memory_format=torch.channels_last) if x.dim() == 4 else x for x in inputs]
    with torch.no_grad():
        prepared = prepare_pt2e(program.module(check_guards=False), quantizer)
        for sample in calibrate:
            prepared(*tensors(sample))
        converted = convert_pt2e(prepared)
        return [converted(*tensors(sample)) for sample in held]


def pt2e(model, split):
    from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer
    from torch.export import load
    calibrate, held = ([[model.x[k]] for k in part] for part in split)
    got = simulate_pt2e(load(str(model.folder / "float.pt2")), CortexMQuantizer(), calibrate, held)
    return sqnr(model.y[split[1]], np.stack([y.numpy().reshape(-1) for y in got]))


def instructions(tool, model, options):
    """What the compiler predicts of a program, all samples in its calibration."""
    with tempfile.TemporaryDirectory() as where:
        where = pathlib.Path(where)
        np.save(where / "calibrate.npy", model.x)
        subprocess.run([tool, "compile", model.folder / "float.pt2", "--target", "cortex-m55", "--calibrate", where / "calibrate.npy",
                        "-o", where / "m.pte", "--json", where / "m.json", *options], check=True, capture_output=True)
        return json.loads((where / "m.json").read_text())["cycles"]["cpu"]


def int16(arguments):
    kind = "int16" if arguments.int16 else "some layers int16" if arguments.int16_layer else "mixed"
    wider = ["--precision", kind] if kind != "some layers int16" else [w for name in arguments.int16_layer for w in ("--layer", f"{name}=int16")]
    limits = []
    if arguments.mixed:
        limits.append(f"cost={arguments.mixed}")
    if arguments.target_db:
        limits.append(f"db={arguments.target_db}")
    if limits:
        wider[1] += ":" + ",".join(limits)
    print(f"| model | int8 | {kind} | gain | instructions |\n| --- | --- | --- | --- | --- |")
    for name in MODELS[:4] if arguments.models == ",".join(MODELS) else arguments.models.split(","):
        model = Model(arguments.shared / "fixtures" / "models" / name)
        splits = model.splits(arguments)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            narrow, wide = (list(pool.map(lambda s: ours(arguments.tool, model, s, options)[0], splits)) for options in ([], wider))
        gain = [b - a for a, b in zip(narrow, wide)]
        more = instructions(arguments.tool, model, wider) / instructions(arguments.tool, model, []) - 1
        print(f"| {name} | {np.mean(narrow):.1f} | {np.mean(wide):.1f} | {np.mean(gain):+.1f} (at least {min(gain):+.1f}) | {100 * more:+.1f} % |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=ROOT / "build" / "deuteron")
    parser.add_argument("--shared", type=pathlib.Path, default=ROOT.parent / "shared")
    parser.add_argument("--orders", type=int, default=8)
    parser.add_argument("--splits", type=int, default=0)
    parser.add_argument("--folds", type=int, default=0)
    parser.add_argument("--samples", type=int, default=0)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--no-pt2e", action="store_true")
    parser.add_argument("--int16", action="store_true")
    parser.add_argument("--int16-layer", action="append", default=[])
    parser.add_argument("--mixed", metavar="PERCENT")
    parser.add_argument("--target-db", metavar="X")
    arguments = parser.parse_args()
    if arguments.int16 or arguments.int16_layer or arguments.mixed or arguments.target_db:
        if not (arguments.mixed or arguments.target_db):
            arguments.splits = arguments.splits or 8
        return int16(arguments)
    print("| model | held out | plain histogram | PT2E | in-sample | estimate | off | within |\n| --- | --- | --- | --- | --- | --- | --- | --- |")
    means = []
    for name in arguments.models.split(","):
        model = Model(arguments.shared / "fixtures" / "models" / name)
        splits = model.splits(arguments)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            full = list(pool.map(lambda s: ours(arguments.tool, model, s, []), splits))
            plain = list(pool.map(lambda s: ours(arguments.tool, model, s, PLAIN), splits))
        stock = [] if arguments.no_pt2e else [pt2e(model, s) for s in splits]
        held, inside = (float(np.mean([r[k] for r in full])) for k in (0, 1))
        guess = float(np.mean([np.nan if r[2] is None else r[2] for r in full]))
        off = [(np.nan if r[2] is None else r[2]) - r[0] for r in full]
        rounds = np.array(off).reshape(-1, 3 if len(off) == 3 * arguments.orders else 1).mean(axis=1)
        error = float(np.std(rounds, ddof=1)) / len(rounds) ** 0.5 if len(rounds) > 1 else float("nan")
        within = f"{sum(bool(r[3]) for r in full)} of {len(full)}"
        simple, other = float(np.mean([r[0] for r in plain])), float(np.mean(stock)) if stock else float("nan")
        means.append((held, simple, other))
        worse = " !" if held < simple - 0.005 or held < other - 0.005 else ""
        print(f"| {name} | {held:.2f}{worse} | {simple:.2f} | {other:.2f} | {inside:.2f} | {guess:.2f} | {guess - held:+.2f} ± {error:.2f} | {within} |", flush=True)
    held, simple, other = np.mean(means, axis=0)
    print(f"| mean | {held:.2f} | {simple:.2f} | {other:.2f} | | | | |")


if __name__ == "__main__":
    main()
