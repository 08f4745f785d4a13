# SPDX-License-Identifier: Apache-2.0
"""Runs our programs in the stock ExecuTorch runtime, with our kernels under their names, and deserializes them with its Python package.

    check.py DEUTERON STOCK_RUNNER SHARED

Every model below is compiled for every instruction set, for our runtime and with --dialect stock; the stock runtime must give the bits that
`deuteron run` gives. Without the kernels of our own dialect it must refuse the former, by its error for a missing operator, and load the latter.
"""
import itertools
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import checks
from checks import check

tool, runner, shared = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
root = pathlib.Path(__file__).resolve().parents[2]
NAMES = ["resnet8", "dscnn_kws", "mobilenet_v1_025_vww", "autoencoder_ad", "cifarnet", "digits_cnn", "mobilenet_v2", "mobilenet_v3_small", "hello_sine"]
CORES = ["cortex-m55", "cortex-m33", "cortex-m3"]
SEARCHED = CORES[0]  # the others have plain histograms: the search takes most of the time, and other ranges are other constants only


def call(arguments):
    result = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600)
    if result.returncode:
        print(" ".join(str(a) for a in arguments), "->", result.returncode, result.stdout[-2000:], result.stderr[-2000:])
    return result.returncode == 0


def deserialized(path):
    """What the stock Python package reads from a file."""
    from executorch.exir._serialize._program import deserialize_pte_binary

    program = deserialize_pte_binary(path.read_bytes())
    return getattr(program, "program", program)


def user_to_storage(tensor, values):
    """Row-major values in the program's logical sizes to the tensor's own order."""
    return np.transpose(values.reshape(tensor.sizes), tensor.dim_order)


def storage_to_user(tensor, data):
    order = list(tensor.dim_order)
    stored = data.reshape([tensor.sizes[k] for k in order])
    return np.transpose(stored, np.argsort(order))


OPERATOR_MISSING = "load_method fails: error 0x14"  # executorch::runtime::Error


def refuses_ours(pte, where):
    """Without our dialect: nothing runs, and the error is that of a missing operator."""
    r = subprocess.run([runner, "--stock-dialects", pte, where / "none"], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600)
    check(r.returncode == 1 and OPERATOR_MISSING in r.stderr, f"{pte.name}: stock firmware does not refuse it: {r.returncode} {r.stderr[-300:]}")
    check(not list(where.glob("none*")), f"{pte.name}: refused, and yet there are outputs")


def run_in_both(pte, samples, where, for_stock):
    """Bits of every output in the user's order from the stock runtime and from ours, for one sample of each input."""
    plan = deserialized(pte).execution_plan[0]
    given, named = [], []
    for k, (index, sample) in enumerate(zip(plan.inputs, samples)):
        entry = plan.values[index].val
        user_to_storage(entry, sample).tofile(where / f"in{k}.bin")
        np.save(where / f"in{k}.npy", sample)
        given.append(where / f"in{k}.bin")
        named += ["--input", where / f"in{k}.npy"]
    if not check(call([runner, *(["--stock-dialects"] if for_stock else []), pte, where / "stock", *given]), f"{pte.name} in the stock runtime"):
        return []
    check(call([tool, "run", pte, *named, "--output-dir", where / "ours"]), f"{pte.name} in our runtime")
    for k, index in enumerate(plan.outputs):
        ours = np.load(where / "ours" / f"output{k}.npy")
        stock = storage_to_user(plan.values[index].val, np.fromfile(where / f"stock{k}.bin", ours.dtype))
        check(ours.tobytes() == stock.tobytes(), f"{pte.name}: the stock runtime gives other bits for output {k}")
    if for_stock:
        check(len(plan.operators) > 1 and all(o.name.startswith("cortex_m::") for o in plan.operators), f"{pte.name}: operators outside cortex_m")
    return [o.name for o in plan.operators]


def check_case(case, folder):
    """A single operator, unless the compiler refuses it (tests/op_cases.py says which it may refuse)."""
    name, files = case["name"], [folder / i["file"] for i in case["inputs"] if "file" in i]
    with tempfile.TemporaryDirectory() as scratch:
        where = pathlib.Path(scratch)
        pte = where / f"{name}.pte"
        calibrate = [a for f in files for a in ("--calibrate", f)]
        arguments = [tool, "compile", folder / case["file"], "--target", "cortex-m33", *calibrate, "-o", pte]
        if subprocess.run([str(a) for a in arguments], capture_output=True, stdin=subprocess.DEVNULL, timeout=600).returncode == 0:
            # The files have bfloat16 as float32, and so has the program.
            samples = [np.fromfile(folder / i["file"], i["dtype"].replace("bfloat16", "float32")).reshape(i["shape"]) for i in case["inputs"] if "file" in i]
            if name.startswith("batch_dynamic"):  # a batch that is left open is 1 in the program
                samples = [s[:1] for s in samples]
            run_in_both(pte, samples, where, False)
            return 1
    return 0


def check_model(name, model, calibration, samples, shape):
    for core, dialect in itertools.product(CORES, ("deuteron", "stock")):
        with tempfile.TemporaryDirectory() as folder:
            where = pathlib.Path(folder)
            pte = where / f"{name}.{core}.{model.stem}.{dialect}.pte"
            plain = [] if core == SEARCHED else ["--observer", "histogram"]
            calibrate = ["--calibrate", calibration, *plain] if "qdq" not in model.stem else []
            if not check(call([tool, "compile", model, "--target", core, "--dialect", dialect, *calibrate, "-o", pte]), f"compile {pte.name}"):
                continue
            for sample in samples[:2]:
                operators = run_in_both(pte, [sample.reshape(shape)], where, dialect == "stock")
            if dialect == "deuteron" and core != "cortex-m3" and name != "hello_sine":  # whose filters of one element would grow
                check("deuteron::packed_conv2d" in operators, f"{pte.name}: no packed weights")
            if any(o.startswith("deuteron::") for o in operators):
                refuses_ours(pte, where)


digits = root / "models" / "digits_cnn"
images = np.load(digits / "test_inputs.npy")
check_model("digits_cnn", digits / "float.pt2", digits / "calibrate.npy", images, [1, 1, 8, 8])
check_model("digits_cnn", digits / "qat_qdq.pt2", None, images, [1, 1, 8, 8])
models = shared / "fixtures" / "models"
if models.is_dir():
    import json

    for name in checks.those_there(models, NAMES):
        folder = models / name
        shape = json.loads((folder / "model.json").read_text())["inputs"][0]["shape"]
        samples = [np.fromfile(f, "<f4").reshape(shape) for f in sorted((folder / "inputs").glob("*.bin"))]
        check_model(name, folder / "float.pt2", folder / "inputs", samples, shape)
        if (folder / "qdq.pt2").exists():
            check_model(name, folder / "qdq.pt2", None, samples, shape)
    cases = json.loads((shared / "fixtures" / "ops" / "ops.json").read_text())
    compiled = sum(check_case(case, shared / "fixtures" / "ops") for case in cases)
    check(compiled >= 160, f"only {compiled} operator cases compile")
else:
    print(f"left out: there is no {models}")
    sys.exit(1 if checks.failed else 77)
print(f"stock runtime: {checks.verdict()}")
sys.exit(checks.failed != 0)
