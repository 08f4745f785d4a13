#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every fixture on boards of the user's own, as QEMU has them: through `gdb:` on four machines, through `serial:` on two, the host's bits, and the
instructions of the board's own counter beside those of `--on qemu:`; then a cable that is pulled many times.

    bench/own_board.py DEUTERON SOURCE_DIR FIXTURES [--pulls N] [--models NAME ...]

Prints the table, and fails where a row is not as it must be. tests/gdb_boards.py does a sample of it. Standard library only."""
import argparse
import concurrent.futures
import contextlib
import json
import pathlib
import random
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))
import checks
from checks import check
from machines import Line, Machine, Model, Serial, TOOL, build_agent, outputs, pulled, run, where

MODELS = {"resnet8": "qdq", "dscnn_kws": "qdq", "mobilenet_v1_025_vww": "qdq", "autoencoder_ad": "qdq", "cifarnet": "qdq", "digits_cnn": "qdq",
          "digits_bmm": "qdq", "mobilenet_v2": "float", "mobilenet_v3_small": "float", "mnist_lstm": "qdq", "hello_sine": "qdq"}
# Nanoseconds of a cycle of SysTick; instructions take one nanosecond. BOARD: whose `--on qemu:` counts the same program.
LARGE = "ram=0x20000000+4M,ram=0x21000000+16M"
BY_GDB = [("mps2-an385", "cortex-m3", LARGE, 0, 40, "mps2-an385"), ("mps2-an386", "cortex-m4", LARGE, 0, 40, "mps2-an386"),
          ("mps2-an500", "cortex-m7", "ram=0x20000000+4M,ram=0x60000000+16M", 0, 40, "mps2-an386"),
          ("mps2-an505", "cortex-m33", "ram=0x38000000+4M,ram=0x80000000+16M", 0x10000000, 50, "mps2-an505")]
BY_SERIAL = [("mps2-an385", "cortex-m3"), ("mps2-an386", "cortex-m4")]
BOARDS = 4
BEHIND_AGENT = "ram=0x20020000+3968K,ram=0x21000000+16M"

arguments = argparse.ArgumentParser()
arguments.add_argument("tool")
arguments.add_argument("source")
arguments.add_argument("fixtures", type=pathlib.Path)
arguments.add_argument("--pulls", type=int, default=200)
arguments.add_argument("--models", nargs="*", default=list(MODELS))
given = arguments.parse_args()


def fixture(name):
    folder, samples = given.fixtures / "models" / name, where / name
    samples.mkdir()
    shutil.copy(sorted((folder / "inputs").iterdir())[0], samples)
    calibrate = ["--calibrate", folder / "inputs"] if MODELS[name] == "float" else []
    return Model(name, folder / f"{MODELS[name]}.pt2", samples, *calibrate)


def ran(model, target, *there):
    """What --json says; outputs must be the host's."""
    program, expected = model.program(target)
    folder, report = where / "out", where / "run.json"
    shutil.rmtree(folder, ignore_errors=True)
    run("run", program, "--input", model.samples, "-o", folder, "--json", report, *there, seconds=600)
    check(folder.is_dir() and outputs(folder) == expected, f"{model.name}, {there}: other outputs than the host's")
    return json.loads(report.read_text()) if report.exists() else {}


def by_gdb(models):
    for name, target, memory, at, nanoseconds, board in BY_GDB:
        with Machine(name, at) as machine:
            for model in models:
                here = ran(model, target, "--on", f"gdb:127.0.0.1:{machine.port}", "--memory", memory)
                there = ran(model, target, "--on", f"qemu:{board}")
                found, wanted = here["cycles_by_sample"][0] * nanoseconds, there["instructions_by_sample"][0]
                off = found / wanted - 1
                # A tick is 40 or 50 instructions, and what begins or ends within one counts or not.
                check(abs(found - wanted) < max(0.005 * wanted, 2 * nanoseconds), f"{name}, {model.name}: {found} instructions, {wanted} by --on qemu:{board}")
                print(f"| {model.name} | gdb | {name} | the host's | {wanted} | {100 * off:+.3f} % |", flush=True)


def by_serial(models):
    for name, target in BY_SERIAL:
        with Serial(name, build_agent(name, target)[0]) as board:
            for model in models:
                ran(model, target, "--on", f"serial:{board.device}", "--memory", BEHIND_AGENT)
                print(f"| {model.name} | serial | {name} | the host's | | |", flush=True)


def pulled_cables(model):
    """One diagnostic each within 5 s of silence, and the next run gives the host's bits. Four boards at once: most of it is silence."""
    program, expected = model.program("cortex-m4")

    def once(line, folder):
        begin = time.monotonic()
        shutil.rmtree(folder, ignore_errors=True)
        done = subprocess.run([str(c) for c in (TOOL, "run", program, "--input", model.samples, "-o", folder, "--on", f"gdb:127.0.0.1:{line.port}",
                                                "--memory", "stm32f405")], capture_output=True, text=True, timeout=60)
        check(done.returncode == 0 and outputs(folder) == expected or done.returncode == 1 and done.stderr.count(": error: ") == 1,
              f"exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.returncode, time.monotonic() - begin

    def pull(board, machine):
        rng, folder = random.Random(board), where / f"pulled{board}"
        whole = Line(machine.port, lambda byte, _: bytes([byte]))
        code, _ = once(whole, folder)
        if check(code == 0, "a whole line is no line"):
            for _ in range(board, given.pulls, BOARDS):
                ends.append(once(Line(machine.port, pulled(rng.randrange(1, whole.count))), folder))
                again.append(once(Line(machine.port, lambda byte, _: bytes([byte])), folder)[0])

    ends, again = [], []
    with contextlib.ExitStack() as stack, concurrent.futures.ThreadPoolExecutor(BOARDS) as pool:
        machines = [stack.enter_context(Machine("netduinoplus2")) for _ in range(BOARDS)]  # one after another: each takes a free port
        list(pool.map(pull, range(BOARDS), machines))
    check(len(again) == given.pulls and not any(again), f"after {sum(again)} pulled cables the next run failed")
    print(f"\n{len(ends)} cables pulled: {sum(code for code, _ in ends)} runs ended with one diagnostic, the slowest after "
          f"{max(seconds for _, seconds in ends):.1f} s; {again.count(0)} of the next runs gave the host's bits")


fixtures = [fixture(name) for name in given.models]
print("| model | by | machine | bits | instructions | of the board's counter |\n| --- | --- | --- | --- | ---: | ---: |", flush=True)
by_gdb(fixtures)
by_serial(fixtures)
pulled_cables(next(m for m in fixtures if m.name == "hello_sine") if "hello_sine" in given.models else fixture("hello_sine"))
print(checks.verdict())
checks.leave(1 if checks.failed else 0, where)
