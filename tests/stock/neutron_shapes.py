# SPDX-License-Identifier: Apache-2.0
"""Shapes at and past the limits of the NPU, exported by PyTorch here and now: what is taken is right and wholly on the NPU, what is not says why.

    neutron_shapes.py DEUTERON

For the target imxrt700cm; what is refused there on the NPU must be an error with the same rule for imxrt700, which has no other backend."""
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
LEAST_DB = 28
# A step s of the operand of exp is a relative error of s / sqrt(12) of each result. 20 times a normal number has s = 0.6: 15 dB.
LEAST_DB_OF = {"softmax of 2040": 20, "softmax of 524288 elements": 20}
EDGES = {"cortex_m::quantize_per_tensor", "cortex_m::dequantize_per_tensor"}


class Call(nn.Module):
    def __init__(self, function, *modules):
        super().__init__()
        self.function, self.parts = function, nn.ModuleList(modules)

    def forward(self, *x):
        return self.function(*self.parts, *x)


class Attention(nn.Module):
    def __init__(self, width, heads, **options):
        super().__init__()
        self.attention, self.options = nn.MultiheadAttention(width, heads, batch_first=True), options

    def forward(self, x):
        return self.attention(x, x, x, **self.options)[0]


class VisionBlock(nn.Module):
    """Of a vision transformer: normalization stands before attention and before the two layers."""

    def __init__(self, width, heads):
        super().__init__()
        self.before, self.attention, self.between = nn.LayerNorm(width), Attention(width, heads, need_weights=False), nn.LayerNorm(width)
        self.layers = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        x = x + self.attention(self.before(x))
        return x + self.layers(self.between(x))


def heads(product):
    """Self-attention of 4 heads of 8 on 4-D matrices, as it is written and not as torch decomposes it."""
    def function(layer, x):
        q, k, v = layer(x).reshape(*x.shape[:2], 3, 4, 8).permute(2, 0, 3, 1, 4).unbind(0)
        return product(q, k, v).transpose(1, 2).flatten(2)
    return Call(function, nn.Linear(32, 96))


def bmm(*shapes, rule=""):
    return f"bmm {shapes}", Call(torch.matmul if len(shapes[0]) != 3 else torch.bmm), shapes, rule


def conv(c_in, c_out, kernel, shape, rule="", **options):
    return f"conv {c_in}->{c_out} {kernel} {options} on {shape}", nn.Conv2d(c_in, c_out, kernel, **options), [shape], rule


CASES = [
    bmm((1, 8, 16), (1, 16, 24)), bmm((4, 16, 8), (4, 8, 16)), bmm((3, 24, 40), (3, 40, 8)),
    bmm((24, 16), (16, 8)), bmm((9, 13), (13, 11)), bmm((13,), (13, 11)), bmm((9, 13), (13,)), bmm((2, 3, 9, 13), (3, 13, 7)), bmm((2, 3, 8, 16), (2, 3, 16, 24)),
    bmm((5, 7, 16), (5, 16, 24)), bmm((4, 8, 12), (4, 12, 16)), bmm((2, 197, 3), (2, 3, 5)),
    bmm((4, 8, 16), (4, 16, 20)),
    # Operands that lie the other way round, on either side and on both.
    ("bmm of a permuted x", Call(lambda x, y: torch.bmm(x.permute(0, 2, 1), y)), [(3, 16, 24), (3, 16, 40)], ""),
    ("bmm of a permuted y", Call(lambda x, y: torch.bmm(x, y.permute(0, 2, 1))), [(3, 24, 16), (3, 40, 16)], ""),
    ("bmm of two permuted", Call(lambda x, y: torch.bmm(x.permute(0, 2, 1), y.permute(0, 2, 1))), [(3, 16, 24), (3, 40, 16)], ""),
    ("bmm of other permutes", Call(lambda x, y: torch.bmm(x.permute(1, 0, 2), y.permute(2, 1, 0))), [(24, 3, 16), (40, 16, 3)], ""),
    ("bmm 5x16x16 between convolutions", Call(lambda a, b, x: b(torch.bmm(a(x).flatten(2), a(x).flatten(2).transpose(1, 2)).reshape(5, 16, 4, 4)), nn.Conv2d(6, 16, 1), nn.Conv2d(16, 3, 1)), [(5, 6, 4, 4)], ""),
    ("bmm with the result permuted", Call(lambda x, y: torch.bmm(x, y).transpose(1, 2)), [(3, 24, 16), (3, 16, 40)], ""),

    # Attention: what a softmax gives has the zero point -128.
    ("attention", Attention(32, 4, need_weights=False), [(2, 16, 32)], ""), ("attention and its weights", Attention(32, 4), [(2, 24, 32)], ""),
    ("block of a vision transformer", VisionBlock(32, 4), [(1, 16, 32)], ""), ("two blocks", nn.Sequential(VisionBlock(24, 3), VisionBlock(24, 3)), [(1, 8, 24)], ""),
    ("attention by 4-D matmul", heads(lambda q, k, v: torch.matmul((torch.matmul(q, k.transpose(-2, -1)) * 8 ** -0.5).softmax(-1), v)), [(2, 16, 32)], ""),
    ("attention by its own operator", heads(F.scaled_dot_product_attention), [(2, 16, 32)], ""),
    ("attention of 7 tokens", Attention(32, 4, need_weights=False), [(2, 7, 32)], ""), ("attention of 49 tokens", Attention(32, 4, need_weights=False), [(1, 49, 32)], ""),
    ("attention of heads of 4", Attention(32, 8, need_weights=False), [(2, 16, 32)], ""),

    conv(3, 5, (3, 2), (1, 3, 9, 11)), conv(3, 5, (3, 2), (3, 3, 9, 11), padding=1, bias=False), conv(7, 9, (2, 4), (1, 7, 11, 13), stride=(3, 2)),
    conv(5, 3, (3, 3), (3, 5, 13, 12), dilation=(2, 3), padding=(2, 3)),
    *[conv(3, 4, (k, 1), (1, 3, 4100, 2), "" if k <= 4096 else "neutron.conv2d.kernel") for k in (4095, 4096, 4097)],
    *[conv(3, 4, 1, (1, 3, 4100, 2), "" if s <= 4096 else "neutron.conv2d.stride", stride=(s, 1)) for s in (4095, 4096, 4097)],
    *[conv(3, 4, (2, 1), (1, 3, 4100, 2), "" if d <= 4096 else "neutron.conv2d.dilation", dilation=(d, 1)) for d in (4095, 4096, 4097)],
    conv(65528, 2, 1, (1, 65528, 1, 2)), conv(65529, 2, 1, (1, 65529, 1, 2), "neutron.conv2d.taps"), conv(1032, 2, 8, (1, 1032, 9, 8), "neutron.conv2d.taps"),
    *[conv(c, o, (3, 2), (n, c, 7, 9), groups=g, bias=b) for g, c, o in ((2, 6, 4), (3, 6, 9), (6, 6, 6), (6, 6, 12)) for b in (True, False) for n in (1, 3)],
    ("conv1d", nn.Conv1d(5, 7, 3, 2, 1), [(3, 5, 19)], ""), ("conv1d in groups", nn.Conv1d(6, 4, 3, groups=2), [(1, 6, 13)], ""),
    ("two convolutions of other groups", nn.Sequential(nn.Conv2d(6, 8, 3, groups=2), nn.ReLU(), nn.Conv2d(8, 12, 3, groups=4)), [(2, 6, 9, 8)], ""),
    ("conv and sigmoid", nn.Sequential(nn.Conv2d(3, 6, 3), nn.Sigmoid()), [(1, 3, 9, 7)], ""), ("conv and tanh", nn.Sequential(nn.Conv2d(3, 6, 3), nn.Tanh()), [(2, 3, 9, 7)], ""),
    ("conv and relu6", nn.Sequential(nn.Conv2d(3, 6, 3), nn.ReLU6()), [(2, 3, 9, 7)], ""), ("conv and hardtanh -2..2", nn.Sequential(nn.Conv2d(3, 6, 3), nn.Hardtanh(-2, 2)), [(2, 3, 9, 7)], ""),
    ("transposed", nn.ConvTranspose2d(5, 3, (3, 2), 2, (1, 0)), [(3, 5, 6, 7)], ""), ("transposed with output padding", nn.ConvTranspose2d(5, 3, 3, 2, 1, 1), [(1, 5, 6, 7)], ""),
    ("transposed of one channel", nn.ConvTranspose2d(1, 3, 3, 2, 1), [(1, 1, 6, 7)], ""),
    ("transposed with stride 3", nn.ConvTranspose2d(5, 3, 4, 3), [(1, 5, 6, 7)], "neutron.conv_transpose2d.stride"),

    # Numbers that upstream's fixed parameters would cut off.
    ("x * 2", Call(lambda x: x * 2.0), [(2, 3, 5, 7)], ""), ("x * y of any range", Call(lambda x, y: (3 * x) * y), [(2, 3, 5), (2, 3, 5)], ""), ("x / 3", Call(lambda x: x / 3.0), [(2, 9)], ""),
    ("exp", Call(torch.exp), [(2, 3, 5)], ""), ("sum", Call(lambda x: x.sum(-1, keepdim=True)), [(2, 3, 8)], ""), ("mean over channels", Call(lambda x: x.mean(1)), [(2, 8, 5, 7)], ""),
    ("mean without keepdim", Call(lambda x: F.relu(x).mean((2, 3))), [(3, 8, 5, 7)], ""), ("amax", Call(lambda x: x.amax(2)), [(2, 3, 5, 7)], ""), ("amin", Call(lambda x: x.amin(-1)), [(2, 3, 5)], ""),
    # Ranks 3 and 5, and channels-last partners of rank 3.
    ("permute of rank 3", Call(lambda x: F.relu(x.permute(2, 0, 1))), [(2, 5, 7)], ""), ("permute of rank 5", Call(lambda x: F.relu(x.permute(0, 3, 1, 4, 2))), [(2, 3, 4, 5, 2)], ""),
    ("conv plus a row", Call(lambda c, x, y: c(x) + y, nn.Conv2d(3, 6, 3)), [(2, 3, 9, 7), (6, 1, 1)], ""), ("maximum of ranks 1 and 2", Call(torch.maximum), [(7,), (5, 7)], ""),
    ("softmax of 10", Call(lambda x: x.softmax(-1)), [(3, 10)], ""), ("softmax over the first axis", Call(lambda x: x.softmax(0)), [(2, 6, 5)], "neutron.softmax.axis"), ("softmax over channels", Call(lambda c, x: c(x).softmax(1), nn.Conv2d(3, 6, 3)), [(2, 3, 5, 4)], ""), ("softmax of 2041", Call(lambda x: x.softmax(-1)), [(2, 2041)], "neutron.softmax.channels"),
    ("upsample nearest", nn.Upsample(scale_factor=2), [(2, 3, 5, 7)], ""), ("upsample bilinear", nn.Upsample(scale_factor=4, mode="bilinear"), [(1, 3, 5, 7)], ""), ("upsample by 3", nn.Upsample(scale_factor=3), [(1, 3, 5, 7)], "neutron.resize2d.whole_factor"),
    ("average pool with padding", nn.AvgPool2d(3, 2, 1), [(2, 3, 9, 11)], ""), ("average pool, padding not counted", nn.AvgPool2d(3, 2, 1, count_include_pad=False), [(2, 3, 9, 11)], "neutron.avg_pool2d.padding"),
    ("max pool with padding", nn.MaxPool2d(3, 2, 1), [(3, 4, 9, 11)], ""), ("pools in 1-D", nn.Sequential(nn.MaxPool1d(2), nn.AvgPool1d(3)), [(2, 4, 25)], ""), ("adaptive pool", nn.AdaptiveAvgPool2d((2, 3)), [(2, 4, 6, 9)], ""),
    ("pad, slice, split and concat", Call(lambda x: torch.cat([F.pad(x, (1, 2, 0, 1))[:, :, 1:5, 2:8], x[:, :, :4, :6]], 1)), [(2, 3, 6, 9)], ""),
    ("softmax beside its operand", Call(lambda x: torch.cat([3 * x, x.softmax(-1)], 1)), [(2, 3, 8)], ""),
    ("sigmoid beside tanh and more", Call(lambda x: torch.cat([torch.sigmoid(x), torch.tanh(x), x], 1)), [(2, 3, 5, 7)], ""),
    ("slice of one element with a step", Call(lambda x: x[:, 2::3] + 1), [(1, 4, 5, 7)], ""),
    ("residual block", Call(lambda a, b, x: F.relu(b(F.relu(a(x))) + x), nn.Conv2d(8, 8, 3, 1, 1), nn.Conv2d(8, 8, 3, 1, 1)), [(1, 8, 7, 9)], ""),
    ("parallel pools", Call(lambda c, x: c(torch.cat([F.max_pool2d(x, 3, 1, 1), F.avg_pool2d(x, 3, 1, 1)], 1)), nn.Conv2d(6, 4, 1)), [(1, 3, 8, 9)], ""),
    ("prelu", nn.Sequential(nn.Conv2d(3, 5, 3), nn.PReLU(5)), [(2, 3, 7, 9)], ""), ("hardswish", nn.Hardswish(), [(2, 3, 7, 9)], ""),
    ("sine", Call(torch.sin), [(2, 3, 7, 9)], "neutron.unary.function"),

    # Every other limit that a model of PyTorch can reach: at it, and one past it.
    ("transposed in groups", nn.ConvTranspose2d(6, 4, 3, 2, groups=2), [(2, 6, 5, 7)], "neutron.conv_transpose2d.groups"),
    ("transposed with dilation", nn.ConvTranspose2d(5, 3, 3, 1, dilation=2), [(2, 5, 6, 7)], "neutron.conv_transpose2d.dilation"),
    ("transposed with stride 2", nn.ConvTranspose2d(5, 3, (2, 3), 2), [(2, 5, 6, 7)], ""),
    ("transposed with a stride above the kernel", nn.ConvTranspose2d(5, 3, (1, 2), 2), [(2, 5, 6, 7)], "neutron.conv_transpose2d.stride_kernel"),
    *[(f"transposed with a kernel of {k}", nn.ConvTranspose2d(3, 2, (k, 1)), [(1, 3, 2, 3)], rule) for k, rule in ((4096, ""), (4097, "neutron.conv_transpose2d.kernel"))],
    *[(f"transposed of {c} channels", nn.ConvTranspose2d(c, 2, 1), [(1, c, 1, 2)], rule) for c, rule in ((65528, ""), (65529, "neutron.conv_transpose2d.taps"))],
    ("transposed with padding below the kernel", nn.ConvTranspose2d(5, 3, 3, 1, 2), [(2, 5, 6, 7)], ""),
    ("transposed with the kernel as padding", nn.ConvTranspose2d(5, 3, (3, 2), 1, (1, 2)), [(2, 5, 6, 7)], "neutron.conv_transpose2d.padding"),
    *[(f"linear of {c} inputs", nn.Linear(c, 3), [(2, c)], rule) for c, rule in ((65528, ""), (65529, "neutron.linear.taps"))],
    ("linear of a computed weight", Call(lambda x, w: F.linear(x, w)), [(5, 9), (7, 9)], ""),
    ("linear of a computed bias", Call(lambda w, x, b: F.linear(x, w.weight, b), nn.Linear(9, 7)), [(5, 9), (7,)], ""),
    ("an outer sum", Call(torch.add), [(4, 1, 7), (1, 5, 7)], "neutron.add.broadcast"), ("an outer difference", Call(torch.sub), [(4, 1), (1, 5)], "neutron.add.broadcast"),
    ("an outer product", Call(torch.mul), [(4, 1), (1, 5)], "neutron.mul.broadcast"), ("an outer maximum", Call(torch.maximum), [(4, 1), (1, 5)], "neutron.maximum.broadcast"),
    ("an outer minimum", Call(torch.minimum), [(4, 1), (1, 5)], "neutron.minimum.broadcast"), ("x + 2 y", Call(lambda x, y: torch.add(x, y, alpha=2)), [(3, 5), (3, 5)], "neutron.add.alpha"),
    *[(f"average pool with {w} of {k}", nn.Sequential(nn.ReLU(), nn.AvgPool2d((k, 1) if w == "a window" else 1, (1, 1) if w == "a window" else (k, 1))), [(1, 3, 4100, 2)], f"neutron.avg_pool2d.{'kernel' if w == 'a window' else 'stride'}" if k > 4096 else "") for w in ("a window", "strides") for k in (4096, 4097)],
    *[(f"max pool with {w} of {k}", nn.MaxPool2d((k, 1) if w == "a window" else 1, (1, 1) if w == "a window" else (k, 1)), [(1, 3, 4100, 2)], "neutron.max_pool2d.stride" if k > 4096 and w == "strides" else "") for w in ("a window", "strides") for k in (4096, 4097)],
    ("pools with windows of 10000 elements", nn.Sequential(nn.MaxPool2d(100, 4), nn.AvgPool2d((100, 90))), [(1, 3, 500, 490)], ""),
    ("average pool, ceil_mode", nn.AvgPool2d(2, 2, ceil_mode=True), [(2, 3, 9, 11)], "neutron.avg_pool2d.ceil_mode"), ("average pool with a divisor", nn.AvgPool2d(2, 2, divisor_override=3), [(2, 3, 8, 10)], ""),
    ("max pool, ceil_mode", nn.MaxPool2d(2, 2, ceil_mode=True), [(2, 3, 9, 11)], "neutron.max_pool2d.ceil_mode"), ("max pool with dilation", nn.MaxPool2d(2, 1, dilation=2), [(2, 3, 9, 11)], "neutron.max_pool2d.dilation"),
    ("softmax of 2040", Call(lambda x: (20 * x).softmax(-1)), [(2, 2040)], ""),
    *[(f"softmax of {r} rows", Call(lambda x: x.softmax(-1)), [(r, 6)], rule) for r, rule in ((4096, ""), (4097, "neutron.softmax.rows"))],
    *[(f"softmax of {r * c} elements", Call(lambda x: (20 * x).softmax(-1)), [(r, c)], rule) for r, c, rule in ((4096, 128, ""), (962, 545, "neutron.softmax.elements"))],
    ("upsample by 8", nn.Upsample(scale_factor=8), [(1, 3, 5, 7)], ""), ("upsample by 16", nn.Upsample(scale_factor=16), [(1, 3, 5, 7)], "neutron.resize2d.factor"), ("bilinear by 3", nn.Upsample(scale_factor=3, mode="bilinear"), [(1, 3, 5, 7)], "neutron.resize2d.whole_factor"),
    ("crop by padding", Call(lambda x: F.pad(F.relu(x), (-1, 2))), [(2, 3, 5, 7)], ""), ("slice with a step", Call(lambda x: F.relu(x)[:, ::2]), [(2, 9)], "neutron.slice.step"),
    ("permute of rank 6", Call(lambda x: F.relu(x.permute(0, 5, 3, 1, 4, 2))), [(2, 3, 2, 3, 2, 3)], ""), ("permute of rank 7", Call(lambda x: F.relu(x.permute(0, 6, 3, 1, 5, 4, 2))), [(2, 3, 2, 3, 2, 3, 2)], "neutron.permute.rank"),
    ("reshape to rank 7", Call(lambda x: F.relu(x).reshape(2, 3, 2, 3, 2, 3, 2)), [(12, 36)], ""), ("reshape to rank 8 at the end, which is a view", Call(lambda x: F.relu(x).reshape(2, 3, 2, 3, 2, 3, 2, 1)), [(12, 36)], ""),
    ("add of rank 7", Call(torch.add), [(2, 3, 2, 3, 2, 3, 2), (2, 1, 2, 1, 2, 1, 2)], "neutron.add.rank"), ("mul of rank 7", Call(torch.mul), [(2, 3, 2, 3, 2, 3, 2), (2, 1, 2, 1, 2, 1, 2)], "neutron.mul.rank"),
    ("maximum of rank 7", Call(torch.maximum), [(2, 3, 2, 3, 2, 3, 2), (2, 1, 2, 1, 2, 1, 2)], "neutron.maximum.rank"), ("minimum of rank 7", Call(torch.minimum), [(2, 3, 2, 3, 2, 3, 2), (2, 1, 2, 1, 2, 1, 2)], "neutron.minimum.rank"),
    ("concat of rank 7", Call(lambda x, y: torch.cat([x, y], 3)), [(2, 3, 2, 3, 2, 3, 2), (2, 3, 2, 4, 2, 3, 2)], ""), ("pad of rank 7", Call(lambda x: F.pad(x, (1, 0) * 7)), [(2, 3, 2, 3, 2, 3, 2)], "neutron.pad.rank"),
    ("slice of rank 7", Call(lambda x: F.relu(x)[:, :, :, 1:3]), [(2, 3, 2, 3, 2, 3, 2)], ""), ("sum of rank 7", Call(lambda x: x.sum((1, 3, 5))), [(2, 3, 2, 3, 2, 3, 2)], "neutron.reduce.rank"), ("amax of rank 6", Call(lambda x: x.amax((1, 3, 5))), [(2, 3, 2, 3, 2, 3)], ""),
    ("erf", Call(torch.erf), [(2, 3, 7, 9)], "neutron.unary.function"), ("2 / x", Call(lambda x: 2 / (x * x + 1)), [(2, 9)], "neutron.pointwise.steps"),
    ("clamp -2..3", Call(lambda x: x.clamp(-2, 3)), [(2, 3, 5)], ""), ("relu -> clamp", Call(lambda x: F.relu6(x)), [(2, 3, 5)], ""),
    ("prelu of rank 7", nn.PReLU(3), [(2, 3, 2, 3, 2, 3, 2)], "neutron.permute.rank"),
]


def tool(*arguments):
    return subprocess.run([str(a) for a in arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)


def check(model, shapes, rule, where, least):
    torch.manual_seed(5)
    for p in model.parameters():
        nn.init.normal_(p, 0, 1 / max(1, p[0].numel()) ** 0.5) if p.dim() > 1 else nn.init.normal_(p, 0, 0.3)
    samples = [[torch.randn(s) for s in shapes] for _ in range(4)]
    save(export(model.eval(), tuple(samples[0])), str(where / "m.pt2"))
    calibrate, inputs = [], []
    for k in range(len(shapes)):
        np.stack([s[k].numpy() for s in samples]).tofile(where / f"c{k}.bin")
        samples[0][k].numpy().tofile(where / f"x{k}.bin")
        calibrate += ["--calibrate", where / f"c{k}.bin"]
        inputs += ["--input", where / f"x{k}.bin"]
    done = tool(TOOL, "compile", where / "m.pt2", "--target", "imxrt700cm", "--prefer", "npu", *calibrate, "-o", where / "m.pte", "--json", where / "r.json")
    if done.returncode:
        return "does not compile: " + done.stderr[:300]
    report = json.loads((where / "r.json").read_text())
    if not rule and report["sqnr_db"] is not None and report["sqnr_db"] < least:
        return f"{report['sqnr_db']:.1f} dB"
    rest = [o for o in report["operators"] if o["placement"] != "npu" and o["op"] not in EDGES]
    if not rule:
        alone = tool(TOOL, "compile", where / "m.pt2", "--target", "imxrt700", *calibrate, "-o", where / "a.pte")
        if alone.returncode:
            return "imxrt700 refuses it: " + alone.stderr[:300]
        return f"on the CPU: {[(o['op'], o['reason']) for o in rest]}" if rest else None
    if not any(f"[{rule}]" in o["reason"] for o in rest):
        return f"{rule} is not the reason: {[(o['op'], o['reason']) for o in rest]}"
    alone = tool(TOOL, "compile", where / "m.pt2", "--target", "imxrt700", *calibrate, "-o", where / "a.pte")
    if alone.returncode != 1 or any(t not in alone.stderr for t in (f"[{rule}]", "the Neutron backend does not support ", "(source op")) or (where / "a.pte").exists():
        return f"imxrt700 should refuse it with {rule}: {alone.returncode} {alone.stderr[:300]}"
    return None


failures = 0
for name, model, shapes, rule in CASES:
    with tempfile.TemporaryDirectory() as folder:
        wrong = check(model, shapes, rule, pathlib.Path(folder), LEAST_DB_OF.get(name, LEAST_DB))
    failures += wrong is not None
    if wrong:
        print(f"FAILED {name}: {wrong}")
print(f"{len(CASES)} cases, {sum(bool(c[3]) for c in CASES)} of them past a limit, {failures} failed")
sys.exit(1 if failures else 0)
