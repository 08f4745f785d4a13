#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small torch modules as litert-torch and ai-edge-quantizer write them, for tests/stock/litert_files.py.

    litert_make.py FOLDER [NAME ...]

Needs litert-torch 0.10 and ai-edge-quantizer 0.10, which no test installs: the files are carried (tests/carried/litert). One folder for each
form: `float`; `half`, `weight8` and `weight4` with constants of fewer bits that are dequantized; `hybrid8`, whose layers read int8 weights
beside floats; `int8`; `int4` with weights of four bits. What a form leaves as another one has it is not written again.
"""
import copy
import pathlib
import sys
import warnings

import litert_torch
import numpy as np
import torch
import torch.nn.functional as F
from ai_edge_litert import schema_py_generated as schema
from ai_edge_quantizer import algorithm_manager, qtyping, quantizer, recipe
from torch import nn

MODULES = {}


def module(*shapes, kinds=None):
    def add(make):
        MODULES[make.__name__] = (make, shapes, kinds)
        return make
    return add


class Of(nn.Module):
    """A function, and the layers that it takes."""

    def __init__(self, function, **layers):
        super().__init__()
        self.function = function
        for name, layer in layers.items():
            setattr(self, name, layer)

    def forward(self, *x):
        return self.function(self, *x)


def of(*shapes, **layers):
    """A module of one line."""
    def add(function):
        MODULES[function.__name__] = (lambda: Of(function, **{k: v() for k, v in layers.items()}), shapes, None)
        return function
    return add


image, row, sequence = (1, 3, 12, 10), (1, 24), (1, 9, 16)


@module(image)
def conv():
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU())


@module(image)
def conv_strided():
    return nn.Sequential(nn.Conv2d(3, 8, (3, 5), stride=2), nn.Hardswish())


@module(image)
def conv_padded_max_pool():
    return nn.Sequential(nn.Conv2d(3, 8, 3), nn.MaxPool2d(3, 2, 1))


@module(image)
def max_pool_dilated():
    return nn.MaxPool2d(3, 1, dilation=2)


@module(image)
def max_pool_ceil():
    return nn.MaxPool2d(3, 2, ceil_mode=True)


@module(image)
def avg_pool():
    return nn.Sequential(nn.AvgPool2d(3, 2, 1, count_include_pad=False), nn.Tanh())


@module(image)
def avg_pool_counted():
    return nn.AvgPool2d(2)


@module(image)
def adaptive_pool():
    return nn.AdaptiveAvgPool2d((3, 5))


@module(image)
def depthwise():
    return nn.Sequential(nn.Conv2d(3, 6, 3, groups=3, padding=1), nn.ReLU6(), nn.Conv2d(6, 8, 1))


@module((1, 8, 9, 7))
def grouped():
    return nn.Conv2d(8, 12, 3, groups=4)


@module(image)
def batch_norm():
    net = nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8), nn.SiLU())
    net[1].running_mean.uniform_(-1, 1), net[1].running_var.uniform_(0.5, 2)
    return net


@module(image)
def group_norm():
    return nn.Sequential(nn.Conv2d(3, 8, 3), nn.GroupNorm(4, 8))


@module(image)
def instance_norm():
    return nn.InstanceNorm2d(3, affine=True)


@module(image)
def dilated():
    return nn.Conv2d(3, 4, 3, dilation=2, padding=2)


@module((1, 6, 20))
def conv1d():
    return nn.Sequential(nn.Conv1d(6, 8, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2))


@module((1, 3, 6, 8, 7))
def conv3d():
    return nn.Sequential(nn.Conv3d(3, 4, 3, padding=1), nn.ReLU())


@module((1, 5, 6, 7))
def transposed():
    return nn.ConvTranspose2d(5, 4, 3, stride=2, padding=1, output_padding=1)


@module(row)
def mlp():
    return nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Linear(32, 10), nn.Softmax(-1))


@module((3, 24))
def mlp_rows():
    return nn.Sequential(nn.Linear(24, 16, bias=False), nn.GELU(), nn.Linear(16, 5), nn.LogSoftmax(-1))


@module(row)
def gelu_tanh():
    return nn.Sequential(nn.Linear(24, 16), nn.GELU(approximate="tanh"), nn.Linear(16, 3), nn.Sigmoid())


@module(sequence)
def layer_norm():
    return nn.Sequential(nn.LayerNorm(16), nn.Linear(16, 16), nn.ELU())


@module(sequence)
def attention():
    return Of(lambda s, x: s.m(x, x, x, need_weights=False)[0], m=nn.MultiheadAttention(16, 4, batch_first=True))


@module(sequence)
def causal_attention():
    mask = torch.triu(torch.full((9, 9), -torch.inf), 1)
    return Of(lambda s, x: F.softmax(s.q(x) @ s.k(x).transpose(1, 2) / 4 + mask, -1) @ x, q=nn.Linear(16, 16), k=nn.Linear(16, 16))


@module(sequence)
def filled_attention():
    mask = torch.tril(torch.ones(9, 9)) == 0
    return Of(lambda s, x: F.softmax((s.q(x) @ x.transpose(1, 2)).masked_fill(mask, -torch.inf), -1) @ x, q=nn.Linear(16, 16))


@module(sequence)
def encoder():
    return nn.TransformerEncoderLayer(16, 2, 32, batch_first=True).eval()


@module((1, 7), kinds=[(torch.int32, 20)])
def embedding():
    return Of(lambda s, x: s.out(s.table(x).mean(1)), table=nn.Embedding(20, 12), out=nn.Linear(12, 4))


@module((1, 6, 10))
def lstm():
    return Of(lambda s, x: s.cell(x)[0], cell=nn.LSTM(10, 8, batch_first=True))


@module((1, 6, 10))
def gru():
    return Of(lambda s, x: s.cell(x)[0][:, -1], cell=nn.GRU(10, 8, batch_first=True))


@of((1, 8, 6, 5), conv=lambda: nn.Conv2d(8, 8, 3, padding=1))
def residual(s, x):
    return F.relu(s.conv(x) + x)


@of((1, 8, 6, 5), a=lambda: nn.Conv2d(8, 4, 1), b=lambda: nn.Conv2d(8, 6, 3, padding=1))
def joined(s, x):
    return torch.cat([s.a(x), s.b(x)], 1)


@of((1, 8, 6, 5), a=lambda: nn.Linear(8, 4), b=lambda: nn.Linear(4, 8))
def squeeze_excite(s, x):
    return x * F.sigmoid(s.b(F.relu(s.a(x.mean((2, 3))))))[:, :, None, None]


@of((1, 4, 5, 6))
def upsampled(s, x):
    return F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)


@of((1, 4, 5, 6))
def upsampled_nearest(s, x):
    return F.interpolate(x, scale_factor=2)


@of((1, 4, 5, 6))
def shuffled(s, x):
    return F.pixel_shuffle(x, 2)


@of((1, 4, 5, 6))
def padded(s, x):
    return F.pad(x, (1, 2, 0, 1), value=0.5) * 2


@of((1, 4, 5, 6))
def reflected(s, x):
    return F.pad(x, (1, 2, 2, 1), mode="reflect")


@of((1, 4, 5, 6))
def clamped(s, x):
    return torch.clamp(x, -0.5, 0.75) + x.abs()


@of((2, 9))
def functions(s, x):
    return torch.exp(-x * x) + torch.log1p(x.abs()) + torch.sqrt(x.abs()) + torch.rsqrt(x.abs() + 1)


@of((2, 9))
def waves(s, x):
    return torch.sin(x) * torch.cos(2 * x)


@of((2, 9), (2, 9))
def angle(s, x, y):
    return torch.atan2(x, y)


@of((2, 9), (2, 9))
def smooth(s, x, y):
    return F.softplus(x) + F.leaky_relu(y, 0.1) + F.mish(x - y)


@of((2, 9), (2, 9))
def quotient(s, x, y):
    return x / (y.abs() + 1) + torch.maximum(x, y) - torch.minimum(x, 2 * y)


@of((2, 9), (2, 9))
def chosen(s, x, y):
    return torch.where(x > y, x, y)


@of((3, 8, 6), (3, 6, 5))
def products(s, x, y):
    return torch.bmm(x, y)


@of((8, 6), (6, 5))
def product(s, x, y):
    return x @ y


@of((8, 6), (5, 6))
def product_by_rows(s, x, y):
    return F.linear(x, y)


@of((2, 3, 4, 6), (1, 1, 6, 5))
def product_shared(s, x, y):
    return torch.matmul(x, y)


@of((4, 6), (4, 6))
def distance(s, x, y):
    return torch.cdist(x, y)


@of((3, 10))
def norms(s, x):
    return F.normalize(x, dim=1) + torch.linalg.vector_norm(x, dim=1, keepdim=True)


@of((3, 4, 5))
def reductions(s, x):
    return x.amax(2) + x.amin(2) + x.sum(2) + x.mean(2) + x.var(2)


@of((3, 10))
def running(s, x):
    return torch.cumsum(x, 1)


@of((3, 10))
def largest(s, x):
    return torch.topk(x, 3, dim=1)[0]


@of((3, 10))
def positions(s, x):
    return torch.argmax(x, 1)


@of((3, 10))
def sorted_rows(s, x):
    return torch.sort(x, 1)[0]


@of((3, 10))
def rolled(s, x):
    return torch.roll(x, 3, 1) + torch.flip(x, [1])


@of((4, 10))
def written(s, x):
    y = torch.zeros(4, 10)
    y[1:3, 2:7] = x[:2, 3:8]
    return y + x


@of((4, 10))
def scattered(s, x):
    return torch.zeros(4, 12).scatter(1, torch.tensor([[3, 0, 7], [1, 2, 4], [11, 5, 6], [9, 8, 10]]), x[:, :3])


@of((4, 10))
def added_at(s, x):
    return torch.zeros(6, 10).index_add(0, torch.tensor([1, 4, 1, 0]), x)


@of((4, 10))
def picked(s, x):
    return x[:, [3, 1, 7]] + x[[0, 2, 2, 1]][:, 4:7]


@of((1, 4, 9, 8))
def windows(s, x):
    return F.unfold(x, 3)


@of((1, 6, 5, 4))
def sums_of_windows(s, x):
    return F.avg_pool2d(F.max_pool2d(x, 2, stride=1, padding=1), 3, divisor_override=1)


@of((2, 3, 4, 5))
def einsum(s, x):
    return torch.einsum("abcd,abed->abce", x, x)


@of((2, 3, 8))
def complex_moves(s, x):
    a, b = x.chunk(2, -1)
    return torch.stack([a, b], 2).permute(1, 0, 3, 2).reshape(3, -1).repeat(1, 2)


@of((1, 6, 7, 5), conv=lambda: nn.Conv2d(6, 6, 1), slope=lambda: nn.PReLU(6))
def slopes(s, x):
    return s.slope(s.conv(x))


@of((1, 4, 6, 6), (1, 5, 5, 2))
def sampled(s, x, at):
    return F.grid_sample(x, at.clamp(-1, 1), align_corners=False)


@of((3, 7))
def gathered(s, x):
    return torch.gather(x, 1, (x > 0).long()[:, :2])


@of((2, 3, 4))
def sums_of_powers(s, x):
    return x.prod(1) + torch.logsumexp(x, 1) + x.std(1)


@of((2, 9), (2, 9))
def truths(s, x, y):
    return ((x > 0) & (y < 0) | ~(x >= y)).float() + torch.any(x > 1, dim=1, keepdim=True).float() + torch.all(x > -2, dim=1, keepdim=True).float()


@of((2, 9))
def special(s, x):
    return torch.erf(x) + torch.expm1(x) + F.hardsigmoid(x) + F.selu(x) + F.softsign(x) + torch.atan(x) + torch.sinh(x) + torch.log2(x.abs() + 1)


@of((2, 4, 8), (2, 4, 8), (2, 4, 8))
def causal_product(s, q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


@module((1, 6, 10))
def both_ways():
    return Of(lambda s, x: s.cell(x)[0], cell=nn.LSTM(10, 6, batch_first=True, bidirectional=True))


# In int8 they compare values that are computed, or ask whether something is infinite, for which the quantizer writes a scale that is.
FLOAT_ONLY = {"sampled", "sums_of_powers", "truths"}


def values(shape, kind, seed):
    random = np.random.default_rng(seed)
    return torch.tensor(random.integers(0, kind[1], shape), dtype=kind[0]) if kind else torch.tensor(
        random.standard_normal(shape).astype(np.float32))


def recipes():
    op = qtyping.OpQuantizationConfig
    yield "half", [{"regex": ".*", "operation": "*", "algorithm_key": "float_casting",
                    "op_config": {"weight_tensor_config": {"num_bits": 16, "symmetric": True, "granularity": "TENSORWISE", "dtype": "FLOAT"},
                                  "compute_precision": "FLOAT", "explicit_dequantize": True}}]
    yield "weight8", recipe.weight_only_wi8_afp32()
    yield "weight4", recipe.weight_only_wi4_afp32()
    yield "hybrid8", recipe.dynamic_wi8_afp32()
    yield "int8", recipe.static_wi8_ai8()
    four = copy.deepcopy(recipe.static_wi8_ai8())
    for rule in four:
        rule["op_config"]["weight_tensor_config"]["num_bits"] = 4
    yield "int4", four


def quantized(model, rules, samples):
    q = quantizer.Quantizer(bytearray(model))
    q.load_quantization_recipe(rules)
    calibration = q.calibrate({"serving_default": samples}) if q.need_calibration else None
    return bytes(q.quantize(calibration).quantized_model)


def kinds_of(model):
    graph = schema.ModelT.InitFromPackedBuf(model).subgraphs[0]
    return sorted(t.type for t in graph.tensors)


def write(folder, form, name, model):
    (folder / form).mkdir(parents=True, exist_ok=True)
    (folder / form / f"{name}.tflite").write_bytes(model)


def main():
    folder, names = pathlib.Path(sys.argv[1]), sys.argv[2:] or list(MODULES)
    warnings.filterwarnings("ignore")
    for at, name in enumerate(names):
        make, shapes, kinds = MODULES[name]
        torch.manual_seed(list(MODULES).index(name))
        net = make().eval()
        batches = [tuple(values(s, (kinds or [None] * len(shapes))[k], 100 * b + k) for k, s in enumerate(shapes)) for b in range(4)]
        try:
            edge = litert_torch.convert(net, batches[0])
            edge.export(str(folder / "model.tflite"))
        except Exception as e:  # noqa: BLE001
            print(f"{name}: not converted: {type(e).__name__}: {str(e).splitlines()[0][:200] if str(e) else ''}")
            continue
        model = (folder / "model.tflite").read_bytes()
        write(folder, "float", name, model)
        seen = [kinds_of(model)]
        for form, rules in recipes():
            if name in FLOAT_ONLY and form in ("int8", "int4"):
                continue
            samples = [{f"args_{k}": x.numpy() for k, x in enumerate(batch)} for batch in batches]
            try:
                other = quantized(model, rules, samples)
            except Exception as e:  # noqa: BLE001
                print(f"{name}.{form}: not quantized: {type(e).__name__}: {str(e).splitlines()[0][:150] if str(e) else ''}")
                continue
            if kinds_of(other) not in seen:
                seen.append(kinds_of(other))
                write(folder, form, name, other)
        print(name, len(model), len(seen), flush=True)
    (folder / "model.tflite").unlink(missing_ok=True)


if __name__ == "__main__":
    main()
