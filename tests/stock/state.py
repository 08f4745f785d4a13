# SPDX-License-Identifier: Apache-2.0
"""Models with state, step by step: our runtime, the stock ExecuTorch runtime and torch's own module, called in a row.

    state.py DEUTERON STOCK_RUNNER

The stock runtime must give the bits of ours at every step, from memory that it has filled with rubbish. Against torch the error of an output must
stay below LEAST dB of signal to noise over all steps, and may not grow: a state that is written wrongly, too late or not at all is 20 dB away.
"""
import copy
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import checks
from checks import check

tool, runner = sys.argv[1], sys.argv[2]
STEPS = 12
LEAST = 25  # dB


class Average(nn.Module):
    """A moving average that does not begin with zeros, and a counter."""
    shape = (1, 8)

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.full((1, 8), 0.5))
        self.register_buffer("count", torch.zeros(1, dtype=torch.int64))
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        self.mean.mul_(0.9).add_(x * 0.1)
        self.count.add_(1)
        return self.layer(x - self.mean), self.count.clone()


class GruCell(nn.Module):
    shape = (1, 6)

    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.GRUCell(6, 10), nn.Linear(10, 3)
        self.register_buffer("hidden", torch.zeros(1, 10))

    def forward(self, x):
        hidden = self.cell(x, self.hidden)
        self.hidden.copy_(hidden)
        return self.out(hidden)


class StreamingConvolutions(nn.Module):
    """Two causal convolutions, one sample at a time, each with a cache."""
    shape = (1, 5, 1)

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv1d(5, 7, 4), nn.Conv1d(7, 4, 3)
        self.register_buffer("a", torch.zeros(1, 5, 3))
        self.register_buffer("b", torch.zeros(1, 7, 2))

    def forward(self, x):
        window = torch.cat([self.a, x], -1)
        self.a.copy_(window[:, :, 1:])
        window = torch.cat([self.b, torch.relu(self.first(window))], -1)
        self.b.copy_(window[:, :, 1:])
        return self.second(window)[:, :, 0]


class KvCache(nn.Module):
    """Attention over the last six steps."""
    shape = (1, 1, 8)

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)
        self.register_buffer("keys", torch.zeros(1, 6, 8))
        self.register_buffer("values", torch.zeros(1, 6, 8))

    def forward(self, x):
        keys = torch.cat([self.keys[:, 1:], self.k(x)], 1)
        values = torch.cat([self.values[:, 1:], self.v(x)], 1)
        self.keys.copy_(keys)
        self.values.copy_(values)
        return torch.softmax(self.q(x) @ keys.transpose(1, 2) * 0.35, -1) @ values


class RingCache(KvCache):
    """Attention over a ring of six steps, written where a counter says, as Hugging Face's StaticCache is."""

    def __init__(self):
        super().__init__()
        self.register_buffer("position", torch.zeros(1, dtype=torch.int64))

    def forward(self, x):
        self.keys.index_copy_(1, self.position, self.k(x))
        self.values.index_copy_(1, self.position, self.v(x))
        self.position.copy_((self.position + 1) % 6)
        return torch.softmax(self.q(x) @ self.keys.transpose(1, 2) * 0.35, -1) @ self.values


class ShiftRegister(nn.Module):
    """The new value of one state is the old one of another, and an output is the old one of a third."""
    shape = (1, 4)

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.register_buffer("a", torch.zeros(1, 4))
        self.register_buffer("b", torch.ones(1, 4))
        self.register_buffer("c", torch.full((1, 4), 2.0))

    def forward(self, x):
        oldest = self.c.clone()
        y = self.layer(x) + self.a * 0.5
        self.c.copy_(self.b)
        self.b.copy_(self.a)
        self.a.copy_(torch.relu(y))
        return y, oldest


def call(arguments):
    result = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600)
    return check(result.returncode == 0, f"{' '.join(str(a) for a in arguments)}: {result.stdout[-1000:]}{result.stderr[-1000:]}")


def eager(module, samples):
    module = copy.deepcopy(module)
    with torch.no_grad():
        steps = [module(torch.from_numpy(x)) for x in samples]
    steps = [y if isinstance(y, tuple) else (y,) for y in steps]
    return [np.stack([step[k].numpy() for step in steps]) for k in range(len(steps[0]))]


def noise_db(found, expected):
    error = ((found.astype(float) - expected) ** 2).sum()
    return 10 * np.log10(max((expected.astype(float) ** 2).sum(), 1e-30) / error) if error else np.inf


def check_model(make, core, form, dialect, where):
    torch.manual_seed(3)
    module = make().eval()
    exported = torch.export.export(module, (torch.zeros(make.shape),))
    model, pte = where / "model.pt2", where / f"{make.__name__}.{core}.{form}.{dialect}.pte"
    torch.export.save(exported if form == "in place" else exported.run_decompositions(), model)
    random = np.random.default_rng(5)
    np.save(where / "calibrate.npy", random.normal(size=(64, *make.shape)).astype(np.float32))
    samples = random.normal(size=(STEPS, *make.shape)).astype(np.float32)
    np.save(where / "x.npy", samples)
    samples.tofile(where / "x.bin")
    if not call([tool, "compile", model, "--target", core, "--dialect", dialect, "--calibrate", where / "calibrate.npy", "-o", pte]): return
    if not call([tool, "run", pte, "--input", where / "x.npy", "--output-dir", where / "ours"]): return
    stock = call([runner, *(["--stock-dialects"] if dialect == "stock" else []), pte, where / "stock", where / "x.bin"])
    for k, expected in enumerate(eager(module, samples)):
        found = np.load(where / "ours" / f"output{k}.npy")
        if expected.dtype.kind == "i":
            check(np.array_equal(found, expected), f"{pte.name}: output {k} is {found.ravel()}, torch's {expected.ravel()}")
        else:
            db, late = noise_db(found, expected), noise_db(found[STEPS // 2:], expected[STEPS // 2:])
            print(f"{pte.name} output {k}: {db:.1f} dB, {late:.1f} dB in the second half")
            check(db >= LEAST and late >= LEAST, f"{pte.name}: output {k} is {db:.1f} dB, {late:.1f} dB in the second half")
        if stock: check(np.fromfile(where / f"stock{k}.bin", found.dtype).tobytes() == found.tobytes(), f"{pte.name}: the stock runtime gives other bits for output {k}")
    begins_anew(pte, where, samples)


def begins_anew(pte, where, samples):
    """With the state as it was at first, a repeated step gives the same."""
    np.save(where / "twice.npy", np.stack([samples[0], samples[0]]))
    if call([tool, "run", pte, "--input", where / "twice.npy", "--reset-state", "--output-dir", where / "twice"]):
        first, again = np.load(where / "twice" / "output0.npy")
        check(np.array_equal(first, again), f"{pte.name}: --reset-state leaves something")
        check(np.array_equal(first, np.load(where / "ours" / "output0.npy")[0]), f"{pte.name}: the first step is another one")


for make in (Average, GruCell, StreamingConvolutions, KvCache, RingCache, ShiftRegister):
    for core, form, dialect in (("cortex-m55", "in place", "deuteron"), ("cortex-m55", "decomposed", "stock"), ("cortex-m3", "decomposed", "deuteron")):
        with tempfile.TemporaryDirectory() as folder:
            check_model(make, core, form, dialect, pathlib.Path(folder))
print(f"state: {checks.verdict()}")
sys.exit(checks.failed != 0)
