# SPDX-License-Identifier: Apache-2.0
"""Random networks of PyTorch (random_networks.py) on every emulated core: the host's bits.

    torch_on_boards.py DEUTERON [--from SEED] [--networks N] [--seconds S] [--keep DIR]

Each is exported and compiled for the core of each board. The command ends with 0, or with 1 and a reason; the program
gives on the board, kernels for MVE and DSP among them, the bits that it gives on the host. Where a call computes in
float by functions of the C library, whose last bit may differ (docs/precision.md), only the end is looked at."""
import argparse
import collections
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))
import random_networks  # noqa: E402
from boards.boards import emulated_boards  # noqa: E402


class Runner:
    def __init__(self, tool, folder, keep):
        self.tool, self.folder, self.keep = tool, folder, keep
        self.boards = [b for b in emulated_boards() if "+" not in b.target[:-1]]
        self.counts, self.failed = collections.Counter(), 0

    def deuteron(self, *words):
        done = subprocess.run([self.tool, *map(str, words)], capture_output=True, text=True, errors="replace",
                              timeout=300, stdin=subprocess.DEVNULL)
        return done.returncode, done.stderr

    def fails(self, seed, what, said):
        self.failed += 1
        self.keep.mkdir(parents=True, exist_ok=True)
        for file in self.folder.glob("m.*"):
            shutil.copy(file, self.keep / f"{seed}.{file.name}")
        print(f"network {seed}: {what}: {said[-600:]}", flush=True)

    def outputs(self, program, inputs, name, *words):
        for old in (self.folder / name).glob("*"):
            old.unlink()
        code, said = self.deuteron("run", program, *inputs, "--output-dir", self.folder / name, *words)
        return code, said, {p.name: p.read_bytes() for p in sorted((self.folder / name).glob("*.npy"))}

    def network(self, seed):
        plan = random_networks.random_plan(seed)
        model = self.folder / "m.pt2"
        try:
            operands = tuple(plan.values[v][0] for v in plan.inputs)
            torch.export.save(torch.export.export(random_networks.network_of(plan), operands), str(model))
        except Exception:  # what PyTorch cannot export
            self.counts["not exported"] += 1
            return
        samples, inputs = [], []
        for k, v in enumerate(plan.inputs):
            np.save(self.folder / f"m.{k}.npy", np.stack([t.numpy() for t in plan.values[v]]))
            np.save(self.folder / f"first.{k}.npy", plan.values[v][0].numpy())
            samples += ["--calibrate", self.folder / f"m.{k}.npy"]
            inputs += ["--input", self.folder / f"first.{k}.npy"]
        for board in self.boards:
            self.on_board(seed, board, model, samples, inputs)

    def on_board(self, seed, board, model, samples, inputs):
        program, facts = self.folder / "m.pte", self.folder / "facts.json"
        code, said = self.deuteron("compile", model, "--target", board.target, *samples, "-o", program)
        if code == 1 and "error: " in said:
            self.counts["refused"] += 1
            return
        if code != 0:
            return self.fails(seed, f"compile for {board.target}: exit code {code}", said)
        code, said, on_host = self.outputs(program, inputs, "host", "--json", facts)
        if code == 0:
            code, said, found = self.outputs(program, inputs, "board", "--on", f"qemu:{board.name}", "--json", facts)
        if code != 0:
            return self.fails(seed, f"{board.name}: exit code {code}", said)
        self.deuteron("inspect", program, "--json", facts)
        in_float = any(call["op"].startswith("aten::") for call in json.loads(facts.read_text())["calls"])
        if on_host == found:
            self.counts["same bits"] += 1
        elif in_float:
            self.counts["float, others"] += 1
        else:
            self.fails(seed, f"{board.name}: other bits than on the host", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tool", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--from", type=int, dest="first", default=0)
    parser.add_argument("--networks", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("build/failing_networks"))
    given = parser.parse_args()
    if not shutil.which("qemu-system-arm"):
        print("left out: no qemu-system-arm")
        return 77
    torch.set_num_threads(1)
    end, done = time.monotonic() + given.seconds, 0
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(given.tool, pathlib.Path(folder), given.keep)
        while done < given.networks and time.monotonic() < end:
            runner.network(given.first + done)
            done += 1
            if done % 50 == 0:
                print(f"{done} networks: {dict(runner.counts)}, {runner.failed} failed", flush=True)
    print(f"{done} networks from {given.first} on {len(runner.boards)} cores: {dict(runner.counts)}, {runner.failed} failed")
    return 1 if runner.failed or not runner.counts["same bits"] else 0


if __name__ == "__main__":
    sys.exit(main())
