#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What litert-torch and ai-edge-quantizer write (litert_make.py), against the interpreter of ai-edge-litert with its reference kernels.

    litert_files.py DEUTERON FLOAT_RUNNER FOLDER

Float models, with constants of any type, are computed in float on both sides. A hybrid layer rounds its operand in TFLite, so those files are
compared with the ones whose weights are dequantized, which mean the same. Files with steps are compared bit for bit. In some the quantizer leaves
operators in float, between DEQUANTIZE and QUANTIZE: in int8 those may be a step off here, and what reads them two.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from tflite_files import apart, float_jobs, input_details
from tflite_models import interpret_steps, run, schema

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import checks
from checks import check

SAMPLES = 4
FLOAT_FORMS = ["float", "half", "weight8", "weight4", "hybrid8"]

# What is refused, and why. LiteRT has no kernel of STABLEHLO_SORT either.
REFUSED = {"largest": "tflite.operator.unknown", "sorted_rows": "tflite.operator.unknown"}


def some_inputs(path, seed):
    random = np.random.default_rng(seed)
    one = lambda shape, kind: (random.integers(0, 20, shape).astype(kind) if kind in (np.int32, np.int64)  # noqa: E731
                               else random.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, shape).astype(kind)
                               if np.issubdtype(kind, np.integer) else random.standard_normal(shape).astype(kind))
    return [[one(*d) for d in input_details(path.read_bytes())] for _ in range(SAMPLES)]


def answers_of(path, inputs):
    """Nothing where the interpreter has no kernel. Its reference SUM gives numbers that have nothing to do with its operands."""
    return apart(interpret_steps, path.read_bytes(), inputs, not has_builtin(path, "SUM"))


def graph_of(path):
    model = schema.ModelT.InitFromPackedBuf(path.read_bytes())
    return model, model.subgraphs[0]


def has_builtin(path, name):
    return any(c.builtinCode == getattr(schema.BuiltinOperator, name) for c in graph_of(path)[0].operatorCodes)


def computes_in_float(path):
    model, graph = graph_of(path)
    return any(t.type == schema.TensorType.FLOAT32 and model.buffers[t.buffer].data is None for t in graph.tensors)


def refusal(tool, path):
    said = subprocess.run([tool, "analyze", path, "--target", "cortex-m55"], capture_output=True, text=True)
    return said.returncode, said.stderr


def compare_floats(runner, folder, files):
    jobs, wanted = [], []
    for path in files:
        name = f"{path.parent.name}/{path.stem}"
        witness = path.parent.parent / "weight8" / path.name if path.parent.name == "hybrid8" else path
        inputs = some_inputs(path, len(jobs))
        answers = answers_of(witness, inputs[:1])
        place = folder / name.replace("/", "_")
        place.mkdir()
        for k, x in enumerate(inputs[0]):
            np.save(place / f"in{k}.npy", x)
        jobs.append((name, path, place))
        wanted.append(answers)
    compared = 0
    for (name, _, place), answers, said in zip(jobs, wanted, float_jobs.answers_of(runner, jobs)):
        if not check(said == "ok", f"{name}: {said}") or not answers:
            continue
        compared += 1
        for k, y in enumerate(answers[0]):
            found = np.load(place / f"out{k}.npy").ravel()
            largest = np.abs(found - y.ravel()).max()
            check(largest <= 2e-5 * max(1, np.abs(y).max()), f"{name}: output {k} differs by {largest:g} of {np.abs(y).max():g}")
    return compared


def compare_steps(tool, folder, files):
    compared = elements = 0
    for at, path in enumerate(files):
        name = f"{path.parent.name}/{path.stem}"
        inputs = some_inputs(path, at)
        answers = answers_of(path, inputs)
        code, found = run(tool, path, [np.stack(x) for x in zip(*inputs)], folder, "cortex-m55")
        if not check(code == 0, f"{name}: {found}") or not answers:
            continue
        compared += 1
        for k, y in enumerate(found):
            wanted = np.stack([step[k] for step in answers])
            position = y.dtype == np.int64 and wanted.dtype == np.int32
            if not check(y.size == wanted.size and (position or y.dtype == wanted.dtype), f"{name}: output {k} is {y.dtype}{y.shape}, not {wanted.dtype}{wanted.shape}"):
                continue
            apart_by = np.abs(y.ravel().astype(np.int64) - wanted.ravel().astype(np.int64))
            elements += y.size
            check(apart_by.max() <= 2 * computes_in_float(path), f"{name}: {(apart_by > 0).sum()} of {y.size} elements of output {k} differ, by up to {apart_by.max()}")
    return compared, elements


def main():
    p = argparse.ArgumentParser()
    p.add_argument("deuteron")
    p.add_argument("float_runner")
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--only")
    options = p.parse_args()
    files = [f for f in sorted(options.folder.rglob("*.tflite")) if not options.only or options.only in str(f)]
    check(files, f"there are models in {options.folder}")
    for path in [f for f in files if f.stem in REFUSED]:
        code, said = refusal(options.deuteron, path)
        check(code == 1 and REFUSED[path.stem] in said, f"{path.parent.name}/{path.stem} is refused by {REFUSED[path.stem]}: {said}")
    files = [f for f in files if f.stem not in REFUSED]
    with tempfile.TemporaryDirectory() as place:
        real = [f for f in files if f.parent.name in FLOAT_FORMS]
        floats = compare_floats(options.float_runner, pathlib.Path(place), real)
        steps, elements = compare_steps(options.deuteron, pathlib.Path(place), [f for f in files if f not in real])
    print(f"{floats} of {len(real)} models compared in float; {steps} on steps, {elements} elements")
    print(f"litert files: {checks.verdict()}")
    return checks.failed != 0


if __name__ == "__main__":
    sys.exit(main())
