# SPDX-License-Identifier: Apache-2.0
"""An allocation fails, a disk is full, a write is short or interrupted, the process is killed: nothing half-written, one diagnostic, exit code 1.

    faults.py DEUTERON FAULTS [--every STEP] [--kills N] [--jobs N]

FAULTS is tests/faults.c as a library that is loaded before the program. Of each command some points are tried, others each time (the seed is
printed); --every 1 tries all of them; --kills N only kills `compile` and `sign`, at N points each. An allocation may also fail where the program does without it: then everything is as if it had not."""
import argparse
import base64
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
NET = """input x : f32[1,5,4,3]
w = const f32[4,2,3,3] random(1)
y = conv2d(x, w) bounds=0,6
z = max_pool2d(y) kernel=2,2 stride=2,1
output z
"""
COMMANDS = {
    "compile": ["compile", "net.txt", "--target", "cortex-m55", "--calibrate", "x.npy", "-o", "o/p.pte", "--json", "o/r.json", "--html", "o/r.html"],
    "compile for the NPU": ["compile", "net.txt", "--target", "imxrt700cm", "--calibrate", "x.npy", "-o", "o/p.pte"],
    "compile .pt2": ["compile", str(ROOT / "models/digits_cnn/float.pt2"), "--target", "cortex-m33", "--calibrate", str(ROOT / "models/digits_cnn/calibrate.npy"), "-o", "o/p.pte"],
    "analyze .tflite": ["analyze", str(ROOT / "tests/carried/fixtures/models/hello_sine/original_int8.tflite"), "--target", "cortex-m33", "--json", "o/r.json"],
    "run": ["run", "p.pte", "--input", "x.npy", "--output-dir", "o/out", "--json", "o/r.json"],
    "profile": ["profile", "p.pte", "--input", "x.npy", "-o", "o/t.etdp"],
    "compare": ["compare", "net.txt", "p.pte", "--inputs", "x.npy", "--json", "o/r.json"],
    "inspect": ["inspect", "p.pte", "--json", "o/r.json"],
    "sign": ["sign", "p.pte", "--key", "key.pem", "-o", "s.pte", "--json", "o/r.json"],  # s.pte is there and is replaced
    "firmware": ["firmware", "p.pte", "--board", "mps3-an547", "-o", "o/fw"],
}
KILLED = ["compile", "sign"]  # by --kills
KEY = bytes.fromhex("302e020100300506032b657004220420") + bytes(range(32))  # PKCS 8 of an Ed25519 key (RFC 8410), for this test only
EMPTIED = {"o"}  # a folder that is empty no more
VOLATILE = re.compile(rb'(?<=seconds": )[-+\d.e]+')  # how long it took


def run(tool, faults, command, where, **fault):
    environment = {**os.environ, "TMPDIR": str(where), "LD_PRELOAD": str(faults), **{k: str(v) for k, v in fault.items()}}
    return subprocess.run([tool, *command], cwd=where, env=environment, capture_output=True, stdin=subprocess.DEVNULL, timeout=120)


def content(path):
    """What must be the same each time. A page and a trace hold times throughout: of them, whether they are whole."""
    data = path.read_bytes()
    if path.suffix == ".html":
        return b"whole" if data.rstrip().endswith(b"</html>") else data
    if path.suffix == ".etdp":  # a flatbuffer with its size before it
        return b"whole" if data[8:12] == b"ED00" and int.from_bytes(data[:4], "little") == len(data) - 4 else data
    return VOLATILE.sub(b"", data)


def contents(where):
    return {str(p.relative_to(where)): content(p) for p in where.rglob("*") if p.is_file()} | {
        str(p.relative_to(where)): b"" for p in where.rglob("*") if p.is_dir() and not any(p.iterdir())}


class Bench:
    """A command in a folder of its own, with what it leaves when nothing fails."""

    def __init__(self, options, name):
        self.tool, self.faults, self.command = options.deuteron.resolve(), options.faults.resolve(), COMMANDS[name]
        self.name = name
        self.home = pathlib.Path(tempfile.mkdtemp())
        (self.home / "net.txt").write_text(NET)
        head = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 5, 4, 3), }".ljust(117) + "\n"
        (self.home / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + head.encode()
                                          + struct.pack("<60f", *[((i * 37) % 19 - 9) / 5 for i in range(60)]))
        if run(self.tool, self.faults, ["compile", "net.txt", "--target", "cortex-m55", "--calibrate", "x.npy", "-o", "p.pte"], self.home).returncode:
            raise SystemExit("the model does not compile")
        shutil.copy(self.home / "p.pte", self.home / "s.pte")
        (self.home / "key.pem").write_text(f"-----BEGIN PRIVATE KEY-----\n{base64.b64encode(KEY).decode()}\n-----END PRIVATE KEY-----\n")
        (self.home / "o").mkdir()
        self.before = contents(self.home)
        where = self.copy()
        done = run(self.tool, self.faults, self.command, where, FAULTS_COUNT=where / "count")
        if done.returncode:
            raise SystemExit(f"{name}: {done.stderr.decode()}")
        self.allocations, self.writes = map(int, (where / "count").read_text().split())
        (where / "count").unlink()
        self.after = contents(where)
        shutil.rmtree(where)

    def copy(self):
        where = pathlib.Path(tempfile.mkdtemp())
        shutil.copytree(self.home, where, dirs_exist_ok=True)
        return where

    def attempt(self, fault, value):
        """What is wrong; empty: nothing."""
        where = self.copy()
        try:
            done = run(self.tool, self.faults, self.command, where, **{fault: value})
            left, error = contents(where), done.stderr.decode(errors="replace")
        except subprocess.TimeoutExpired:
            return "hangs"
        finally:
            shutil.rmtree(where)
        if fault == "FAULTS_KILL":
            if done.returncode != -signal.SIGKILL:
                return f"is not killed: exit {done.returncode}"
            # Whole files under their names, old or new. What is hidden or temporary may stay.
            torn = [n for n, data in left.items() if n in self.after and data not in (self.before.get(n), self.after[n])]
            lost = self.before.keys() - left.keys() - EMPTIED
            return f"left half-written: {torn}, lost: {sorted(lost)}" if torn or lost else ""
        errors = error.count(" error: ")
        if done.returncode == 0:
            if fault == "FAULTS_WRITE":
                return "" if "note: the tables were sized on this machine" in error else "says nothing of a write that failed"
            return "" if left == self.after else f"ends well, but leaves {differing(left, self.after)}"
        if fault == "FAULTS_SHORT":
            return f"exit {done.returncode}: {error[:300]}"
        if done.returncode != 1 or errors != 1:
            return f"exit {done.returncode}, {errors} errors: {error[:300]}"
        # What was there, and whole results that were written before.
        torn = [n for n, data in left.items() if data != self.before.get(n) and data != self.after.get(n) and not (n.endswith(".json") and is_json(data))]
        return f"after an error there is {torn}" if torn or self.before.keys() - left.keys() - EMPTIED else ""


def is_json(data):
    """It tells of the error."""
    try:
        return isinstance(json.loads(data), dict)
    except ValueError:
        return False


def differing(a, b):
    return sorted(n for n in set(a) | set(b) if a.get(n) != b.get(n))[:5]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("deuteron", type=pathlib.Path)
    parser.add_argument("faults", type=pathlib.Path)
    parser.add_argument("--every", type=int)
    parser.add_argument("--kills", type=int)
    parser.add_argument("--only")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    print(f"seed {options.seed}")
    random.seed(options.seed)
    wrong = collections.defaultdict(list)
    tried = collections.Counter()
    for name in COMMANDS:
        if (options.only and options.only != name) or (options.kills and name not in KILLED):
            continue
        bench = Bench(options, name)
        points = range(1, bench.allocations + 1)
        some = points[::options.every] if options.every else sorted(random.sample(points, min(25, len(points))))
        killed = points[::50 * options.every] if options.every else sorted(random.sample(points, min(8, len(points))))
        cases = [("FAULTS_MEMORY", n) for n in some] + [("FAULTS_KILL", n) for n in killed] + [("FAULTS_SHORT", 1)]
        cases += [("FAULTS_WRITE", n) for n in range(1, min(bench.writes, 4) + 1)]
        if options.kills:
            cases = [("FAULTS_KILL", n) for n in sorted(random.sample(points, min(options.kills, len(points))))]
            print(f"{name}: killed at {len(cases)} of {len(points)} allocations")
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for (fault, value), what in zip(cases, pool.map(lambda c: bench.attempt(*c), cases)):
                tried[fault] += 1
                if what:
                    wrong[f"{name}: {fault}: {what}"].append(value)
        shutil.rmtree(bench.home)
    for what, values in wrong.items():
        print(f"{what}\n  at {values[:12]}{' and more' if len(values) > 12 else ''}, {len(values)} points")
    print(", ".join(f"{count} {fault.removeprefix('FAULTS_').lower()}" for fault, count in tried.items()) + f" tried, {len(wrong)} kinds of fault")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
