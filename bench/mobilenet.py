# SPDX-License-Identifier: Apache-2.0
"""MobileNetV2 and V3 on a Cortex-M55: operators, memory, time and accuracy, beside PT2E with the same calibration.

    build/venv/bin/python bench/mobilenet.py [build/deuteron] [../shared]

The trained MobileNetV2 runs on the photographs of the fixtures; V2 and V3 large are also built as torchvision defines them, with seeded weights. A `!`
marks a bar that does not hold; the exit code is then 1.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import time
from collections import Counter

import numpy as np
import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config
from torch import nn
from torch.export import export, load, save
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

ROOT = pathlib.Path(__file__).resolve().parents[1]
TOOL = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "deuteron").resolve()
FIXTURE = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ROOT.parent / "shared") / "fixtures" / "models" / "mobilenet_v2"
missed = 0


def conv(i, o, kernel, stride=1, groups=1, activation=nn.ReLU6, epsilon=1e-5):
    layers = [nn.Conv2d(i, o, kernel, stride, (kernel - 1) // 2, groups=groups, bias=False), nn.BatchNorm2d(o, eps=epsilon)]
    return nn.Sequential(*layers, *([activation(inplace=True)] if activation else []))


def rounded(v, divisor=8):
    new = max(divisor, int(v + divisor / 2) // divisor * divisor)
    return new + divisor if new < 0.9 * v else new


class Residual(nn.Module):
    """expand -> depthwise -> squeeze and excite -> project, with a shortcut where the shapes allow it."""

    def __init__(self, i, expanded, o, kernel, stride, activation, excite, epsilon=1e-5):
        super().__init__()
        self.shortcut = stride == 1 and i == o
        layers = [] if expanded == i else [conv(i, expanded, 1, activation=activation, epsilon=epsilon)]
        layers.append(conv(expanded, expanded, kernel, stride, expanded, activation, epsilon))
        if excite:
            layers.append(Excite(expanded, rounded(expanded // 4)))
        layers.append(conv(expanded, o, 1, activation=None, epsilon=epsilon))
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return x + self.layers(x) if self.shortcut else self.layers(x)


class Excite(nn.Module):
    def __init__(self, channels, squeezed):
        super().__init__()
        self.pool, self.down, self.up = nn.AdaptiveAvgPool2d(1), nn.Conv2d(channels, squeezed, 1), nn.Conv2d(squeezed, channels, 1)
        self.relu, self.gate = nn.ReLU(), nn.Hardsigmoid()

    def forward(self, x):
        return self.gate(self.up(self.relu(self.down(self.pool(x))))) * x


class MobileNetV2(nn.Module):
    def __init__(self):
        super().__init__()
        layers, channels = [conv(3, 32, 3, 2)], 32
        for expand, out, count, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
            for k in range(count):
                layers.append(Residual(channels, channels * expand, out, 3, stride if k == 0 else 1, nn.ReLU6, False))
                channels = out
        self.features = nn.Sequential(*layers, conv(320, 1280, 1))
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(1280, 1000))

    def forward(self, x):
        return self.classifier(torch.flatten(nn.functional.adaptive_avg_pool2d(self.features(x), (1, 1)), 1))


class MobileNetV3Large(nn.Module):
    def __init__(self):
        super().__init__()
        h, r, e = nn.Hardswish, nn.ReLU, 0.001
        rows = [(3, 16, 16, False, r, 1), (3, 64, 24, False, r, 2), (3, 72, 24, False, r, 1), (5, 72, 40, True, r, 2), (5, 120, 40, True, r, 1),
                (5, 120, 40, True, r, 1), (3, 240, 80, False, h, 2), (3, 200, 80, False, h, 1), (3, 184, 80, False, h, 1), (3, 184, 80, False, h, 1),
                (3, 480, 112, True, h, 1), (3, 672, 112, True, h, 1), (5, 672, 160, True, h, 2), (5, 960, 160, True, h, 1), (5, 960, 160, True, h, 1)]
        layers, channels = [conv(3, 16, 3, 2, activation=h, epsilon=e)], 16
        for kernel, expanded, out, excite, activation, stride in rows:
            layers.append(Residual(channels, expanded, out, kernel, stride, activation, excite, e))
            channels = out
        self.features = nn.Sequential(*layers, conv(160, 960, 1, activation=h, epsilon=e))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(nn.Linear(960, 1280), h(inplace=True), nn.Dropout(0.2, inplace=True), nn.Linear(1280, 1000))

    def forward(self, x):
        return self.classifier(torch.flatten(self.pool(self.features(x)), 1))


def seeded(kind):
    torch.manual_seed(7)
    model = kind().eval()
    for m in model.modules():
        if isinstance(m, nn.BatchNorm2d):  # as a trained network has them: not the identity
            nn.init.uniform_(m.weight, 0.5, 1.5), nn.init.normal_(m.bias, 0, 0.2), nn.init.normal_(m.running_mean, 0, 0.3), nn.init.uniform_(m.running_var, 0.3, 2)
    return model


def bar(text, holds):
    global missed
    missed += not holds
    return text if holds else f"{text} !"


def sqnr(reference, value):
    return 10 * np.log10((reference**2).sum() / ((reference - value) ** 2).sum())


def compile_model(model, where, *options, target="cortex-m55"):
    """The report, and the wall time of the process in seconds: the least of three."""
    times = []
    for _ in range(3):
        start = time.monotonic()
        subprocess.run([TOOL, "compile", model, "--target", target, *options, "-o", where / "m.pte", "--json", where / "m.json"], check=True, capture_output=True)
        times.append(time.monotonic() - start)
    return json.loads((where / "m.json").read_text()), min(times)


def outputs(where, images):
    np.save(where / "in.npy", images)
    subprocess.run([TOOL, "run", where / "m.pte", "--input", where / "in.npy", "--output-dir", where / "out"], check=True, capture_output=True)
    return np.load(where / "out" / "output0.npy").reshape(len(images), -1)


def pt2e(module, images, where):
    """PT2E's quantized graph (symmetric weights by channel), exported, and what it answers."""
    prepared = prepare_pt2e(module, XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True)))
    with torch.no_grad():
        for x in images:
            prepared(x[None])
        converted = convert_pt2e(prepared)
        save(export(converted, (images[:1],)), str(where / "q.pt2"))
        return np.concatenate([converted(x[None]).numpy() for x in images])


def counts(report):
    """Calls by name. A packed convolution is a convolution or a fully connected layer, a linear_add an addition."""
    return Counter(o["op"].removeprefix("cortex_m::").removeprefix("deuteron::").removeprefix("quantized_") for o in report["operators"])


def is_int8(report):
    return report["counts"]["portable"] == 0 and all(o["op"].startswith(("cortex_m::", "deuteron::")) for o in report["operators"])


def calls(name, c, limit, holds):
    listed = ", ".join(f"{n} {op}" for op, n in c.items())
    return f"{name}: " + bar(f"{sum(c.values())} operator calls (limit {limit}): {listed}", sum(c.values()) <= limit and holds)


def trained(where):
    images = np.stack([np.fromfile(f, "<f4").reshape(3, 224, 224) for f in sorted((FIXTURE / "inputs").glob("*.bin"))])
    expected = np.stack([np.fromfile(f, "<f4") for f in sorted((FIXTURE / "expected").glob("*.bin"))])
    module = load(str(FIXTURE / "float.pt2")).module(check_guards=False)
    theirs = pt2e(module, torch.from_numpy(images), where)
    np.save(where / "images.npy", images)
    report, _ = compile_model(FIXTURE / "float.pt2", where, "--calibrate", where / "images.npy")
    ours = outputs(where, images)
    c = counts(report)
    parts = [c["packed_conv2d"] + c["conv2d"] + c["linear"], c["depthwise_conv2d"], c["linear_add"] + c["add"], c["avg_pool2d"],
             c["quantize_per_tensor"], c["dequantize_per_tensor"]]
    print(calls("MobileNetV2, trained", c, 66, parts == [36, 17, 10, 1, 1, 1] and is_int8(report)))
    top = [int((a.argmax(1) == expected.argmax(1)).sum()) for a in (ours, theirs)]
    print("  top-1 as float: " + bar(f"{top[0]} of {len(images)} (PT2E {top[1]}, original int8 4)", top[0] >= max(top[1], 4)))
    db = sqnr(expected, ours), sqnr(expected, theirs)
    print("  SQNR: " + bar(f"{db[0]:.2f} dB (PT2E {db[1]:.2f})", db[0] >= db[1]))
    print("  planned RAM, float I/O: " + bar(f"{report['ram_bytes']} bytes (limit 1509744)", report["ram_bytes"] <= 1509744))
    report, _ = compile_model(FIXTURE / "float.pt2", where, "--calibrate", where / "images.npy", "--io", "int8", "--max-ram", "1505280")
    bytes_, count = report["ram_bytes"], len(report["operators"])
    print("  planned RAM, int8 I/O, --max-ram 1505280: " + bar(f"{bytes_} bytes in {count} calls (limit 1505280 in 66)",
                                                              bytes_ <= 1505280 and count <= 66))
    np.save(where / "eight.npy", np.concatenate([images, images[:3, :, :, ::-1]]))
    _, seconds = compile_model(FIXTURE / "float.pt2", where, "--calibrate", where / "eight.npy")
    print("  compile with 8 calibration samples: " + bar(f"{seconds:.2f} s (limit 1.5; ExecuTorch 20.6)", seconds <= 1.5))
    _, seconds = compile_model(where / "q.pt2", where)
    print("  compile from the quantized graph: " + bar(f"{seconds:.2f} s (limit 0.5)", seconds <= 0.5))
    _, seconds = compile_model(where / "q.pt2", where, target="imxrt700cm")  # PT2E leaves the mean in float, which the NPU alone refuses
    print("  compile from the quantized graph for the Neutron NPU: " + bar(f"{seconds:.2f} s (limit 1)", seconds <= 1))
    report, _ = compile_model(FIXTURE / "float.pt2", where, "--calibrate", where / "images.npy", target="imxrt700")
    state = module.state_dict()
    weights = sum(t.numel() * (1 if t.dim() > 1 else 4) for name, t in state.items() if name.endswith(("weight", "bias")))
    limit = int(weights * 1.03) + 8192
    print("  file for the Neutron NPU: " + bar(f"{report['file_bytes']} bytes, weights and biases alone {weights} (limit {limit})", report["file_bytes"] <= limit))


def structure(kind, limit, where):
    images = torch.randn(4, 3, 224, 224, generator=torch.Generator().manual_seed(3))
    model = seeded(kind)
    with torch.no_grad():
        expected = model(images).numpy()
    save(export(model, (images[:1],)), str(where / "float.pt2"))
    np.save(where / "images.npy", images.numpy())
    report, _ = compile_model(where / "float.pt2", where, "--calibrate", where / "images.npy")
    c = counts(report)
    db = sqnr(expected, outputs(where, images.numpy()))
    print(calls(f"{kind.__name__}, seeded", c, limit, is_int8(report)))
    print(f"  SQNR {db:.1f} dB, RAM {report['ram_bytes']}, file {report['file_bytes']}, multiply-adds {report['macs']}")


for job in (trained, lambda w: structure(MobileNetV2, 66, w), lambda w: structure(MobileNetV3Large, 122, w)):
    with tempfile.TemporaryDirectory() as folder:
        job(pathlib.Path(folder))
print(f"{missed} bars missed (marked with !)")
sys.exit(1 if missed else 0)
