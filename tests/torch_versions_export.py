#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports the same 12 models with whatever torch this Python has (2.6 and newer):

    python tests/torch_versions_export.py FOLDER        writes FOLDER/NAME.pt2 and FOLDER/torch.txt

Weights are made by NumPy from a seed, so that the files differ only in what the version of torch makes different.
tests/torch_versions.py compiles what is kept of them.
"""

import pathlib
import sys

import numpy
import torch
from torch import nn
from torch.nn import functional

try:
    from torch.ao.quantization.fx import _decomposed  # noqa: F401  registers quantized_decomposed
except ImportError:
    from torchao.quantization.pt2e import _decomposed  # noqa: F401

STEPS = (0.05, 3, -128, 127, torch.int8)


def conv(channels_in, channels_out, size=3, stride=1, groups=1):
    """A convolution, its batch norm and a relu."""
    return nn.Sequential(
        nn.Conv2d(channels_in, channels_out, size, stride, size // 2, groups=groups, bias=False),
        nn.BatchNorm2d(channels_out),
        nn.ReLU(),
    )


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(conv(1, 4), nn.MaxPool2d(2), conv(4, 6), nn.AdaptiveAvgPool2d(1))
        self.head = nn.Linear(6, 5)

    def forward(self, x):
        return self.head(torch.flatten(self.features(x), 1))


class Separable(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(conv(2, 6, stride=2), conv(6, 6, groups=6), conv(6, 8, size=1))
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return functional.softmax(self.head(functional.avg_pool2d(self.features(x), (5, 4)).flatten(1)), dim=1)


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.first, self.second = conv(3, 4), conv(4, 4), nn.Conv2d(4, 4, 3, padding=1)

    def forward(self, x):
        y = self.stem(x)
        return functional.relu(y + self.second(self.first(y))).mean((2, 3))


class Excited(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.squeeze, self.excite = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 4, 1), nn.Conv2d(4, 8, 1)

    def forward(self, x):
        y = functional.hardswish(self.conv(x))
        gate = functional.hardsigmoid(self.excite(functional.relu(self.squeeze(functional.adaptive_avg_pool2d(y, 1)))))
        return (y * gate).flatten(1)


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(20, 12), nn.ReLU6(), nn.Linear(12, 4), nn.GELU(), nn.Linear(4, 20))

    def forward(self, x):
        return self.layers(x)


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.layer, self.head = kind(5, 6, batch_first=True), nn.Linear(6, 2)

    def forward(self, x):
        return torch.sigmoid(self.head(self.layer(x)[0][:, -1]))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(8), nn.Linear(8, 24), nn.Linear(8, 8)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).reshape(1, 7, 3, 2, 4).permute(2, 0, 3, 1, 4).unbind(0)
        y = functional.scaled_dot_product_attention(q, k, v)
        return x + self.out(y.transpose(1, 2).reshape(1, 7, 8))


class Quantized(nn.Module):
    """As convert_pt2e leaves a linear layer."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(10, 6)
        self.register_buffer("steps", torch.zeros(6, 10, dtype=torch.int8))
        self.register_buffer("scales", torch.full((6,), 0.02))
        self.register_buffer("zeros", torch.zeros(6, dtype=torch.int64))

    def forward(self, x):
        ops = torch.ops.quantized_decomposed
        x = ops.dequantize_per_tensor(ops.quantize_per_tensor(x, *STEPS), *STEPS)
        w = ops.dequantize_per_channel(self.steps, self.scales, self.zeros, 0, -127, 127, torch.int8)
        y = functional.linear(x, w, self.linear.bias)
        return ops.dequantize_per_tensor(ops.quantize_per_tensor(y, *STEPS), *STEPS)


class Half(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.head = nn.Conv2d(2, 4, 3), nn.Linear(4, 3)

    def forward(self, x):
        return self.head(functional.relu(self.conv(x)).mean((2, 3))).to(torch.float32)


class Camera(nn.Module):
    """Bytes as a camera gives them, channels last; the batch is dynamic."""

    def __init__(self):
        super().__init__()
        self.conv, self.head = nn.Conv2d(3, 4, 3, stride=2), nn.Linear(4, 3)

    def forward(self, x):
        y = functional.relu(self.conv(x.permute(0, 3, 1, 2).float() / 255))
        return self.head(y.mean((2, 3)).reshape(x.shape[0], -1))


class Tokens(nn.Module):
    """A constant, buffers of both kinds, a mask, and two sizes that depend on one symbol."""

    def __init__(self):
        super().__init__()
        self.table, self.head = nn.Embedding(16, 6), nn.Linear(6, 16, bias=False)
        self.register_buffer("places", torch.zeros(1, 12, 6), persistent=False)
        self.register_buffer("scale", torch.ones(6))

    def forward(self, ids):
        n = ids.shape[1]
        x = self.table(ids) * self.scale + self.places[:, :n]
        pairs = x.reshape(1, n // 2, 12) * torch.tensor([0.5, 2.0] * 6)
        return self.head(torch.cat([pairs.reshape(1, n, 6), x], 1))


def models():
    """By name: the module, its example, its dynamic sizes."""
    image = lambda *shape: torch.zeros(1, *shape)  # noqa: E731
    half_n = torch.export.Dim("half_n", min=2, max=6)
    return {
        "cnn": (Cnn(), image(1, 10, 12), None),
        "separable": (Separable(), image(2, 10, 8), None),
        "residual": (Residual(), image(3, 8, 6), None),
        "excited": (Excited(), image(3, 7, 9), None),
        "autoencoder": (Autoencoder(), image(20), None),
        "lstm": (Recurrent(nn.LSTM), image(9, 5), None),
        "gru": (Recurrent(nn.GRU), image(9, 5), None),
        "attention": (Attention(), image(7, 8), None),
        "quantized": (Quantized(), image(10), None),
        "half": (Half().half(), image(2, 7, 6).half(), None),
        "camera": (Camera(), torch.zeros(4, 9, 11, 3, dtype=torch.uint8), {"x": {0: torch.export.Dim("batch", max=16)}}),
        "tokens": (Tokens(), torch.zeros(1, 8, dtype=torch.int64), {"ids": {1: 2 * half_n}}),
    }


def fill(module, random):
    """Numbers that no version of torch has a hand in."""
    for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
        if name in ("scales", "zeros") or not tensor.ndim:
            continue
        numbers = random.uniform(0.5, 1.5, tensor.shape) if "running_var" in name else random.normal(0, 0.4, tensor.shape)
        if tensor.dtype == torch.int8:
            numbers = random.integers(-127, 128, tensor.shape)
        tensor.data.copy_(torch.from_numpy(numpy.asarray(numbers)))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for seed, (name, (module, example, dynamic)) in enumerate(models().items()):
        fill(module, numpy.random.default_rng(seed))
        program = torch.export.export(module.eval(), (example,), dynamic_shapes=dynamic, strict=True)
        torch.export.save(program, str(folder / f"{name}.pt2"))
    (folder / "torch.txt").write_text(torch.__version__.split("+")[0] + "\n")


if __name__ == "__main__":
    main()
