# SPDX-License-Identifier: Apache-2.0
"""Hostile programs on emulated boards: kernels for MVE and DSP run nowhere else, so no fuzzer of the host sees what they do.

    on_boards.py DEUTERON [--count N | --seconds S] [--seed N] [--keep DIR] FILE_OR_FOLDER...

Takes programs, changes a few of their numbers, and runs what still loads on the emulated board of its instruction set. It must end there as on the
host: refused, or with the same bits. A fault of the board (its protection unit allows code, stack, data and the programs' memory), no end, or other
bits where kernels promise the same fail; the program is left in --keep. Without --count and --seconds the programs run as they are. It prints what
loading took at most, and what refusing did: that must stay below the bound of docs/fuzzing.md. Standard library only."""
import argparse
import json
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent))
from boards.boards import emulated_boards  # noqa: E402
from shared_calls import share_calls  # noqa: E402

BOARDS = {}
for board in emulated_boards():
    BOARDS.setdefault(board.isa, board.name)
WORDS = [0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 63, 64, 65, 127, 128, 255, 256, 1 << 15, 1 << 16, (1 << 24) + 1, 1 << 26, (1 << 28) + 1, 1 << 29, 0x7fffffff,
         0x80000000, 0xffffffff]
# Instructions before a program is refused: the steps that runtime/plan.h grants, of which none has been seen to take more than 50.
LEAST_STEPS, STEPS_PER_BYTE, INSTRUCTIONS_PER_STEP = 3 << 15, 2, 50
LOAD_FAILED, DOES_NOT_FIT = 65, 67  # BoardExit of runtime/ports/job.h
MOST_BYTES = 1 << 20  # of inputs, and of the planned memory: larger programs are slow, not hostile


def changed(data, rng):
    data = bytearray(data)
    numbers = [at for at in range(0, len(data) - 8, 4) if 0 < abs(struct.unpack_from("<q", data, at)[0]) < 1000]  # arguments of calls, mostly
    for _ in range(rng.choice((1, 1, 2, 3))):
        if numbers and rng.random() < .6:
            struct.pack_into("<q", data, rng.choice(numbers), rng.choice(WORDS[:-2]) * rng.choice((1, 1, 1, -1)))
            continue
        at = 4 * rng.randrange(len(data) // 4)
        old, = struct.unpack_from("<I", data, at)
        new = rng.choice((rng.choice(WORDS), (old + rng.choice((-4, -2, -1, 1, 2, 4))) & 0xffffffff, struct.unpack_from("<I", data, 4 * rng.randrange(len(data) // 4))[0]))
        struct.pack_into("<I", data, at, new)
    return bytes(data)


class Runner:
    def __init__(self, tool, folder):
        self.tool, self.where = tool, folder
        self.slowest = (0, 0, 0)  # instructions for a byte, instructions, bytes
        self.refused = (0, 0, 0)  # instructions for a step that it may take, instructions, bytes

    def command(self, *words, seconds=120):
        try:
            done = subprocess.run([self.tool, *map(str, words)], capture_output=True, text=True, errors="replace", timeout=seconds, stdin=subprocess.DEVNULL)
            return done.returncode, done.stderr
        except subprocess.TimeoutExpired:
            return 124, f"longer than {seconds} s"

    def refuse(self, data, said):
        """Whether the runner on a board refuses a program too, by a job file of its own (runtime/ports/job.h), and what that takes. `said`: why the
        host does."""
        board, job = BOARDS["dsp"], self.where / "job"
        job.write_bytes(struct.pack("<12I", 0x424f4a44, 3, 0, 0, len(data), 0, 0, 0, 0, 0, 0, 0) + data + bytes(-len(data) % 16))
        words = ",".join(f"arg={self.where / name}" for name in ("job", "job.out", "job.profile"))
        try:
            done = subprocess.run(["qemu-system-arm", "-M", board, "-kernel", self.tool.parent / "boards" / f"{board}.elf", "-icount", "shift=0,sleep=off",
                                   "-nodefaults", "-no-user-config", "-display", "none", "-monitor", "none", "-serial", "null", "-parallel", "null",
                                   "-semihosting-config", f"enable=on,target=native,{words}"], capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:
            return f"{board}: no end before it is refused"
        if done.returncode not in (LOAD_FAILED, DOES_NOT_FIT):
            return f"{board}: exit {done.returncode}, of what the host refuses: {said}{done.stdout}{done.stderr}"
        found = re.search(r"^@refused (\d+)", done.stdout + done.stderr, re.M)
        if not found:  # another instruction set's, too large for the board, or refused by a kernel
            return "refused"
        count, steps = int(found[1]), LEAST_STEPS + STEPS_PER_BYTE * len(data)
        self.refused = max(self.refused, (count / steps, count, len(data)))
        return "refused" if count <= INSTRUCTIONS_PER_STEP * steps else f"{board}: {count} instructions before it is refused, of {len(data)} bytes"

    def is_refused_here(self, data):
        program = self.where / "p.pte"
        program.write_bytes(data)
        code, said = self.command("inspect", program, seconds=20)
        return code == 1 or "refuses" in said

    def outputs(self, name):
        return {p.name: p.read_bytes() for p in sorted((self.where / name).glob("*.npy"))}

    def try_program(self, data, is_changed):
        """"refused", "ran", or what is wrong."""
        program, facts = self.where / "p.pte", self.where / "p.json"
        program.write_bytes(data)
        facts.unlink(missing_ok=True)
        code, said = self.command("inspect", program, "--json", facts, seconds=20)
        if code == 1 or "refuses" in said or not facts.exists():
            return self.refuse(data, said) if code in (0, 1) else f"inspect: exit {code}: {said}"
        p = json.loads(facts.read_text())
        isa = p.get("isa") or "mve"  # a stock program names none
        if isa not in BOARDS or p["planned_bytes"] > MOST_BYTES or sum(i["bytes"] for i in p["inputs"]) > MOST_BYTES:
            return "refused"
        inputs = []
        for k, i in enumerate(p["inputs"]):
            one = b"\0\0\0\x3e\0\0\x40\xbf" if i["dtype"] == "f32" else bytes(range(1, 120, 7))  # .125 and -.75, or small numbers
            (self.where / f"{k}.bin").write_bytes((one * (i["bytes"] // len(one) + 1))[:i["bytes"]])
            inputs += ["--input", self.where / f"{k}.bin"]
        for folder in ("host", "board"):
            for old in (self.where / folder).glob("*"):
                old.unlink()
        code, said = self.command("run", program, *inputs, "--output-dir", self.where / "host", "--timeout", 10)
        if code:
            return "refused" if code == 1 else f"host: exit {code}: {said}"
        code, said = self.command("run", program, *inputs, "--output-dir", self.where / "board", "--on", f"qemu:{BOARDS[isa]}", "--timeout", 60,
                                  "--json", facts)
        if code == 1 and "[board.load." in said:  # of weights that are packed for another core: the host has kernels for all
            return "refused"
        if code:
            return f"{BOARDS[isa]}: exit {code}: {said}"
        load = json.loads(facts.read_text())["load_instructions"]
        self.slowest = max(self.slowest, (load / len(data), load, len(data)))
        # The last bit of the C library's functions may differ (docs/precision.md), and the compiler alone proves that the sums and multipliers that
        # lie in packed weights give the same bits everywhere: kernels/conv2d/packed/kernel.h.
        may_differ = any(c["op"].startswith("aten::") or is_changed and re.search("packed|_s16", c["op"]) for c in p["calls"])
        return "ran" if may_differ or self.outputs("host") == self.outputs("board") else f"{BOARDS[isa]}: other bits than on the host"


def shared(seeds):
    """Of some programs each call, so often that it is refused late."""
    for data in seeds[:6]:
        for which in range(4):
            for count in (300, 600, 1200, 4000):
                try:
                    made = share_calls(data, count, which)
                except (struct.error, IndexError):  # no program at all
                    made = None
                if made:
                    yield made


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tool", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("programs", nargs="+", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--count", type=int, default=0, help="changed programs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("build/failing_on_boards"))
    options = parser.parse_args()
    if not shutil.which("qemu-system-arm"):
        print("left out: no qemu-system-arm")
        return 77
    files = [f for p in options.programs for f in ([p] if p.is_file() else sorted(q for q in p.rglob("*") if q.is_file()))]
    seeds = [f.read_bytes() for f in files if f.stat().st_size < 1 << 16]
    rng, counts, bad, end = random.Random(options.seed), {}, 0, time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(options.tool, pathlib.Path(folder))
        while seeds and (time.monotonic() < end if options.seconds else sum(counts.values()) < (options.count or len(seeds))):
            data = changed(rng.choice(seeds), rng) if options.seconds or options.count else seeds[sum(counts.values())]
            result = runner.try_program(data, bool(options.seconds or options.count))
            kind = result if result in ("refused", "ran") else "failed"
            counts[kind] = counts.get(kind, 0) + 1
            if kind == "failed":
                bad += 1
                options.keep.mkdir(parents=True, exist_ok=True)
                (options.keep / f"{options.seed}_{bad}.pte").write_bytes(data)
                print(f"{options.keep}/{options.seed}_{bad}.pte: {result[:600]}", flush=True)
        kinds = [runner.refuse(data, "it has too many calls") for data in shared(seeds) if runner.is_refused_here(data)]
        bad += sum(kind != "refused" for kind in kinds)
        for kind in set(kinds) - {"refused"}:
            print(kind)
    print(f"loading took at most {runner.slowest[1]} instructions for {runner.slowest[2]} bytes, {runner.slowest[0]:.1f} a byte")
    print(f"refusing took at most {runner.refused[1]} instructions for {runner.refused[2]} bytes, {runner.refused[0]:.1f} for each step that it may take")
    print(f"{sum(counts.values())} programs, seed {options.seed}: {counts.get('refused', 0)} refused, {counts.get('ran', 0)} ran with the host's bits, {bad} failed")
    return 1 if bad or not counts.get("ran") else 0


if __name__ == "__main__":
    sys.exit(main())
