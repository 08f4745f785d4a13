#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TFLite models through the compiler, against the interpreter of ai-edge-litert with its reference kernels, bit for bit.

    tflite_import.py DEUTERON SHARED [--seeds N] [--each N] [--first SEED] [--only NAME] [--target T] [--boards N]

1. The .tflite files of SHARED/fixtures with random inputs. 2. Every operator alone. 3. Random graphs of exact operators. 4. The same of int16 activations
(`int16.NAME`, `int16.graphs`), which run on every target of TARGETS in turn and, N of them, on every emulated board. 5. Operators of bytes
(`bytes.NAME`), of which those that TFLite rounds otherwise than int8 run on the boards too.
What is not exact has a row in BOUNDS: the largest difference in steps of the result that was measured, and how many elements in a million may differ. Everything
else must be equal.
"""
import argparse
import functools
import sys
import tempfile
from pathlib import Path

import numpy as np
import tflite_builtins
import tflite_bytes
import tflite_int16
from neutron_models import EXACT, TABLES, Random, model
from tflite_models import interpret, run, schema

kSamples = 8  # of each file
BOARDS = {"mps3-an547": "cortex-m55", "mps2-an505": "cortex-m33", "mps2-an386": "cortex-m4", "mps2-an385": "cortex-m3"}
TARGETS = list(BOARDS.values())
kMostElements = 40000

# operator: (largest difference in steps, differing elements in a million).
# sum: TFLite's other kernel is no reference. int16.real_square: three roundings to float32 move 32 768 steps by 0.008, so that 16 in 1000 lie that near a tie.
BOUNDS = {"sum": (1, 20000), "int16.real_square": (1, 16000)}
# SUM is compared with the other builtin kernels: its reference kernel gives numbers that have nothing to do with its operands.
ALONE = EXACT + ["linear", "sum"] + TABLES
INEXACT = set(BOUNDS)
CASES = {case.__name__: case for case in tflite_builtins.CASES}
# What the interpreter has kernels of uint8 for.
BYTES = ["HARD_SWISH", "LEAKY_RELU", "LOGISTIC", "QUANTIZE", "TANH", "batch_to_space", "branches", "broadcast_args", "clamp", "computed_shape", "concat", "conv",
         "depthwise", "dilated", "dilated_line", "function_of_steps", "gather_batches", "gather_nd", "l2_normalization", "linear", "lookup", "order_of_steps", "pad",
         "pair", "pool", "prelu", "reduce", "reshape", "residual", "resize", "slice", "softmax", "space_to_batch", "transpose", "transposed", "update_slice"]


class Score:
    def __init__(self):
        self.models = self.elements = self.differing = self.largest = 0
        self.refused, self.worst = {}, ""

    def add(self, name, wanted, found):
        self.models += 1
        for w, f in zip(wanted, found):
            if w.dtype != f.dtype or w.shape != f.shape:
                return "%s: %s %s instead of %s %s" % (name, f.dtype, f.shape, w.dtype, w.shape)
            if w.dtype == np.float32:
                d = (np.abs(w - f) > 1e-5 * max(1.0, float(np.abs(w).max(initial=0)))).astype(np.int64)
            else:
                d = np.abs(w.astype(np.int64) - f.astype(np.int64))
            self.elements += d.size
            self.differing += int(np.count_nonzero(d))
            if d.max(initial=0) > self.largest:
                self.largest, self.worst = int(d.max()), name
        return "wrong number of outputs" if len(wanted) != len(found) else ""

    def verdict(self, key, least=1):
        most, share = BOUNDS.get(key, (0, 0))
        good = self.models >= least and self.largest <= most and self.differing * 1e6 <= share * max(self.elements, 1) + 1e-9
        text = "%s %-20s %4d models, %8d elements" % ("ok  " if good else "FAIL", key, self.models, self.elements)
        if self.differing:
            text += ", %d differ (%.0f in a million), by up to %d (%s)" % (self.differing, self.differing * 1e6 / self.elements, self.largest, self.worst)
        for what, names in self.refused.items():
            text += "\n     %d refused: %s (%s)" % (len(names), what, names[0])
        return good, text


def alone(name, seed):
    r = Random(seed)
    if r.pick(0, 4):
        shape = [r.pick(1, 3), r.pick(4, 9), r.pick(3, 8), r.choose([1, 2, 3, 5, 8, 11, 16])]
    else:
        shape = [r.pick(2, 5), r.pick(3, 9), r.pick(2, 17)]
    r.live.append(r.b.input(shape, r.scale(), r.zero()))
    if name in TABLES:
        every, TABLES[:] = list(TABLES), [name]
        made = r.table()
        TABLES[:] = every
    elif name == "sum":
        made = r.reduce("SUM")
    else:
        made = getattr(r, name)()
    if made is None:
        return None
    r.b.output(made)
    return r


def bytes_alone(name, seed):
    r = tflite_builtins.make(CASES[name], seed) if name in CASES else alone(name, seed)
    return r and tflite_bytes.as_bytes(r)


def compare(options, name, r, score, folder):
    r.b.graph.outputs = [t for t in r.b.graph.outputs if t not in r.b.graph.inputs]  # what nobody computes is given back in float
    if not r.b.graph.outputs:
        return ""
    data = r.b.bytes()
    inputs = tflite_builtins.samples(r.b, r.r)
    try:
        wanted = r.wanted(inputs) if hasattr(r, "wanted") else interpret(data, inputs, schema.BuiltinOperator.SUM not in r.b.codes)
    except (RuntimeError, ValueError):
        return ""  # not for this interpreter
    path = folder / "model.tflite"
    path.write_bytes(data)
    # Nothing of int16 runs in float, but for what is float in the model.
    strict = ["--strict"] if name.startswith("int16.") and not name.startswith("int16.real") else []
    code, found = run(options.deuteron, path, [tflite_bytes.as_steps(x) for x in inputs], folder, options.target, options.on, strict)
    wanted = [tflite_bytes.as_steps(w) for w in wanted]
    if code:
        if code != 1 or strict:
            return "%s: exit code %d: %s" % (name, code, found)
        first = next((line for line in found.splitlines() if "error" in line), found).split("error: ")[-1]
        score.refused.setdefault(first, []).append(name)
        return ""
    fault = score.add(name, wanted, found)
    return fault and "%s: %s" % (name, fault)


def fixtures(options, folder):
    good = True
    paths = sorted(Path(options.shared).glob("fixtures/models/*/*_int8.tflite"))
    if not paths:
        print("FAIL fixtures: no fixtures/models/*/*_int8.tflite in %s" % options.shared)
    good &= bool(paths)
    for path in paths:
        data, name = path.read_bytes(), path.parent.name
        from ai_edge_litert.interpreter import Interpreter
        details = Interpreter(model_content=data).get_input_details()
        score, random = Score(), np.random.default_rng(1)
        fault = ""
        for _ in range(kSamples):
            inputs = [random.integers(-128, 128, d["shape"]).astype(d["dtype"]) for d in details]
            code, found = run(options.deuteron, path, inputs, folder, options.target)
            fault = fault or (found if code else score.add(name, interpret(data, inputs), found))
        passed, text = score.verdict(name)
        print(text if not fault else "FAIL %s: %s" % (name, fault))
        good &= passed and not fault
    return good


def rounded_bytes(seed):
    """What has kernels of its own for bytes."""
    return bytes_alone(("pool", "resize")[seed % 2], seed)


def boards(options, folder, kind, make):
    """Random graphs on every emulated board."""
    good = True
    for board, options.target in BOARDS.items():
        options.on = "qemu:" + board
        score, faults, seed = Score(), [], options.first + 1000
        while score.models < options.boards and seed < options.first + 1000 + 4 * options.boards:
            r = make(seed)
            fault = r and compare(options, "%s.boards%d" % (kind, seed), r, score, folder)
            if fault:
                faults.append(fault)
            seed += 1
        passed, text = score.verdict("%s on %s" % (kind, board), options.boards // 2)
        print(text, *faults[:3], sep="\n     ", flush=True)
        good &= passed and not faults
    return good


def main():
    p = argparse.ArgumentParser()
    p.add_argument("deuteron")
    p.add_argument("shared")
    p.add_argument("--seeds", type=int, default=200)
    p.add_argument("--each", type=int, default=16)
    p.add_argument("--first", type=int, default=1)
    p.add_argument("--only")
    p.add_argument("--target", help="default: cortex-m55, and for int16 all of %s in turn" % ", ".join(TARGETS))
    p.add_argument("--boards", type=int, default=8, help="random graphs that run on every board, of int16 and of bytes")
    options = p.parse_args()
    only_target, options.on = options.target, "host"
    options.target = options.target or "cortex-m55"
    good = True
    with tempfile.TemporaryDirectory() as d:
        folder = Path(d)
        if not options.only:
            good &= fixtures(options, folder)
        makers = {name: functools.partial(alone, name) for name in ALONE}
        makers |= {"int16." + name: functools.partial(tflite_int16.alone, name) for name in tflite_int16.ALONE}
        makers |= {"bytes." + name: functools.partial(bytes_alone, name) for name in BYTES}
        makers |= {name: functools.partial(tflite_builtins.make, case) for name, case in CASES.items()}
        for name in sorted(makers):
            if options.only not in (None, name):
                continue
            score, faults, seed = Score(), [], options.first
            while score.models + sum(map(len, score.refused.values())) < options.each and seed < options.first + 8 * options.each:
                if name.startswith("int16.") and not only_target:
                    options.target = TARGETS[seed % len(TARGETS)]
                r = makers[name](seed)
                fault = r and compare(options, "%s%d" % (name, seed), r, score, folder)
                if fault:
                    faults.append(fault)
                seed += 1
            options.target = only_target or "cortex-m55"
            passed, text = score.verdict(name, options.each // 2)
            print(text, *faults[:3], sep="\n     ", flush=True)
            good &= passed and not faults
        EXACT[:] = [name for name in EXACT if name not in INEXACT] + ["linear"]
        for key, make in (("graphs", model), ("int16.graphs", tflite_int16.model)):
            if options.only not in (None, key):
                continue
            score, faults = Score(), []
            for seed in range(options.first, options.first + options.seeds):
                if key == "int16.graphs" and not only_target:
                    options.target = TARGETS[seed % len(TARGETS)]
                fault = compare(options, "%s%d" % (key, seed), make(seed), score, folder)
                if fault:
                    faults.append(fault)
            passed, text = score.verdict(key, options.seeds // 2)
            print(text, *faults[:3], sep="\n     ", flush=True)
            good &= passed and not faults
        for kind, make in (("int16", tflite_int16.model), ("bytes", rounded_bytes)):
            if options.only in (None, kind + ".boards") and not only_target:
                good &= boards(options, folder, kind, make)
    return 0 if good else 1


sys.exit(main())
