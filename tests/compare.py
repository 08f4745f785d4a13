# SPDX-License-Identifier: Apache-2.0
"""`deuteron compare` has its table of operators on every target and whatever options compiled the program.

    compare.py DEUTERON SHARED

What a mistake of pairing gives, a value beside another one's, is below 5 dB; what int8 costs these networks on the way is not."""
import json
import pathlib
import subprocess
import sys
import tempfile

import checks
from checks import check, those_there

TOOL, MODELS = sys.argv[1], pathlib.Path(sys.argv[2]) / "fixtures" / "models"
LEAST_DB = 5
# Options beside --target, and what compare must be told of them: the file shows the rest.
PLAIN = ["--observer", "histogram"]  # quicker than the search, which both would do
OPTIONS = [([], []), (["--profile"], []), (["--neutron-option", "fetch_constants_to_sram=true"], []), (["--io", "contiguous"], []),
           (["--layer", "linear=cpu"], ["--layer", "linear=cpu"]), (["--dialect", "stock"], []), (["--dialect", "plain"], []),
           (["--observer", "minmax"], ["--observer", "minmax"])]
if not MODELS.is_dir():
    print(f"left out: there is no {MODELS}")
    sys.exit(77)


def run(*arguments):
    return subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600)


def compare(name, kind, target, options, told, where):
    """The number of operators in the table; 0: the target refuses the model."""
    model, inputs = MODELS / name / f"{kind}.pt2", MODELS / name / "inputs"
    what = f"{name} {kind} for {target} {' '.join(options)}"
    calibrate = ["--calibrate", inputs] if kind == "float" else []
    if run("compile", model, "--target", target, *calibrate, *options, "-o", where / "m.pte").returncode:
        return 0
    done = run("compare", model, where / "m.pte", "--inputs", inputs, *told, "--json", where / "c.json")
    if not check(done.returncode == 0, f"{what}: exit {done.returncode}: {done.stderr[-800:]}"):
        return 0
    found = json.loads((where / "c.json").read_text())
    if not check("operators" in found, f"{what}: {done.stdout}"):
        return 0
    # A program wholly on the NPU is the same for both targets.
    check(found["target"].startswith("imxrt700") == target.startswith("imxrt700"), f"{what}: it is said to be for {found['target']}")
    names = [(row["name"], row["op"]) for row in found["operators"]]
    check(len(names) == len(set(names)), f"{what}: twice: {sorted(n for n in names if names.count(n) > 1)}")
    for row in found["operators"]:
        db = row["sqnr_db"]
        check(db is None or db >= LEAST_DB, f"{what}: {row['name']} ({row['op']}) has {db} dB")
    return len(found["operators"])


with tempfile.TemporaryDirectory() as folder:
    where = pathlib.Path(folder)
    tables = operators = 0
    for name in those_there(MODELS, ["digits_cnn", "digits_bmm", "cifarnet", "resnet8", "dscnn_kws"]):
        for kind in ("float", "qdq"):
            for target in ("cortex-m55", "cortex-m33", "cortex-m3", "imxrt700", "imxrt700cm"):
                every = name == "digits_cnn" and target == "imxrt700cm"
                for options, told in OPTIONS if every else [(PLAIN, PLAIN)] if kind == "float" else OPTIONS[:1]:
                    count = compare(name, kind, target, options, told, where)
                    check(count >= 3 or name == "digits_bmm" and target == "imxrt700", f"{name} {kind} for {target} {options}: {count} operators")
                    tables += count > 0
                    operators += count
print(f"{tables} tables of {operators} operators: {checks.verdict()}")
sys.exit(checks.failed != 0)
