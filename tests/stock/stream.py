# SPDX-License-Identifier: Apache-2.0
"""Networks over a window as steps (--stream): after the window has filled, every step has the bits of the window.

    stream.py DEUTERON [--seeds N]

Each network is compiled twice with the same samples, as a window and as a step. The step gets the frames of a sequence one after the other, the window
every stretch of the sequence. The network of the tutorial also holds the bounds: a step computes 1/20 of the window at most, and its state has no byte
more than its lower bound.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch
from tflite_models import Builder, interpret
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import checks
from checks import check

SHARE = 20  # of the window's multiply-adds, 1/SHARE may be computed in a step
DISTINCT = 0.5  # of the results compared have to differ within their network, or equality says nothing
compared = []  # steps, results that differ: for each network


class TemporalConvolutions(nn.Module):
    """Keyword spotting over 49 frames of 10 features: a window of one second, a frame every 20 ms."""
    window, features, axis, frames = 49, 10, 2, 1

    def __init__(self):
        super().__init__()
        self.first, self.depthwise, self.pointwise = nn.Conv1d(10, 64, 5), nn.Conv1d(64, 64, 3, dilation=2, groups=64), nn.Conv1d(64, 64, 1)
        self.last, self.out = nn.Conv1d(64, 64, 5), nn.Linear(64, 12)

    def forward(self, x):
        x = torch.relu(self.depthwise(torch.relu(self.first(x))))
        y = torch.relu(self.pointwise(x))
        return self.out((torch.relu(self.last(y)) + y[:, :, 4:]).mean(-1))


class DepthwiseSeparable(nn.Module):
    """dscnn_kws without padding along time: its first convolution makes a row of two frames."""
    window, features, axis, frames = 49, 10, 2, 2

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 24, (9, 4), stride=2, padding=(0, 1))
        self.layers = nn.ModuleList(nn.Sequential(nn.Conv2d(24, 24, 3, padding=(0, 1), groups=24), nn.ReLU(), nn.Conv2d(24, 24, 1), nn.ReLU()) for _ in range(4))
        self.out = nn.Linear(24, 12)

    def forward(self, x):
        x = torch.relu(self.first(x))
        for layer in self.layers: x = layer(x)
        return self.out(x.mean((2, 3)))

    def shape(self): return (1, 1, 49, 10)


class Spectrogram(nn.Module):
    """Time along the columns; windows that do not reach the last frame, pooling, and a dense layer over all that is left."""
    window, features, axis, frames = 30, 7, 3, 4

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(1, 6, 3, stride=(1, 2)), nn.Conv2d(6, 5, (3, 2))
        self.out = nn.Linear(5 * 3 * 6, 4)

    def forward(self, x):
        x = torch.max_pool2d(torch.relu(self.first(x)), (1, 2))
        return self.out(torch.sigmoid(self.second(x)).flatten(1))

    def shape(self): return (1, 1, 7, 30)


class Random(nn.Module):
    """One-dimensional layers drawn by a seed, one behind the other, with a sum of two of them."""
    axis = 2

    def __init__(self, seed):
        super().__init__()
        r = np.random.default_rng(seed)
        self.features, self.window, self.frames = int(r.integers(1, 9)), int(r.integers(36, 60)), 1
        channels, layers, rows, stride = self.features, [], self.window, 1
        for _ in range(int(r.integers(1, 4))):
            taps, dilation, width = int(r.integers(1, 5)), int(r.integers(1, 3)), int(r.integers(2, 12))
            step = int(r.choice([1, 1, 2])) if stride < 4 else 1
            layers += [nn.Conv1d(channels, width, taps, stride=step, dilation=dilation), r.choice([nn.ReLU, nn.Sigmoid, nn.Tanh])()]
            channels, rows, stride = width, (rows - (taps - 1) * dilation - 1) // step + 1, stride * step
        self.frames = stride * int(r.integers(1, 3))
        self.layers, self.late = nn.Sequential(*layers), int(r.integers(0, 3))
        self.kind = r.choice(["mean", "max", "flatten", "rows"])
        self.out = nn.Linear((rows - self.late) * channels if self.kind == "flatten" else channels, 3)

    def forward(self, x):
        x = self.layers(x)
        if self.late: x = x[:, :, self.late:] * 0.5 + x[:, :, :-self.late]
        if self.kind == "rows": return self.out(x.transpose(1, 2))
        return self.out(x.mean(-1) if self.kind == "mean" else x.amax(-1) if self.kind == "max" else x.flatten(1))


class Padded(DepthwiseSeparable):
    """dscnn_kws as it is: every window pads along time."""
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 24, (10, 4), stride=2, padding=(5, 1))
        for layer in self.layers: layer[0] = nn.Conv2d(24, 24, 3, padding=1, groups=24)


def check_evaluate(tool, folder):
    """With --stream every step has its class in the sequence; without it each begins with the initial state, as the first one does."""
    found = np.load(folder / "output0.npy").reshape(-1, 12)
    np.save(folder / "labels.npy", found.argmax(1).astype(np.int64))
    right = {}
    for words in ([], ["--stream"]):
        common = ["--inputs", folder / "x.npy", "--labels", folder / "labels.npy", "--json", folder / "evaluate.json"]
        if not call([tool, "evaluate", folder / "step.pte", *common, *words]): return
        right[bool(words)] = json.loads((folder / "evaluate.json").read_text())["program_right"]
    print(f"evaluate: {right[True]} of {len(found)} right with --stream, {right[False]} without")
    check(right[True] == len(found) and right[False] < len(found), f"evaluate: {right} of {len(found)}")


def check_padded(tool, folder):
    """Each padded window is refused by its name. And why: what a step of dscnn_kws would compute, to have the bits of its window."""
    torch.export.save(torch.export.export(Padded().eval(), (torch.zeros(1, 1, 49, 10),)), folder / "padded.pt2")
    done = subprocess.run([tool, "analyze", folder / "padded.pt2", "--target", "cortex-m55", "--stream", "2=2"], capture_output=True, text=True)
    check(done.returncode == 1 and done.stderr.count("[stream.padding]") == 5, f"padded windows: {done.returncode}, {done.stderr[-500:]}")
    rows, channels, features = 25, 64, 5  # behind the first convolution: 10x4, stride 2, 4 rows of padding before 49 frames and 5 behind
    edge = sum(2 * r < 4 or 2 * r - 4 + 9 > 48 for r in range(rows))  # its rows that see padding; one more is new
    step, whole = (edge + 1) * 40, rows * 40
    for _ in range(4):  # a 3x3 and a 1x1 layer: a row more sees padding, or what has seen it, at each end
        edge += 2
        step, whole = step + (edge + 1) * (9 + channels), whole + rows * (9 + channels)
    print(f"dscnn_kws as it is: a step would compute {step * channels * features} of {whole * channels * features} multiply-adds, {step / whole:.1%}")
    check(step / whole > 0.4, "a step of the padded dscnn_kws computes less than docs/state.md says")


def shape_of(module): return module.shape() if hasattr(module, "shape") else (1, module.features, module.window)


def call(arguments):
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, timeout=600)
    return check(done.returncode == 0, f"{' '.join(str(a) for a in arguments)}: {done.stdout[-1000:]}{done.stderr[-1000:]}")


def outputs(tool, program, samples, folder):
    np.save(folder / "x.npy", samples)
    return np.load(folder / "output0.npy") if call([tool, "run", program, "--input", folder / "x.npy", "--output-dir", folder]) else None


def check_network(tool, name, module, target, folder):
    """What the report says of the step."""
    shape, axis, window, frames = shape_of(module), module.axis, module.window, module.frames
    with torch.no_grad():
        for p in module.parameters(): p.mul_(2)  # random weights say too little of their operand
    torch.export.save(torch.export.export(module.eval(), (torch.zeros(shape),)), folder / "net.pt2")
    length = window + frames * 20
    features = np.random.default_rng(1).normal(size=(*shape[:axis], length, *shape[axis + 1:])).astype(np.float32)
    part = lambda first, count: np.take(features, range(first, first + count), axis)
    windows = np.stack([part(f, window) for f in range(length % frames, length - window + 1)
                        if (length - window - f) % frames == 0])
    steps = np.stack([part(f, frames) for f in range(length % frames, length, frames)])
    np.save(folder / "calibrate.npy", windows)
    common = ["--target", target, "--calibrate", folder / "calibrate.npy"]
    if not call([tool, "compile", folder / "net.pt2", *common, "--strict", "-o", folder / "window.pte"]): return None
    if not call([tool, "compile", folder / "net.pt2", *common, "--stream", f"{axis}={frames}", "-o", folder / "step.pte", "--json", folder / "step.json"]): return None
    wanted, found = outputs(tool, folder / "window.pte", windows, folder), outputs(tool, folder / "step.pte", steps, folder)
    if wanted is None or found is None: return None
    last = [w.reshape(-1) if w.size == found[0].size else np.split(w, [w.shape[-2] - found[0].shape[-2]], axis=-2)[1].reshape(-1) for w in wanted]
    own = [f.reshape(-1) for f in found[len(found) - len(last):]]
    equal = sum(np.array_equal(a, b) for a, b in zip(last, own))
    check(equal == len(last), f"{name} on {target}: {equal} of {len(last)} steps have the bits of the window")
    compared.append((len(last), len(np.unique(last, axis=0))))
    report = json.loads((folder / "step.json").read_text())
    s, state = report["stream"], report.get("state_bytes", 0)
    print(f"{name} on {target}: {equal} steps equal; {s['macs']} of {s['window_macs']} multiply-adds (1/{s['window_macs'] / s['macs']:.1f}), "
          f"state {state} bytes, lower bound {s['least_state_bytes']}")
    check(state <= s["least_state_bytes"], f"{name}: the state has {state} bytes, its lower bound is {s['least_state_bytes']}")
    return s


def check_tflite(tool, folder):
    """A quantized file keeps the bits of TFLite's reference kernels, as a step too."""
    b, random = Builder(), np.random.default_rng(3)
    window, channels, frames, length = 24, 4, 2, 60
    x = b.input([1, window, 3, channels], 0.03, -7)
    constant = lambda shape, scale: b.constant(random.integers(-127, 128, shape).astype(np.int8), scale)
    bias = lambda n: b.constant(random.integers(-900, 900, n).astype(np.int32))
    valid = {"padding": 1, "strideH": 1, "strideW": 1}
    y = b.op("CONV_2D", [x, constant([6, 5, 3, channels], random.uniform(0.002, 0.01, 6)), bias(6)], [b.tensor([1, 20, 1, 6], 0.05, -3)], "Conv2DOptions", **valid)
    y = b.op("MAX_POOL_2D", [y], [b.tensor([1, 10, 1, 6], 0.05, -3)], "Pool2DOptions", padding=1, strideH=2, strideW=1, filterHeight=2, filterWidth=1)
    y = b.op("DEPTHWISE_CONV_2D", [y, constant([1, 3, 1, 6], 0.01), bias(6)], [b.tensor([1, 8, 1, 6], 0.04, 2)], "DepthwiseConv2DOptions", depthMultiplier=1, **valid)
    b.output(b.op("FULLY_CONNECTED", [y, constant([5, 48], 0.004), bias(5)], [b.tensor([1, 5], 0.05, 4)], "FullyConnectedOptions"))
    (folder / "net.tflite").write_bytes(b.bytes())
    sequence = random.integers(-128, 128, [1, length, 3, channels]).astype(np.int8)
    if not call([tool, "compile", folder / "net.tflite", "--target", "cortex-m55", "--io", "int8", "--stream", f"1={frames}", "-o", folder / "step.pte"]): return
    found = outputs(tool, folder / "step.pte", np.stack([sequence[:, f:f + frames] for f in range(0, length, frames)]), folder)
    wanted = [interpret(b.bytes(), [sequence[:, f:f + window]])[0] for f in range(0, length - window + 1, frames)]
    equal = sum(np.array_equal(w.ravel(), f.ravel()) for w, f in zip(wanted, found[window // frames - 1:]))
    print(f"tflite: {equal} of {len(wanted)} steps have the bits of TFLite's window")
    check(equal == len(wanted) == len(found) - window // frames + 1, f"tflite: {equal} of {len(wanted)} steps have the bits of TFLite's window")
    check(len(np.unique(wanted, axis=0)) > DISTINCT * len(wanted), "tflite: most results are the same")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("deuteron")
    p.add_argument("--seeds", type=int, default=24)
    options = p.parse_args()
    with tempfile.TemporaryDirectory() as d:
        folder = pathlib.Path(d)
        for make in (TemporalConvolutions, DepthwiseSeparable, Spectrogram):
            for target in ("cortex-m55", "cortex-m4", "cortex-m3", "imxrt700cm"):
                torch.manual_seed(1)
                s = check_network(options.deuteron, make.__name__, make(), target, folder)
                if make is TemporalConvolutions: check_evaluate(options.deuteron, folder)
                if make is TemporalConvolutions: check(s and s["macs"] * SHARE <= s["window_macs"], f"a step computes more than 1/{SHARE} of the window")
        check_padded(options.deuteron, folder)
        check_tflite(options.deuteron, folder)
        for seed in range(options.seeds):
            torch.manual_seed(seed)
            check_network(options.deuteron, f"random{seed}", Random(seed), "cortex-m55", folder)
    steps, distinct = map(sum, zip(*compared))
    check(distinct >= DISTINCT * steps, f"only {distinct} of {steps} results differ from each other")
    print(f"{steps} steps, {distinct} results that differ")
    print(f"stream: {checks.verdict()}")
    return checks.failed != 0


sys.exit(main())
