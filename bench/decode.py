# SPDX-License-Identifier: Apache-2.0
"""A decoder's step with caches of keys and values: instructions a token on emulated boards, and memory.

    python bench/decode.py [BUILD] [WIDTH LAYERS POSITIONS]

Needs torch. Random weights; the caches are buffers that move on by a row in each call. The boards' bits are compared with the host's; the exit code
is 1 where one differs."""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch
from torch import nn

BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build").resolve()
WIDTH, LAYERS, POSITIONS = map(int, sys.argv[2:5] or (192, 2, 64))
HEADS = WIDTH // 32
BOARDS = {"cortex-m55": "mps3-an547", "cortex-m33": "mps2-an505", "cortex-m4": "mps2-an386", "cortex-m3": "mps2-an385"}


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.q, self.k, self.v, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(1, HEADS, POSITIONS, WIDTH // HEADS))

    def forward(self, x):
        h = self.before(x)
        q, k, v = (f(h).view(1, 1, HEADS, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        keys, values = torch.cat([self.keys[:, :, 1:], k], 2), torch.cat([self.values[:, :, 1:], v], 2)
        self.keys.copy_(keys)
        self.values.copy_(values)
        seen = torch.softmax(q @ keys.transpose(2, 3) / (WIDTH // HEADS) ** 0.5, -1) @ values
        x = x + self.out(seen.transpose(1, 2).reshape(1, 1, WIDTH))
        return x + self.down(torch.relu(self.up(self.between(x))))


def call(*words):
    done = subprocess.run([BUILD / "deuteron", *map(str, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)


def main():
    torch.manual_seed(0)
    model = nn.Sequential(*(Layer() for _ in range(LAYERS)), nn.LayerNorm(WIDTH)).eval()
    steps = np.random.RandomState(0).randn(64, 1, 1, WIDTH).astype(np.float32)
    differ = 0
    print("| core | instructions a token | its cycles | predicted | RAM for tensors | bits |\n| --- | ---: | ---: | ---: | ---: | --- |")
    with tempfile.TemporaryDirectory() as folder:
        where = pathlib.Path(folder)
        torch.export.save(torch.export.export(model, (torch.zeros(1, 1, WIDTH),)), where / "step.pt2")
        np.save(where / "all.npy", steps), np.save(where / "some.npy", steps[:8])
        for core, board in BOARDS.items():
            call("compile", where / "step.pt2", "--target", core, "--calibrate", where / "all.npy", "--io", "int8", "-o", where / "step.pte",
                 "--json", where / "compiled.json")  # fmt: skip
            call("run", where / "step.pte", "--input", where / "some.npy", "-o", where / "host")
            call("run", where / "step.pte", "--input", where / "some.npy", "-o", where / "board", "--on", f"qemu:{board}", "--cycles", core, "--json", where / "run.json")
            same = np.array_equal(np.load(where / "host/output0.npy"), np.load(where / "board/output0.npy"))
            differ += not same
            compiled, run = (json.loads((where / f"{name}.json").read_text()) for name in ("compiled", "run"))
            cycles = round(run["estimated_cycles"]["cycles"])
            print(f"| {core} | {run['instructions']} | {cycles} | {compiled['cycles']['total']} | {compiled['ram_bytes']} | {'the host’s' if same else 'OTHERS'} |", flush=True)
    sys.exit(differ > 0)


main()
