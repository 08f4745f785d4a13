# SPDX-License-Identifier: Apache-2.0
"""Compiling an ExportedProgram in memory from Python, beside the command line on its file: time, peak memory, bytes.

    build/venv/bin/python bench/python_compile.py [--runs N] [MODEL]

Each run is a process of its own; the least of N counts, both in turn. Python's peak is what the call adds to what the interpreter, torch and the
model held before it; the program's is all that it held. Bars: same bytes, 1.15 times the time, 1.2 times the memory. Exit code 1: one is missed.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
TOOL = ROOT / "build" / "deuteron"
MOST_TIME, MOST_MEMORY = 1.15, 1.2
TARGET = "cortex-m55"
CALL = """
import sys, time, numpy as np, torch, deuteron
model, samples, out = sys.argv[1:]
program, data = torch.export.load(model), np.load(samples)
def status(key):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(key))
open("/proc/self/clear_refs", "w").write("5")  # the peak counts from here
before, began, busy = status("VmRSS"), time.monotonic(), time.process_time()
result = deuteron.compile(program, target=%r, calibration=data)
print(time.monotonic() - began, time.process_time() - busy, status("VmHWM") - before)
result.save(out)
""" % TARGET


def by_python(model, samples, out):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "build" / "python")}
    done = subprocess.run([sys.executable, "-c", CALL, model, samples, out], check=True, capture_output=True, text=True, env=environment)
    seconds, busy, kilobytes = done.stdout.split()[-3:]
    return float(seconds), float(busy), int(kilobytes)


def by_program(model, samples, out):
    began = time.monotonic()
    child = subprocess.Popen([TOOL, "compile", model, "--target", TARGET, "--calibrate", samples, "-o", out], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"deuteron compile {model}: status {status}")
    return time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def main():
    import numpy as np

    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("model", nargs="?", default=str(ROOT / "../shared/fixtures/models/mobilenet_v2"))
    arguments.add_argument("--runs", type=int, default=3)
    given = arguments.parse_args()
    folder = pathlib.Path(given.model)
    with tempfile.TemporaryDirectory() as scratch:
        samples = f"{scratch}/samples.npy"
        files = sorted((folder / "inputs").glob("*.bin"))
        np.save(samples, np.stack([np.fromfile(f, np.float32) for f in files]).reshape(len(files), *shape_of(folder)))
        model = str(folder / "float.pt2")
        runs = {by_python: [], by_program: []}
        for _ in range(given.runs):
            for how in runs:
                runs[how].append(how(model, samples, f"{scratch}/{how.__name__}.pte"))
        same = pathlib.Path(scratch, "by_python.pte").read_bytes() == pathlib.Path(scratch, "by_program.pte").read_bytes()
    (seconds, busy, memory), (program_seconds, program_busy, program_memory) = ([min(column) for column in zip(*runs[how])] for how in runs)
    good = same and seconds <= MOST_TIME * program_seconds and memory <= MOST_MEMORY * program_memory
    print(f"| {folder.name} for {TARGET} | Python, ExportedProgram | `deuteron compile`, file | ratio | bar |\n| --- | ---: | ---: | ---: | ---: |")
    print(f"| seconds | {seconds:.2f} | {program_seconds:.2f} | {seconds / program_seconds:.2f} | {MOST_TIME} |")
    print(f"| processor seconds | {busy:.2f} | {program_busy:.2f} | {busy / program_busy:.2f} | |")
    print(f"| peak memory, MB | {memory / 1024:.0f} | {program_memory / 1024:.0f} | {memory / program_memory:.2f} | {MOST_MEMORY} |")
    print(f"| bytes | | | {'same' if same else 'DIFFERENT'} | same |")
    return 0 if good else 1


def shape_of(folder):
    import json

    return json.loads((folder / "model.json").read_text())["inputs"][0]["shape"][1:]


if __name__ == "__main__":
    sys.exit(main())
