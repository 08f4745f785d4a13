#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ONNX models through the import, in float against ONNX Runtime, and as programs against those of the same model as .pt2.

    onnx_import.py DEUTERON ONNX_RUNNER SHARED [--only NAME] [--write]

1. The float models of SHARED/fixtures, exported by both of torch's exporters: float results within 1e-5 of the range of ONNX Runtime's; the program for a
   Cortex-M55 has the RAM and the multiply-adds of the .pt2's, and 2 % more or less of its instructions.
2. The node tests of the standard (onnx.backend.test), with their own tolerances. Each that gives axes, shapes, scales or weights as inputs of the model runs
   twice: as it is, and with these as constants (NAME.constants). What is refused is counted by rule: a refusal is an answer, a wrong number is none. Those
   that pass are recorded in onnx_passing.txt: one that no longer does fails by its name. --write records them anew.

Without the packages of tests/stock/requirements-onnx.txt (./dev test installs them) it says so and exits with 77.
"""
import argparse
import collections
import json
import logging
import pathlib
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
    import onnx
    import onnxruntime
except ImportError as missing:
    print("left out: ONNX models: %s; ./dev test installs the packages of tests/stock/requirements-onnx.txt" % missing)
    sys.exit(77)

import float_jobs

RANGE = 1e-5
PASSING = pathlib.Path(__file__).with_name("onnx_passing.txt")
# Cases whose numbers differ, by their whole names, with the reason.
MINUS_INFINITY = "a result is -inf where we have -1e30: constants of -inf are read as that, as those of a .pt2 are"
IN_FLOAT32 = "computed in float32, expected as float16 rounds it in each step: one element of 576 by 0.1006 % instead of 0.1 %"
ROUNDED = "sums of ten terms up to 10 that cancel, in float32; expected in double, and asked for within 1e-7 of 0"
KNOWN = {"test_attention_4d_with_past_and_present_qk_matmul_bias_3d_mask_causal_expanded": MINUS_INFINITY,
         "test_attention_4d_with_past_and_present_qk_matmul_bias_4d_mask_causal_expanded": MINUS_INFINITY,
         "test_attention_4d_gqa_with_past_and_present_fp16": IN_FLOAT32,
         "test_attention_4d_gqa_with_past_and_present_fp16.constants": IN_FLOAT32,
         "test_attention_4d_gqa_with_past_and_present_fp16_expanded": IN_FLOAT32,
         "test_dft_inverse.constants": ROUNDED, "test_dft_inverse_opset19": ROUNDED,
         "test_quantizelinear.constants": "an output of steps is the real numbers that they stand for (docs/formats.md)"}
# Operands that the import wants as constants, by their names in the standard.
PARAMETERS = {"axes", "axis", "B", "bias", "block_shape", "constant_value", "depth", "dft_length", "diagonal", "ends", "frame_length", "frame_step",
              "image_shape", "input_mean", "input_var", "k", "K", "limit", "lower_edge_hertz", "M", "max", "mean", "min", "nonpad_kv_seqlen", "num_mel_bins",
              "output_shape", "pads", "R", "ratio", "repeats", "roi", "sample_rate", "scale", "scales", "sequence_lens", "shape", "size", "sizes", "slope",
              "split", "start", "starts", "delta", "steps", "training_mode", "upper_edge_hertz", "values", "var", "W", "w", "weight", "window", "w_scale",
              "w_zero_point", "x_scale", "x_zero_point", "y_scale", "y_zero_point", "a_scale", "a_zero_point", "b_scale", "b_zero_point", "zero_point"}
OF_OPERATORS = {("Compress", "condition"), ("ConstantOfShape", "input"), ("GatherND", "indices"), ("ScatterElements", "indices"), ("ScatterND", "indices"),
                ("DequantizeLinear", "x"), ("QLinearMatMul", "a"), ("QLinearMatMul", "b"), ("QLinearConv", "x")}
BINARY = {"Add", "Sub", "Mul", "Div", "And", "Or", "Xor", "Pow", "Mod", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "MatMul", "Gemm", "PRelu",
          "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitShift"}  # whose B is an operand as good as A


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
        return float_jobs.answers_of(self.path, [(name, place / "model.onnx", place) for name, place in self.jobs])


def outputs_of(place, count):
    return [np.load(place / ("out%d.npy" % k)) for k in range(count)]


def exported(program, dynamo, path):
    import torch
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
    return {"ram": report["ram_bytes"], "macs": report["macs"], "cycles": report["cycles"]["total"]}


def fixtures(options, folder):
    import torch
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)  # of the exporter: packages that it does without
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
        if not fault and (isinstance(one, str) or one["ram"] != other["ram"] or one["macs"] != other["macs"]
                          or abs(one["cycles"] - other["cycles"]) > 0.02 * other["cycles"]):
            fault = "%s; the .pt2 %s" % (one, other)
        print("%s %s %s" % ("FAIL" if fault else "ok  ", made.stem, fault or one))
        good &= not fault
    if not programs:
        print("FAIL no float.pt2 in %s/fixtures/models" % options.shared)
    return good and bool(programs)


def parameters_of(model):
    """Inputs of the model that an operator of it takes as a parameter."""
    given, names = {i.name for i in model.graph.input}, set()
    versions = {o.domain: o.version for o in model.opset_import}
    for node in model.graph.node:
        try:
            formal = onnx.defs.get_schema(node.op_type, versions.get(node.domain, 1), node.domain).inputs
        except onnx.defs.SchemaError:
            continue
        for k, name in enumerate(node.input):
            what = formal[min(k, len(formal) - 1)].name if formal else ""
            wanted = what in PARAMETERS and not (node.op_type in BINARY and what == "B") or (node.op_type, what) in OF_OPERATORS
            if name in given and wanted:
                names.add(name)
    return names


def with_constants(model, inputs, names):
    """The model with those inputs as initializers, and the inputs that are left. Nothing: a value has no form as one."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    left = []
    for port, x in zip(model.graph.input, inputs):
        if port.name in names:
            made.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(x), port.name))
        else:
            left.append(x)
    kept = [i for i in made.graph.input if i.name not in names]
    del made.graph.input[:]
    made.graph.input.extend(kept)
    return made, left


def node_jobs(options, runner):
    """(name, case, expected outputs), and how many cases are no test of tensors."""
    from onnx.backend.test.case.node import collect_testcases
    jobs, left_out = [], collections.Counter()
    for case in collect_testcases(None):
        if options.only and options.only not in case.name:
            continue
        inputs, outputs = case.data_sets[0]
        if any(not isinstance(x, (np.ndarray, np.generic)) for x in list(inputs) + list(outputs)):
            left_out["have sequences or optional values"] += 1
            continue
        names = parameters_of(case.model)
        forms = [(case.name, case.model, inputs)]
        if names:
            forms.append((case.name + ".constants", *with_constants(case.model, inputs, names)))
        for name, model, given in forms:
            if any(np.asarray(x).dtype.kind not in "fiub" for x in given):
                left_out["have inputs of types that .npy files do not have"] += 1
                continue
            runner.add(model.SerializeToString(), [np.asarray(x) for x in given], name)
            jobs.append((name, case, outputs))
    return jobs, left_out


def outcome_of(answer, case, outputs, place):
    if answer != "ok":
        return answer
    try:
        faults = [close(w, f, case.rtol, case.atol) for w, f in zip(outputs, outputs_of(place, len(outputs)))]
    except (OSError, ValueError, TypeError) as e:
        return str(e)
    return next((f for f in faults if f), "")


def refusals(refused):
    """A table: rule, how many, and the operators."""
    print("     refused by rule, each with the operators of the tests")
    for rule, cases in sorted(refused.items(), key=lambda r: (-len(r[1]), r[0])):
        uses = collections.Counter(case.model.graph.node[0].op_type if len(case.model.graph.node) == 1 else "(written out)" for case in cases)
        print("     %5d  %-26s %s" % (len(cases), rule, ", ".join("%s %d" % u for u in uses.most_common(6)) + (", .." if len(uses) > 6 else "")))


def node_tests(options, folder):
    warnings.filterwarnings("ignore")
    runner = Runner(options.runner, folder)
    jobs, left_out = node_jobs(options, runner)
    passing, refused, outcomes = [], collections.defaultdict(list), {}
    for answer, (name, case, outputs), (_, place) in zip(runner.run(), jobs, runner.jobs):
        outcomes[name] = outcome_of(answer, case, outputs, place)
        if answer.startswith("refused"):
            refused[answer.split("]")[0].split("[")[-1]].append(case)
        elif not outcomes[name]:
            passing.append(name)
    differing = {name: o for name, o in outcomes.items() if o and not o.startswith("refused")}
    faults = ["%s: %s" % (name, o) for name, o in differing.items() if name not in KNOWN]
    faults += ["%s stands in KNOWN and does not differ" % name for name in KNOWN if name in outcomes and name not in differing]
    recorded = set(PASSING.read_text().split()) if PASSING.exists() else set()
    if options.write and not options.only:
        PASSING.write_text("".join(name + "\n" for name in sorted(passing)))
    elif not options.only:
        faults += ["%s has passed and is %s now" % (name, outcomes.get(name) or "not there") for name in sorted(recorded - set(passing) - set(differing))]
        new = sorted(set(passing) - recorded)
        if new:
            print("     %d pass that are not recorded, --write adds them: %s" % (len(new), ", ".join(new[:8])))
    refusals(refused)
    for what, count in sorted(left_out.items()):
        print("     %5d  not run: they %s" % (count, what))
    for name in sorted(set(differing) & set(KNOWN)):
        print("     differs: %s: %s" % (name, KNOWN[name]))
    for fault in faults:
        print("FAIL " + fault)
    print("%s node tests: %d run, %d pass, %d refused, %d differ as KNOWN says, %d wrong" % (
        "FAIL" if faults else "ok  ", len(jobs), len(passing), sum(map(len, refused.values())), len(set(differing) & set(KNOWN)), len(faults)))
    return not faults and bool(passing)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("deuteron")
    parser.add_argument("runner")
    parser.add_argument("shared")
    parser.add_argument("--only")
    parser.add_argument("--write", action="store_true")
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
