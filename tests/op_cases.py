# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs every single-operator case of ../shared/fixtures/ops, and prints what became of each.

    python3 tests/op_cases.py [build/deuteron] [../shared] [--boards | --every-board] [--list]

For the target of every board, each case compiles and runs on the host. The result lies within a bound that follows from the steps: every value that
is rounded to int8 on the way, and every kernel, may cost one step of the output. --boards: the same bits on emulated boards. Of those that get the
same file, each case runs on one, in turn; with --every-board on all. --list: a line for each case. Standard library only. The exit code is 1 when
anything does not hold.
"""
import ast
import concurrent.futures
import json
import math
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
paths = [a for a in sys.argv[1:] if not a.startswith("--")]
TOOL = pathlib.Path(paths[0] if paths else ROOT / "build" / "deuteron").resolve()
OPS = pathlib.Path(paths[1] if len(paths) > 1 else ROOT.parent / "shared") / "fixtures" / "ops"
sys.path.insert(0, str(ROOT))
from boards.boards import emulated_boards

BOARDS = {b.target: b.name for b in emulated_boards() if b.name != "mps2-an521"}  # whose kernels are those of mps2-an385
MUST_BE_INT8 = 165
# Where a step of the output's range is smaller than what the operator can do. Steps allowed, and why.
STEPS = {
    "adaptive_avg_pool2d_1": 8,  # the dialect's average pool has no scale of its own, and the means reach over a sixth of the input's range
}
FORMATS = {"<f4": "f", "<f8": "d", "<i8": "q", "<i4": "i", "|b1": "?", "|i1": "b", "|u1": "B"}
TYPES = {"float32": "f", "int64": "q", "int32": "i", "bool": "?", "float64": "d", "float16": "e", "bfloat16": "f"}  # the files have bfloat16 as float32


def tool(*arguments):
    return subprocess.run([str(TOOL), *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)


def numbers(data, code):
    return [float(v) for v in struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data)]


def read_npy(path):
    data = path.read_bytes()
    size = struct.unpack_from("<H", data, 8)[0]
    return numbers(data[10 + size:], FORMATS[ast.literal_eval(data[10:10 + size].decode())["descr"]])


def errors(case, folder):
    """The largest error of each output in steps of 1/255 of its range, and the ratio of signal to noise in dB of all."""
    steps, signal, noise = 0.0, 0.0, 0.0
    outputs = [o for o in case["outputs"] if "file" in o]
    for k, out in enumerate(outputs):
        expected = numbers((OPS / out["file"]).read_bytes(), TYPES[out["dtype"]])
        found = read_npy(folder / f"output{k}.npy")
        if len(expected) != len(found) or not all(map(math.isfinite, found)):
            return math.inf, -math.inf
        if not expected:
            continue
        step = (max(max(expected), 0.0) - min(min(expected), 0.0)) / 255
        worst = max(abs(a - b) for a, b in zip(expected, found))
        steps = max(steps, worst / step if step else (math.inf if worst else 0.0))
        signal += sum(a * a for a in expected)
        noise += sum((a - b) ** 2 for a, b in zip(expected, found))
    return steps, math.inf if noise == 0 else 10 * math.log10(signal / noise) if signal else 0.0


def compile_case(case, core, where):
    """The report and the file, or a row that says why there is none."""
    calibrate = [a for i in case["inputs"] if "file" in i for a in ("--calibrate", OPS / i["file"])]
    compiled = tool("compile", OPS / case["file"], "--target", core, *calibrate, "-o", where / "case.pte", "--json", where / "case.json")
    if compiled.returncode:
        return ("refused", False, False, 0.0, 0.0, compiled.stderr.strip().splitlines()[:1] or [f"exit {compiled.returncode}"])
    return json.loads((where / "case.json").read_text()), (where / "case.pte").read_bytes()


def run_file(case, file, cores, where):
    """What a file comes to on the host, and on the boards of these cores: steps, dB, what is wrong by core."""
    (where / "case.pte").write_bytes(file)
    given = [a for i in case["inputs"] if "file" in i for a in ("--input", OPS / i["file"])]
    host = tool("run", where / "case.pte", *given, "--output-dir", where / "host")
    if host.returncode:
        return None, None, host.stderr.strip().splitlines()[:1]
    wrong = {}
    for core in cores:
        board = tool("run", where / "case.pte", *given, "--output-dir", where / "board", "--on", f"qemu:{BOARDS[core]}")
        if board.returncode or any((where / "board" / f.name).read_bytes() != f.read_bytes() for f in (where / "host").iterdir()):
            wrong[core] = f"{BOARDS[core]}: " + (board.stderr.strip() or "other bits than the host")
    return *errors(case, where / "host"), wrong


def run_case(turn, case, boards, every_board):
    """A row for each core: what happened, whether it is as it must be, whether all of it is int8, error in steps, SQNR, detail."""
    rows, reports, cores_of = {}, {}, {}
    with tempfile.TemporaryDirectory() as scratch:
        where = pathlib.Path(scratch)
        for core in BOARDS:
            made = compile_case(case, core, where)
            if len(made) > 2:
                rows[core] = made
                continue
            reports[core], file = made
            cores_of.setdefault(file, []).append(core)
        for file, cores in cores_of.items():
            on_boards = cores if every_board else [cores[turn % len(cores)]] if boards else []
            steps, db, wrong = run_file(case, file, on_boards, where)
            for core in cores:
                if steps is None:
                    rows[core] = ("run", False, False, 0.0, 0.0, wrong)
                    continue
                calls = [o["op"] for o in reports[core]["operators"]]
                int8 = reports[core]["counts"]["portable"] == 0
                allowed = STEPS.get(case["name"], len(calls) + len(reports[core]["quantization"]))
                detail = ([f"{steps:.1f} steps, allowed {allowed}"] if steps > allowed else []) + ([wrong[core]] if core in wrong else [])
                rows[core] = ("int8" if int8 else "float parts", not detail, int8, steps, db, detail + [" ".join(calls)])
    return rows


def main():
    if not OPS.is_dir():
        print(f"left out: there is no {OPS}")
        return 77
    cases = json.loads((OPS / "ops.json").read_text())
    boards, every_board, listed = (option in sys.argv for option in ("--boards", "--every-board", "--list"))
    wrong, whole, worst, faintest = 0, 0, (0.0, ""), (math.inf, "")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(lambda job: run_case(*job, boards, every_board), enumerate(cases)))
    rows = [((case, core), row[core]) for case, row in zip(cases, done) for core in BOARDS]
    int8_everywhere = {case["name"] for case in cases}
    for (case, core), (what, fine, int8, steps, db, detail) in rows:
        name = case["name"]
        if not int8:
            int8_everywhere.discard(name)
        if what in ("int8", "float parts"):
            worst, faintest = max(worst, (steps, f"{name} on {core}")), min(faintest, (db, f"{name} on {core}"))
        if not fine:
            wrong += 1
            print(f"FAILED {name} on {core}: {what}: {'; '.join(detail)}")
        elif listed:
            print(f"{name:28} {core:11} {what:12} {steps:6.2f} steps {db:7.1f} dB  {detail[-1]}")
    whole = len(int8_everywhere)
    print(f"{len(cases)} cases on {len(BOARDS)} cores: {len(rows) - wrong} run within their bounds, {wrong} wrong; {whole} wholly int8")
    print(f"largest error {worst[0]:.1f} steps of the output's range / 255: {worst[1]}; least signal to noise {faintest[0]:.1f} dB: {faintest[1]}")
    if whole < MUST_BE_INT8:
        print(f"FAILED only {whole} cases are wholly int8, must be {MUST_BE_INT8}")
    return 1 if wrong or whole < MUST_BE_INT8 else 0


if __name__ == "__main__":
    sys.exit(main())
