# SPDX-License-Identifier: Apache-2.0
"""Small networks of every common kind, exported by PyTorch here and now: each compiles, and stays near its float model.

    networks.py DEUTERON

As exported and decomposed to core ATen; seeded weights, batch norm with statistics that are not the identity. What may run on portable kernels is listed.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.export import export, save

TOOL = sys.argv[1]
LEAST_DB = 30


def block(i, o, kernel=3, stride=1, groups=1):
    return nn.Sequential(nn.Conv2d(i, o, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(o), nn.ReLU())


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = block(3, 8), block(8, 16), block(16, 32)
        self.up1, self.down1, self.up2, self.down2 = nn.ConvTranspose2d(32, 16, 2, 2), block(32, 16), nn.ConvTranspose2d(16, 8, 2, 2), block(16, 8)
        self.out = nn.Conv2d(8, 2, 1)

    def forward(self, x):
        a = self.a(x)
        b = self.b(F.max_pool2d(a, 2))
        y = self.down1(torch.cat([self.up1(self.c(F.max_pool2d(b, 2))), b], 1))
        return self.out(self.down2(torch.cat([self.up2(y), a], 1)))


class Dense(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.layers, self.out = block(3, 8), nn.ModuleList([block(8 + 6 * k, 6) for k in range(4)]), nn.Linear(32, 5)

    def forward(self, x):
        x = self.stem(x)
        for layer in self.layers:
            x = torch.cat([x, layer(x)], 1)
        return self.out(x.mean((2, 3)))


class Shuffle(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.out = block(3, 16), nn.Linear(16, 4)
        self.branch = nn.Sequential(block(8, 8, 1), nn.Conv2d(8, 8, 3, 1, 1, groups=8), block(8, 8, 1))

    def forward(self, x):
        a, b = self.stem(x).chunk(2, 1)
        y = torch.cat([a, self.branch(b)], 1)
        n, c, h, w = y.shape
        return self.out(F.adaptive_avg_pool2d(y.view(n, 2, c // 2, h, w).transpose(1, 2).reshape(n, c, h, w), 1).flatten(1))


class Inception(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.pool, self.head = block(4, 6, 1), nn.Sequential(block(4, 3, 1), block(3, 6)), block(4, 5, 1), nn.Conv2d(21, 4, 1)

    def forward(self, x):
        return self.head(torch.cat([self.a(x), self.b(x), self.pool(F.max_pool2d(x, 3, 1, 1)), F.avg_pool2d(x, 3, 1, 1)], 1)).amax((2, 3))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Linear(10, 24), nn.Linear(24, 3)
        self.layer = nn.TransformerEncoderLayer(24, 4, 48, batch_first=True, norm_first=True, activation="gelu", dropout=0.0)

    def forward(self, x):
        return self.out(self.layer(self.embed(x)).mean(1))


class Temporal(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers, self.out = nn.ModuleList([nn.Conv1d(6 if k == 0 else 12, 12, 3, dilation=2**k) for k in range(3)]), nn.Linear(12, 4)

    def forward(self, x):
        for k, layer in enumerate(self.layers):
            x = F.relu(layer(F.pad(x, (2 * 2**k, 0))))
        return self.out(x[:, :, -1])


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru, self.out = nn.GRU(8, 16, 2, batch_first=True), nn.Linear(16, 3)

    def forward(self, x):
        return torch.sigmoid(self.out(self.gru(x)[0][:, -1]))


class Grouped(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(block(3, 16), block(16, 16, 3, 2, 4), nn.Conv2d(16, 16, 3, 1, 1, groups=8), nn.PReLU(16), nn.AdaptiveAvgPool2d((2, 3)),
                                    nn.Flatten(), nn.Linear(96, 6))

    def forward(self, x):
        return self.layers(x)


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch, self.norm1, self.norm2, self.out = nn.Conv2d(3, 16, 4, 4), nn.LayerNorm(16), nn.LayerNorm(16), nn.Linear(16, 5)
        self.tokens, self.channels = (nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16)) for _ in range(2))

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = x + self.tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return self.out((x + self.channels(self.norm2(x))).mean(1))


class SqueezeExcite(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.depthwise = nn.Sequential(nn.Conv2d(3, 12, 3, 2, 1), nn.SiLU()), nn.Conv2d(12, 12, 5, 1, 2, groups=12)
        self.reduce, self.expand, self.out = nn.Conv2d(12, 4, 1), nn.Conv2d(4, 12, 1), nn.Linear(12, 4)

    def forward(self, x):
        x = F.silu(self.depthwise(self.stem(x)))
        gate = torch.sigmoid(self.expand(F.silu(self.reduce(F.adaptive_avg_pool2d(x, 1)))))
        return F.log_softmax(self.out((x * gate).mean((2, 3))), -1)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.head = block(3, 8, 3, 2), block(8, 16, 3, 2), nn.Conv2d(24, 7, 1)

    def forward(self, x):
        a = self.a(x)
        b = F.interpolate(self.b(a), scale_factor=2, mode="nearest")
        place, size, kind = self.head(torch.cat([b, a], 1)).split([2, 2, 3], 1)
        return torch.sigmoid(place) * 2 - 0.5, torch.exp(size.clamp(max=2)), kind.softmax(1)


class Bilinear(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.head = block(3, 8, 3, 2), nn.Conv2d(8, 2, 1)

    def forward(self, x):
        return F.interpolate(self.head(self.a(x)), size=(16, 16), mode="bilinear", align_corners=False)


NETWORKS = [(UNet, (1, 3, 16, 16)), (Dense, (1, 3, 9, 10)), (Shuffle, (1, 3, 8, 10)), (Inception, (2, 4, 7, 9)), (Encoder, (1, 7, 10)), (Temporal, (1, 6, 20)),
            (Recurrent, (1, 9, 8)), (Grouped, (1, 3, 12, 18)), (Mixer, (1, 3, 16, 16)), (SqueezeExcite, (1, 3, 14, 15)), (Detector, (1, 3, 16, 12)),
            (Bilinear, (1, 3, 16, 16))]
# Decomposed prelu and attention compare and choose; bilinear resampling has no int8 kernel.
PORTABLE = {"aten::eq", "aten::gt", "aten::where", "aten::upsample_bilinear2d"}
failures = 0
for kind, shape in NETWORKS:
    torch.manual_seed(3)
    model = kind().eval()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.normal_(module.running_mean, 0, 0.3), nn.init.uniform_(module.running_var, 0.5, 2)
    inputs = torch.randn(16, *shape)
    exported = export(model, (inputs[0],))
    for form, program in (("exported", exported), ("core", exported.run_decompositions())):
        with tempfile.TemporaryDirectory() as folder:
            where = pathlib.Path(folder)
            save(program, str(where / "net.pt2"))
            np.save(where / "x.npy", inputs.numpy()[:, 0] if shape[0] == 1 else inputs.numpy())
            command = [TOOL, "compile", where / "net.pt2", "--target", "cortex-m33", "--calibrate", where / "x.npy", "-o", where / "net.pte", "--json", where / "net.json"]
            result = subprocess.run([str(a) for a in command], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
            if result.returncode:
                failures += 1
                print(f"FAILED {kind.__name__} ({form}): {result.stderr[:500]}")
                continue
            report = json.loads((where / "net.json").read_text())
            portable = {o["op"] for o in report["operators"] if o["placement"] == "portable"}
            holds = report["sqnr_db"] >= LEAST_DB and portable <= PORTABLE
            failures += not holds
            print(f"{'' if holds else 'FAILED '}{kind.__name__} ({form}): {report['sqnr_db']:.1f} dB, {len(report['operators'])} calls{', ' + ' '.join(sorted(portable)) if portable else ''}")
print(f"{2 * len(NETWORKS)} programs, {failures} failed")
sys.exit(1 if failures else 0)
