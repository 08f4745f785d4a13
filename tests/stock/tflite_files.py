#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The models of TFLite Micro's repository against two interpreters, step by step, bit for bit.

    tflite_files.py DEUTERON FLOAT_RUNNER FOLDER [--each-board]

Every .tflite file of the folder is called STEPS times in a row, each time with random inputs. The answers are those of ai-edge-litert with its
reference kernels; where that one refuses a file or breaks on it, those of TFLite Micro's own interpreter. The programs run on the host, and on
one of the emulated boards in turn; with --each-board on all of them. Float models are compared as they are, before anything is quantized.
"""
import argparse
import multiprocessing
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from tflite_bytes import as_steps
from tflite_micro.python.tflite_micro import runtime
from tflite_models import interpret_steps, run, schema

import float_jobs

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import checks
from checks import check

STEPS = 4
ARENA = 8 << 20
BOARDS = {"cortex-m55": "mps3-an547", "cortex-m4": "mps2-an386", "cortex-m3": "mps2-an385"}
KINDS = {schema.TensorType.FLOAT32: np.float32, schema.TensorType.INT8: np.int8, schema.TensorType.UINT8: np.uint8,
         schema.TensorType.INT16: np.int16, schema.TensorType.INT32: np.int32}
FORKS = multiprocessing.get_context("fork")

# What is refused, and why: custom operators.
REFUSED = {"examples/micro_speech/models/audio_preprocessor_float.tflite": "tflite.operator.custom",
           "examples/micro_speech/models/audio_preprocessor_int8.tflite": "tflite.operator.custom"}


def micro(model, inputs):
    i = runtime.Interpreter.from_bytes(model, arena_size=ARENA)
    answers = []
    for step in inputs:
        for k, x in enumerate(step):
            i.set_input(x, k)
        i.invoke()
        answers.append([i.get_output(k).copy() for k in range(outputs_of(model))])
    return answers


def outputs_of(model):
    return schema.Model.GetRootAs(model).Subgraphs(0).OutputsLength()


def input_details(model):
    graph = schema.Model.GetRootAs(model).Subgraphs(0)
    tensors = [graph.Tensors(graph.Inputs(k)) for k in range(graph.InputsLength())]
    return [(t.ShapeAsNumpy(), KINDS[t.Type()]) for t in tensors]


def apart(function, *arguments):
    """What it returns, from a process of its own; None where it raises anything, or ends the process."""
    here, there = FORKS.Pipe(False)

    def work():
        try:
            there.send(function(*arguments))
        except Exception:
            there.send(None)

    worker = FORKS.Process(target=work)
    worker.start()
    there.close()
    try:
        return here.recv()
    except EOFError:
        return None
    finally:
        worker.join()


def some_inputs(details, seed):
    random = np.random.default_rng(seed)
    one = lambda shape, kind: (random.integers(np.iinfo(kind).min, np.iinfo(kind).max + 1, shape).astype(kind)  # noqa: E731
                               if np.issubdtype(kind, np.integer) else random.standard_normal(shape).astype(kind))
    return [[one(*d) for d in details] for _ in range(STEPS)]


def compare(tool, path, name, wanted, inputs, folder, boards):
    """How many elements were compared, on the host."""
    count = 0
    for on, target in [("host", "cortex-m55")] + [("qemu:" + BOARDS[t], t) for t in boards]:
        code, found = run(tool, path, [as_steps(np.stack(x)) for x in zip(*inputs)], folder, target, on)
        if not check(code == 0, f"{name} on {on}: {found}"):
            return count
        for k, y in enumerate(found):
            all_steps = as_steps(np.stack([step[k] for step in wanted]))
            same = y.dtype == all_steps.dtype and y.size == all_steps.size
            differing = int((y.ravel() != all_steps.ravel()).sum()) if same else y.size
            check(same and not differing, f"{name} on {on}: {differing} of {y.size} elements of output {k} differ, {y.dtype} and {all_steps.dtype}")
            count += y.size if on == "host" else 0
    return count


def floats(runner, models, folder):
    jobs = []
    for name, path, inputs, _ in models:
        place = folder / name.replace("/", "_")
        place.mkdir()
        for k, x in enumerate(inputs[0]):
            np.save(place / f"in{k}.npy", x)
        jobs.append((name, path, place))
    for (name, _, _, wanted), (_, _, place), answer in zip(models, jobs, float_jobs.answers_of(runner, jobs)):
        if not check(answer == "ok", f"{name}: {answer}"):
            continue
        for k, y in enumerate(wanted[0]):
            largest = np.abs(np.load(place / f"out{k}.npy").ravel() - y.ravel()).max()
            check(largest <= 1e-5 * max(1, np.abs(y).max()), f"{name}: output {k} differs by {largest:g}")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("deuteron")
    p.add_argument("float_runner")
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--each-board", action="store_true")
    options = p.parse_args()
    files = sorted(options.folder.rglob("*.tflite"))
    check(files, f"there are models in {options.folder}")
    by, elements, real, apart_from = {"LiteRT": [], "TFLite Micro": []}, 0, [], []
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        for at, path in enumerate(files):
            name, model = path.relative_to(options.folder).as_posix(), path.read_bytes()
            if name in REFUSED:
                said = subprocess.run([options.deuteron, "analyze", path, "--target", "cortex-m55"], capture_output=True, text=True)
                check(said.returncode == 1 and REFUSED[name] in said.stderr, f"{name} is refused by {REFUSED[name]}: {said.stderr}")
                continue
            inputs = some_inputs(input_details(model), at)
            answers = {"LiteRT": apart(interpret_steps, model, inputs), "TFLite Micro": apart(micro, model, inputs)}
            witness = next((w for w in answers if answers[w]), None)
            if not check(witness, f"{name}: an interpreter runs it"):
                continue
            by[witness].append(name)
            if all(answers.values()) and any((a != b).any() for one, other in zip(*answers.values()) for a, b in zip(one, other) if a.dtype.kind != "f"):
                apart_from.append(name)
            wanted = answers[witness]
            if all(x.dtype.kind == "f" for x in inputs[0]):
                real.append((name, path, inputs, wanted))
                continue
            targets = list(BOARDS)
            elements += compare(options.deuteron, path, name, wanted, inputs, folder, targets if options.each_board else [targets[at % len(targets)]])
        floats(options.float_runner, real, folder)
    print(f"answers of LiteRT: {len(by['LiteRT'])} models; of TFLite Micro: {', '.join(by['TFLite Micro'])}")
    print(f"TFLite Micro gives other bits than LiteRT for {len(apart_from)} models: {', '.join(apart_from)}")
    print(f"{len(real)} models are float; {elements} elements of the others compared on the host; {len(REFUSED)} are refused by custom operators")
    print(f"tflite files: {checks.verdict()}")
    return checks.failed != 0


if __name__ == "__main__":
    sys.exit(main())
