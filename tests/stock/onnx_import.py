#!/usr/bin/env python3
"""ONNX models through the import, in float against ONNX Runtime, and as programs against those of the same model as .pt2.

    onnx_import.py DEUTERON ONNX_RUNNER SHARED [--only NAME]

1. The float models of SHARED/fixtures, exported by both of torch's exporters: float results within 1e-5 of the range of ONNX Runtime's; the program for a
   Cortex-M55 has the RAM and the multiply-adds of the .pt2's, and 2 % more or less of its instructions.
2. The node tests of the standard (onnx.backend.test), for every operator that is imported, with their own tolerances. What is refused is counted by rule: a
   refusal is an answer, a wrong number is none. FEWEST are those that have to pass.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy as np

RANGE = 1e-5
FEWEST = 560
# Cases whose numbers differ, with the reason.
KNOWN = {"test_dynamicquantizelinear": "values are taken as they are (docs/formats-onnx.md)",
         "test_gather_elements_negative_indices": "computed positions are not counted from the end, as in torch",
         "test_scatter_elements_with_negative_indices": "computed positions are not counted from the end, as in torch",
         "test_l2normalization_axis_0": "0 / 0",
         "test_attention_4d_gqa_with_past_and_present_fp16_expanded": "computed in float32, expected in float16",
         "test_attention_4d_with_past_and_present_qk_matmul_bias": "minus infinity in a result is -1e30"}


def close(wanted, found, rtol, atol):
    wanted = np.asarray(wanted)
    if wanted.shape != found.shape:
        return "shape %s instead of %s" % (found.shape, wanted.shape)
    if np.allclose(wanted.astype(np.float64), found.astype(np.float64), rtol=rtol, atol=atol, equal_nan=True):
        return ""
    return "differs by up to %g" % np.nanmax(np.abs(wanted.astype(np.float64) - found))


class Runner:
    """Jobs for the runner, all in one process."""

    def __init__(self, path, folder):
        self.path, self.folder, self.jobs = path, folder, []

    def add(self, model, inputs, name):
        place = self.folder / ("job%d" % len(self.jobs))
        place.mkdir()
        (place / "model.onnx").write_bytes(model)
        for k, x in enumerate(inputs):
            np.save(place / ("in%d.npy" % k), np.ascontiguousarray(x))
        self.jobs.append((name, place))
        return place

    def run(self):
        lines = "".join("%s %s\n" % (place / "model.onnx", place) for _, place in self.jobs)
        done = subprocess.run([self.path], input=lines, capture_output=True, text=True)
        answers = done.stdout.splitlines()
        if done.returncode or len(answers) != len(self.jobs):
            name = self.jobs[len(answers)][0] if len(answers) < len(self.jobs) else "the end"
            sys.exit("FAIL the runner ended at %s with code %d: %s" % (name, done.returncode, done.stderr[-2000:]))
        return answers


def outputs_of(place, count):
    return [np.load(place / ("out%d.npy" % k)) for k in range(count)]


def exported(program, dynamo, path):
    import torch
    warnings.filterwarnings("ignore")
    if dynamo:
        torch.onnx.export(program, program.example_inputs[0], str(path), dynamo=True, external_data=False, verbose=False)
        return
    module = program.module()
    module.train = module.eval = lambda mode=True: module  # what torch.export makes has neither
    torch.onnx.export(module, program.example_inputs[0], str(path), dynamo=False, verbose=False, opset_version=17, training=torch.onnx.TrainingMode.PRESERVE)


def figures(tool, model, folder):
    done = subprocess.run([tool, "analyze", model, "--target", "cortex-m55", "--json", folder / "figures.json"], capture_output=True, text=True)
    if done.returncode:
        return done.stderr
    report = json.loads((folder / "figures.json").read_text())
    return {key: report[key] for key in ("ram_bytes", "macs", "constants_bytes", "cycles") if key in report}


def fixtures(options, folder):
    import onnxruntime
    import torch
    good, programs = True, sorted(pathlib.Path(options.shared).glob("fixtures/models/*/float.pt2"))
    runner, wanted, models = Runner(options.runner, folder), [], []
    for path in programs:
        program = torch.export.load(path)
        for dynamo in (True, False):
            made = folder / ("%s.%s.onnx" % (path.parent.name, "dynamo" if dynamo else "script"))
            exported(program, dynamo, made)
            session = onnxruntime.InferenceSession(str(made))
            inputs = [np.random.default_rng(1).normal(size=i.shape).astype(np.float32) for i in session.get_inputs()]
            wanted.append(session.run(None, {i.name: x for i, x in zip(session.get_inputs(), inputs)}))
            place = runner.add(made.read_bytes(), inputs, made.stem)
            models.append((made, path, place))
    for answer, expected, (made, path, place) in zip(runner.run(), wanted, models):
        fault = "" if answer == "ok" else answer
        for w, f in zip(expected, outputs_of(place, len(expected)) if answer == "ok" else []):
            fault = fault or close(w, f, 0, RANGE * max(float(np.ptp(w)), float(np.abs(w).max()), 1e-9))
        one, other = figures(options.deuteron, made, folder), figures(options.deuteron, path, folder)
        if not fault and (isinstance(one, str) or one["ram_bytes"] != other["ram_bytes"] or one["macs"] != other["macs"]
                          or abs(one.get("cycles", 0) - other.get("cycles", 0)) > 0.02 * other.get("cycles", 0)):
            fault = "%s; the .pt2 %s" % (one, other)
        print("%s %s %s" % ("FAIL" if fault else "ok  ", made.stem, fault or one))
        good &= not fault
    if not programs:
        print("FAIL no float.pt2 in %s/fixtures/models" % options.shared)
    return good and bool(programs)


def node_tests(options, folder):
    from onnx.backend.test.case.node import collect_testcases
    warnings.filterwarnings("ignore")
    runner, cases = Runner(options.runner, folder), []
    for case in collect_testcases(None):
        if options.only and options.only not in case.name:
            continue
        inputs, outputs = case.data_sets[0]
        if any(not isinstance(x, (np.ndarray, np.generic)) for x in list(inputs) + list(outputs)):
            continue  # sequences and options
        if any(np.asarray(x).dtype.kind not in "fiub" for x in inputs):
            continue  # types that NumPy's files do not have
        try:
            runner.add(case.model.SerializeToString(), [np.asarray(x) for x in inputs if np.asarray(x).dtype != object], case.name)
        except (TypeError, ValueError):
            continue
        cases.append((case, outputs))
    good, passed, differing, refused, faults = True, 0, 0, collections.defaultdict(list), []
    for answer, (case, outputs), (_, place) in zip(runner.run(), cases, runner.jobs):
        if answer.startswith("refused"):
            refused[answer.split("]")[0].split("[")[-1]].append((case.name, answer))
            continue
        fault = "" if answer == "ok" else answer
        try:
            for w, f in zip(outputs, outputs_of(place, len(outputs)) if answer == "ok" else []):
                fault = fault or close(w, f, case.rtol, case.atol)
        except (OSError, ValueError, TypeError) as e:
            fault = str(e)
        if fault and any(case.name.startswith(known) for known in KNOWN):
            differing += 1
        elif fault:
            faults.append("%s: %s" % (case.name, fault))
        else:
            passed += 1
    for rule, names in sorted(refused.items(), key=lambda r: -len(r[1])):
        print("     %4d refused by %s: %s" % (len(names), rule, names[0][0]))
    for fault in faults:
        print("FAIL " + fault)
    good = not faults and (bool(options.only) or passed >= FEWEST)
    print("%s %d node tests pass, %d are refused, %d differ as KNOWN says, %d are wrong" % ("ok  " if good else "FAIL", passed, sum(map(len, refused.values())), differing, len(faults)))
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("deuteron")
    parser.add_argument("runner")
    parser.add_argument("shared")
    parser.add_argument("--only")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        nodes = pathlib.Path(folder) / "nodes"
        nodes.mkdir()
        good = node_tests(options, nodes)
        models = pathlib.Path(folder) / "models"
        models.mkdir()
        if not options.only:
            good &= fixtures(options, models)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
