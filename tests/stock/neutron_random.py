# SPDX-License-Identifier: Apache-2.0
"""Random networks (random_networks.py) on the NPU: no crash, no refusal without its rule, TFLite's bits, numbers near the float model, the same bits in every way.

    neutron_random.py DEUTERON NEUTRON_RUNNER [--seeds N] [--from SEED] [--seconds S] [--jobs N] [--shrink SEED] [--keep DIR]

For each seed:
- imxrt700cm takes the network or says why not, with rules and limits; imxrt700 takes it if nothing is left on the CPU, and else names what is left.
- Every partition's Neutron IR, on random numbers, gives in every mode of conversion the bits of the TFLite interpreter's reference kernels. Where docs/neutron.md lists
  an operator as an exception it may be one step off, alone, on what stands before it; everything after it is compared from there on.
- The outputs lie as near to the float model as rounding every value of the network to int8 would put them (eight_bits.py), where no error is more than doubled. So do
  those for cortex-m33.
- The program keeps its bits with int8 inputs and outputs, contiguous ones, constants fetched to SRAM, small parts or random operators kept on the CPU, and in some
  seeds on an emulated Cortex-M33.
Every third network is quantized by PT2E first. --shrink cuts a failing network down, --keep leaves its files."""
import argparse
import contextlib
import io
import json
import logging
import multiprocessing
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
import torch
from eight_bits import MARGIN_DB, inside, simulated
from partition_check import Differs, check_partition
from random_networks import SAMPLES, network_of, random_plan, smaller
from torch.export import export, save

EDGES = {"cortex_m::quantize_per_tensor", "cortex_m::dequantize_per_tensor"}
ON_BOARD_EVERY = 12
NOTHING = "[neutron.partition.empty]"  # beside a CPU a part that computes nothing stays there


class Wrong(Exception):
    """What is wrong with the compiler, in a line; `kind` says which check it failed."""

    def __init__(self, kind, what):
        super().__init__(what)
        self.kind = kind


def tool(*arguments):
    try:
        return subprocess.run([str(a) for a in arguments], capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, timeout=120)
    except subprocess.TimeoutExpired:
        raise Wrong("hang", " ".join(map(str, arguments)))


def compiled(options, *arguments):
    done = tool(options.deuteron, "compile", *arguments)
    if done.returncode not in (0, 1) or (done.returncode == 1 and "error" not in done.stderr):
        raise Wrong("crash", f"exit {done.returncode}: {done.stderr[-600:]}")
    return done


def results(options, program, inputs, where, *more):
    done = tool(options.deuteron, "run", program, *[a for p in inputs for a in ("--input", p)], "--output-dir", where, *more)
    if done.returncode:
        raise Wrong("run", f"exit {done.returncode}: {done.stderr[-600:]}")
    return [np.load(where / f"output{k}.npy") for k in range(len(list(where.glob("output*.npy"))))]


def same(first, second):
    return len(first) == len(second) and all(a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in zip(first, second))


def quantized(model, sample, samples, per_channel):
    """By PT2E with XNNPACK's quantizer, without its patterns of batch norms in training: it exports these anew for every model, which takes seconds, and no model here has one."""
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=per_channel))
    quantizer.SUPPORTED_PATTERNS = [p for p in quantizer.SUPPORTED_PATTERNS if not p.is_qat]
    prepared = prepare_pt2e(export(model, sample).module(), quantizer)
    for s in samples:
        prepared(*s)
    return convert_pt2e(prepared)


# The programs.


def decibels(found, expected):
    """The signal to noise ratio of all samples of one output."""
    a, b = np.concatenate([np.ravel(v) for v in found]).astype(np.float64), np.concatenate([np.ravel(v) for v in expected]).astype(np.float64)
    noise = float(((a - b) ** 2).sum())
    return 200.0 if noise == 0 else 10 * np.log10(max(float((b**2).sum()), 1e-30) / noise)


def near(what, outputs, expected, bound):
    for k, (found, want) in enumerate(zip(outputs, expected)):
        if found.shape != (SAMPLES, *want[0].shape) and found.shape != (SAMPLES * want[0].shape[0], *want[0].shape[1:]):
            raise Wrong("shape", f"{what}: output {k} has shape {found.shape}, the model's is {want[0].shape}")
        if not all(np.isfinite(w).all() for w in want):  # PT2E rounded what a logarithm or root is taken of to 0
            continue
        db, rounding = decibels([found], want), min(decibels(draw[k], want) for draw in bound)
        if not db >= rounding - MARGIN_DB:
            raise Wrong("far", f"{what}: output {k} has {db:.1f} dB, rounding alone {rounding:.1f}")


def refused(done, what):
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    if not any("[" in line and "]" in line for line in lines):
        raise Wrong("refusal", f"{what} without a rule: {done.stderr[:400]}")


def check(options, plan, seed, where):
    """Says in a word how it went."""
    random = np.random.default_rng(seed)
    model, sets = network_of(plan), [tuple(plan.values[v][k] for v in plan.inputs) for k in range(SAMPLES)]
    with torch.no_grad():
        as_list = lambda y: [t.numpy() for t in (y if isinstance(y, (tuple, list)) else [y])]
        pt2e = seed % 3 == 2
        if pt2e:
            try:
                model = quantized(model, sets[0], sets, seed % 2 == 0)
            except Exception as e:  # what PyTorch cannot quantize: a batch norm behind a grouped transposed convolution
                return "not quantized: " + str(e).splitlines()[0][:60]
        expected = [list(column) for column in zip(*[as_list(model(*s)) for s in sets])]
        try:
            save(export(model, sets[0]), str(where / "m.pt2"))
        except Exception as e:  # what PyTorch cannot export
            return "not exported: " + str(e).splitlines()[0][:60]
    inputs, single = [], []
    for k, v in enumerate(plan.inputs):
        np.save(where / f"x{k}.npy", np.stack([t.numpy() for t in plan.values[v]]))
        inputs.append(where / f"x{k}.npy")
    calibrate = [a for p in inputs for a in ("--calibrate", p)]
    bound = simulated(plan, options.inside)
    plain = compiled(options, where / "m.pt2", "--target", "imxrt700cm", "--prefer", "npu", *calibrate, "-o", where / "m.pte", "--json", where / "r.json", "--intermediates", where / "passes")
    if plain.returncode:
        refused(plain, "imxrt700cm refuses")
        return "refused: " + plain.stderr.splitlines()[0].split("[")[-1].split("]")[0]
    report = json.loads((where / "r.json").read_text())
    rest = [o for o in report["operators"] if o["placement"] != "npu" and o["op"] not in EDGES]
    for ir in sorted((where / "passes").glob("neutron*.ir.tflite")):
        check_partition(options.runner, ir, random)
    ours = results(options, where / "m.pte", inputs, where / "plain")
    near("imxrt700cm", ours, expected, bound)
    # The other targets.
    cpu = compiled(options, where / "m.pt2", "--target", "cortex-m33", *calibrate, "-o", where / "c.pte")
    if cpu.returncode:
        raise Wrong("refusal", "cortex-m33 refuses what imxrt700cm takes: " + cpu.stderr[:400])
    near("cortex-m33", results(options, where / "c.pte", inputs, where / "cpu"), expected, bound)
    alone = compiled(options, where / "m.pt2", "--target", "imxrt700", *calibrate, "-o", where / "a.pte")
    if alone.returncode:
        refused(alone, "imxrt700 refuses")
        if "Neutron" not in alone.stderr or (where / "a.pte").exists():
            raise Wrong("refusal", "imxrt700 does not name Neutron, or writes a program: " + alone.stderr[:400])
        if not rest:
            raise Wrong("refusal", "imxrt700 refuses what imxrt700cm has wholly on the NPU: " + alone.stderr[:400])
    elif any(NOTHING not in o["reason"] for o in rest):
        raise Wrong("refusal", f"imxrt700 takes what imxrt700cm has on the CPU: {[(o['op'], o['reason']) for o in rest]}")
    # Ways to the same bits.
    for name, more in {"contiguous": ["--io", "contiguous"], "fetch": ["--neutron-option", "fetch_constants_to_sram=true"]}.items():
        done = compiled(options, where / "m.pt2", "--target", "imxrt700cm", "--prefer", "npu", *calibrate, *more, "-o", where / "o.pte", "--json", where / "o.json")
        if done.returncode:
            raise Wrong("option", f"{name}: refused: {done.stderr[:400]}")
        found = results(options, where / "o.pte", inputs, where / name)
        near(name, found, expected, bound)
        if comparable(report, json.loads((where / "o.json").read_text())) and not same(found, ours):
            raise Wrong("option", f"{' '.join(more)}: other bits")
    in_float = is_in_float(report)
    if not in_float:
        check_int8(options, calibrate, inputs, ours, where)
    check_excluded(options, report, inputs, random, where)
    if seed % ON_BOARD_EVERY == 0 and not in_float:
        for k, p in enumerate(inputs):
            np.save(where / f"s{k}.npy", np.load(p)[0])
            single.append(where / f"s{k}.npy")
        host = results(options, where / "m.pte", single, where / "host1")
        board = results(options, where / "m.pte", single, where / "board", "--on", "qemu:mps2-an505")
        if not same(host, board):
            raise Wrong("board", "other bits on the board")
    return "npu" if not rest else "both" if report["npu_delegates"] else "cpu"


def is_in_float(report):
    return any(o["placement"] == "portable" for o in report["operators"])


def comparable(first, second):
    """What runs in float is not rounded where it meets others in float, and other ranges or biases give other numbers: the search for them sees other graphs."""
    def chosen(report):
        return sorted((q["scale"], q["zero_point"]) for q in report["quantization"])

    alike = set(chosen(first)) == set(chosen(second)) and first["quantization_policy"] == second["quantization_policy"]
    return alike and not is_in_float(first) and not is_in_float(second)


def check_int8(options, calibrate, inputs, ours, where):
    """With int8 inputs and outputs the same numbers, when the inputs are whole steps."""
    done = compiled(options, where / "m.pt2", "--target", "imxrt700cm", "--prefer", "npu", *calibrate, "--io", "int8", "-o", where / "i.pte", "--json", where / "i.json")
    if done.returncode:
        raise Wrong("option", f"--io int8: refused: {done.stderr[:400]}")
    report = json.loads((where / "i.json").read_text())
    given = []
    for k, (p, entry) in enumerate(zip(inputs, report["inputs"])):
        x = np.load(p)
        if entry["dtype"] in ("int8", "s8"):
            # As the quantize kernel: multiplied by the reciprocal in float32, halves to even.
            x = np.clip(np.rint(x * (np.float32(1) / np.float32(entry["scale"]))).astype(np.int64) + entry["zero_point"], -128, 127).astype(np.int8)
        np.save(where / f"i{k}.npy", x)
        given.append(where / f"i{k}.npy")
    found = results(options, where / "i.pte", given, where / "int8")
    for k, (y, entry, want) in enumerate(zip(found, report["outputs"], ours)):
        if y.dtype == np.int8:
            y = (y.astype(np.int32) - entry["zero_point"]).astype(np.float32) * np.float32(entry["scale"])
        if y.shape != want.shape or y.tobytes() != want.tobytes():
            off = np.abs(y - want).max() if y.shape == want.shape else "another shape"
            raise Wrong("option", f"--io int8: output {k} has other numbers: {off}, scale {entry.get('scale')}")


def check_excluded(options, report, inputs, random, where):
    """From the quantized graph, the bits do not depend on the side that computes an operator. Its constants are stand-ins, so that it has bits of its own."""
    text = next((where / "passes").glob("*-quantize.txt"), None)
    names = sorted({s.split(" (")[0] for o in report["operators"] if o["placement"] == "npu" for s in o["source"].split(", ") if "(aten." in s})
    if not names or text is None:
        return
    once = compiled(options, text, "--target", "imxrt700cm", "--prefer", "npu", "-o", where / "q.pte")
    if once.returncode:
        raise Wrong("option", f"the quantized graph is refused: {once.stderr[:400]}")
    whole = results(options, where / "q.pte", inputs, where / "whole")
    few = [n for n in names if random.random() < 0.4] or names[:1]
    for excluded in (few, names):
        done = compiled(options, text, "--target", "imxrt700cm", "--prefer", "npu", *[a for n in excluded for a in ("--layer", f"{n}=cpu")], "-o", where / "e.pte", "--json", where / "e.json")
        if done.returncode:
            raise Wrong("option", f"without {excluded}: refused: {done.stderr[:400]}")
        if is_in_float(json.loads((where / "e.json").read_text())):
            continue
        if not same(results(options, where / "e.pte", inputs, where / "excluded"), whole):
            raise Wrong("option", f"--layer {excluded} on the CPU: other bits")


def attempt(options, plan, seed, keep=None):
    """(kind, what): kind is empty when all is right. `keep` is left with what was compiled."""
    folder = pathlib.Path(keep or tempfile.mkdtemp(prefix="neutron_random"))
    folder.mkdir(exist_ok=True)
    try:
        return "", check(options, plan, seed, folder)
    except Wrong as w:
        return w.kind, str(w)
    except Differs as d:
        return "bits", str(d)
    except Exception as e:  # of PyTorch or the interpreter
        return "script", f"{type(e).__name__}: {str(e)[:400]}"
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def one(task):
    options, seed = task
    if options.seconds and time.time() - options.began > options.seconds:
        return seed, None, "", ""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    with contextlib.redirect_stderr(io.StringIO()):
        plan = random_plan(seed)
        kind, what = attempt(options, plan, seed)
    return seed, kind, what, plan.text() if kind else ""


def shrink(options, seed):
    plan = random_plan(seed)
    kind, what = attempt(options, plan, seed)
    print(f"seed {seed}: {kind}: {what}\n{plan.text()}")
    better = bool(kind)
    while better:
        better = False
        for candidate in smaller(plan):
            k, w = attempt(options, candidate, seed)
            if k == kind:
                plan, what, better = candidate, w, True
                break
    if kind:
        print(f"smallest: {kind}: {what}\n{plan.text()}")
    if kind and options.keep:
        attempt(options, plan, seed, options.keep)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("deuteron")
    p.add_argument("runner")
    p.add_argument("--seeds", type=int, default=24)
    p.add_argument("--from", type=int, default=1, dest="first")
    p.add_argument("--seconds", type=float, default=0, help="begin no further seed after so many")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--shrink", type=int)
    p.add_argument("--keep", help="a folder for the files of the shrunk network")
    options = p.parse_args()
    torch.set_num_threads(1)
    options.inside = inside(options.deuteron)
    if options.shrink is not None:
        shrink(options, options.shrink)
        return 0
    options.began, failures, tally = time.time(), 0, {}
    with multiprocessing.get_context("fork").Pool(options.jobs) as pool:
        for seed, kind, what, text in pool.imap_unordered(one, [(options, seed) for seed in range(options.first, options.first + options.seeds)]):
            if kind is None:
                continue
            tally[kind or what] = tally.get(kind or what, 0) + 1
            if kind:
                failures += 1
                print(f"WRONG seed {seed}: {kind}: {what}\n{text}", flush=True)
    print(f"{sum(tally.values())} random networks, {failures} wrong: " + ", ".join(f"{n} {what}" for what, n in sorted(tally.items(), key=lambda e: -e[1])))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
