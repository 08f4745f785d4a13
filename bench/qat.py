# SPDX-License-Identifier: Apache-2.0
"""Quantization-aware training of the two digit models with deuteron.Quantizer.

    PYTHONPATH=build/python build/venv/bin/python bench/qat.py [--models A,B] [--targets A,B] [--seeds 1,2,3] [--validate FOLD]
        [--recipe] [--write]

Each row is trained once for each seed: the float network on all 1078 training images, then quantization-aware training from there with the float
network as teacher. Every epoch sees the digits shifted, turned and scaled a little. The last epoch counts. Settings of float training were chosen
on fifths of the training images that trained nothing, those of quantization-aware training of digits_cnn looked at on one: --validate FOLD (0..4)
trains on the other four fifths and measures there. Those of digits_bmm are the ones of eight whose program was nearest to the float network's
scores on fold 0 (dB); docs/quantization.md has them, and says which were also looked at on the test images before the last two were tried.
Figures are the mean over the seeds and, in brackets, each of them. `post-training` is deuteron.compile of the same float
network, calibrated with 64 training images. It takes ten minutes of one core: `bench/results.py` does not run it. --write puts the table
into docs/quantization.md. --recipe trains by ExecuTorch's recipe of the target (`get_TARGET_recipe(is_qat=True)`), with the same figures.
"""
import argparse
import copy
import math
import os
import pathlib

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torchao.quantization.pt2e import move_exported_model_to_eval, move_exported_model_to_train
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_qat_pt2e

import deuteron
from deuteron.executorch import freeze_statistics
from deuteron.simulation import compare_layers

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "quantization.md"
EXAMPLES = 8  # any batch but 1, which an export takes for a fixed size
BATCH = 32
FLOAT_EPOCHS = {"digits_cnn": 60, "digits_bmm": 120}
QAT_EPOCHS = {"digits_cnn": 20, "digits_bmm": 30}
FLOAT_RATE = {"digits_cnn": 4e-3, "digits_bmm": 3e-3}
QAT_RATE = {"digits_cnn": 1e-3, "digits_bmm": 5e-5}
CALIBRATING_PASSES = {"digits_bmm": 8}  # over the training images as they are; then ranges are frozen before the first step
ONLY_TAUGHT = {"digits_bmm"}  # by the float network, without the labels
# Largest turn in radians, change of size, and shift in halves of the image's width.
MOVES = {"digits_cnn": (math.pi / 15, 0.1, 0.7 / 4), "digits_bmm": (math.pi / 15, 0.12, 1 / 4)}
TEACHER = {"digits_bmm": "digits_cnn"}  # of the float network, trained on the same images


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        depthwise = lambda n, stride=1: nn.Conv2d(n, n, 3, stride, 1, groups=n, bias=False)  # noqa: E731
        self.c0, self.n0 = nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16)
        self.d1, self.m1, self.p1, self.n1 = depthwise(16), nn.BatchNorm2d(16), nn.Conv2d(16, 16, 1, bias=False), nn.BatchNorm2d(16)
        self.d2, self.m2, self.p2, self.n2 = depthwise(16, 2), nn.BatchNorm2d(16), nn.Conv2d(16, 32, 1, bias=False), nn.BatchNorm2d(32)
        self.d3, self.m3, self.p3, self.n3 = depthwise(32), nn.BatchNorm2d(32), nn.Conv2d(32, 32, 1, bias=False), nn.BatchNorm2d(32)
        self.drop, self.fc = nn.Dropout(0.1), nn.Linear(32, 10)

    def forward(self, x):
        x = F.relu(self.n0(self.c0(x)))
        x = x + self.n1(self.p1(F.hardswish(self.m1(self.d1(x)))))
        x = F.relu6(self.n2(self.p2(F.relu6(self.m2(self.d2(x))))))
        x = x + self.n3(self.p3(F.hardswish(self.m3(self.d3(x)))))
        return self.fc(self.drop(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1)))


class Bmm(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.pos = nn.Linear(8, 32), nn.Parameter(torch.zeros(1, 8, 32))
        layers = {"ln1": lambda: nn.LayerNorm(32), "qkv": lambda: nn.Linear(32, 96), "out": lambda: nn.Linear(32, 32),
                  "ln2": lambda: nn.LayerNorm(32), "up": lambda: nn.Linear(32, 64), "down": lambda: nn.Linear(64, 32)}
        self.blocks = nn.ModuleList(nn.ModuleDict({name: make() for name, make in layers.items()}) for _ in range(2))
        self.ln, self.head = nn.LayerNorm(32), nn.Linear(32, 10)

    def attend(self, q, k, v):
        q, k, v = (t.reshape(-1, 8, 4, 8).transpose(1, 2) for t in (q, k, v))
        y = torch.matmul(F.softmax(torch.matmul(q, k.transpose(-2, -1)) / 8**0.5, -1), v)
        return y.transpose(1, 2).reshape(-1, 8, 32)

    def forward(self, x):
        x = self.embed(x.squeeze(1)) + self.pos
        for b in self.blocks:
            x = x + b["out"](self.attend(*torch.chunk(b["qkv"](b["ln1"](x)), 3, dim=-1)))
            x = x + b["down"](F.gelu(b["up"](b["ln2"](x))))
        return self.head(self.ln(x).mean(1))


MODELS = {"digits_cnn": Cnn, "digits_bmm": Bmm}


def digits():
    """(training images, labels, test images, labels): the split of the fixtures (model.json, `split`)."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split
    data = load_digits()
    x, test, y, labels = train_test_split(data.images / 16, data.target, test_size=0.4, random_state=7, stratify=data.target)
    x, test = (torch.from_numpy(images.astype(np.float32))[:, None] for images in (x, test))
    if not np.array_equal(test.numpy(), np.load(ROOT / "models" / "digits_cnn" / "test_inputs.npy")):
        raise SystemExit("the split is not that of models/digits_cnn")
    return x, torch.from_numpy(y), test, torch.from_numpy(labels)


def fold_of(x, y, fold):
    """The training images without a fifth of them, and that fifth."""
    from sklearn.model_selection import StratifiedKFold
    train, held = list(StratifiedKFold(5, shuffle=True, random_state=0).split(x.numpy(), y.numpy()))[fold]
    return x[train], y[train], x[held], y[held]


def moved(x, largest_turn, largest_scale, largest_shift):
    """The images, each turned, scaled and shifted at random."""
    uniform = lambda largest: (torch.rand(len(x)) * 2 - 1) * largest  # noqa: E731
    turn, scale = uniform(largest_turn), 1 + uniform(largest_scale)
    cos, sin = turn.cos() * scale, turn.sin() * scale
    rows = torch.stack([cos, -sin, uniform(largest_shift), sin, cos, uniform(largest_shift)], 1).reshape(-1, 2, 3)
    return F.grid_sample(x, F.affine_grid(rows, list(x.shape), align_corners=False), align_corners=False)


def cross_entropy(_, scores, labels):
    return F.cross_entropy(scores, labels, label_smoothing=0.05)


def taught_by(teacher, temperature, with_labels=True):
    """The divergence from what the teacher makes of the same images, and cross entropy."""
    def loss(images, scores, labels):
        with torch.no_grad():
            taught = (teacher(images) / temperature).log_softmax(-1)
        divergence = F.kl_div((scores / temperature).log_softmax(-1), taught, log_target=True, reduction="batchmean")
        return temperature**2 * divergence + (cross_entropy(images, scores, labels) if with_labels else 0)

    return loss


def train(model, x, y, moves, epochs, rate, loss, freeze_at=None):
    """Adam with a rate that rises for a seventh of the steps and then falls to nothing."""
    optimizer = torch.optim.AdamW(model.parameters(), rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=epochs * math.ceil(len(x) / BATCH), pct_start=0.15)
    for epoch in range(epochs):
        if epoch == freeze_at:
            freeze_statistics(model)
        for part in torch.randperm(len(x)).split(BATCH):
            images = moved(x[part], *moves)
            optimizer.zero_grad()
            loss(images, model(images), y[part]).backward()
            optimizer.step()
            schedule.step()


def float_network(name, x, y):
    loss = taught_by(float_network(TEACHER[name], x, y), temperature=2) if name in TEACHER else cross_entropy
    model = MODELS[name]().train()
    train(model, x, y, MOVES[name], FLOAT_EPOCHS[name], FLOAT_RATE[name], loss)
    return model.eval()


def exported(model):
    batch = {0: torch.export.Dim("batch", min=2, max=1024)}
    return torch.export.export(model, (torch.zeros(EXAMPLES, 1, 8, 8),), dynamic_shapes=(batch,)).module(check_guards=False)


def calibrate(prepared, x, passes):
    """Measures the ranges of values; trains nothing."""
    with torch.no_grad():
        for _ in range(passes):
            for part in torch.randperm(len(x)).split(BATCH):
                prepared(x[part])


def train_prepared(name, network, prepared, x, y):
    calibrate(prepared, x, CALIBRATING_PASSES.get(name, 0))
    epochs = QAT_EPOCHS[name]
    train(prepared, x, y, MOVES[name], epochs, QAT_RATE[name], taught_by(network, temperature=1, with_labels=name not in ONLY_TAUGHT),
          freeze_at=0 if name in CALIBRATING_PASSES else epochs * 2 // 3)


def trained(name, network, target, x, y):
    """The network with its roundings trained, as an ExportedProgram of one sample."""
    prepared = prepare_qat_pt2e(exported(copy.deepcopy(network)), deuteron.Quantizer(target, qat=True))
    move_exported_model_to_train(prepared)
    train_prepared(name, network, prepared, x, y)
    converted = convert_pt2e(prepared)
    move_exported_model_to_eval(converted)
    return torch.export.export(converted, (x[:1],))


def trained_by_recipe(name, network, target, x, y):
    from executorch.export import ExportRecipe, StageType, export

    from deuteron.executorch import DeuteronRecipeType
    kind = DeuteronRecipeType[f"{target.upper().replace('-', '_')}_INT8"]
    recipe = ExportRecipe.get_recipe(kind, is_qat=True, train_fn=lambda prepared: train_prepared(name, network, prepared, x, y))
    session = export(copy.deepcopy(network), [(x[:EXAMPLES],)], recipe)
    # Its program is for as many samples as the example has; what was trained is for any number.
    model = session.get_stage_artifacts()[StageType.QUANTIZE].data["forward"]
    return torch.export.export(model, (x[:1],))


def one_seed(name, targets, seed, x, y, test, labels, train_one=trained):
    """For each target: top-1 of the float network, the post-training program, the trained program and its simulation; operators in float.

    Prints these, and the largest difference of a layer of the trained program from the simulation in steps, over 8 test images."""
    torch.manual_seed(seed)
    network = float_network(name, x, y)
    original = torch.export.export(network, (x[:1],))
    result = {}
    for target in targets:
        plain = deuteron.compile(original, target=target, calibration=x[:64].numpy())
        before = plain.evaluate(test.numpy(), labels.numpy(), model=original)
        torch.manual_seed(seed)
        model = train_one(name, network, target, x, y)
        program = deuteron.compile(model, target=target)
        after = program.evaluate(test.numpy(), labels.numpy(), model=model)
        steps = max(layer.steps for layer in compare_layers(model, target, test[:8]))
        result[target] = (before.model_top1, before.program_top1, after.program_top1, after.model_top1, program.report.counts.portable)
        print(f"{name} {target} seed {seed}: float {before.model_top1:.2%}, post-training {before.program_top1:.2%}, "
              f"trained {after.program_top1:.2%}, simulation {after.model_top1:.2%}, same class {after.agreement:.2%}, a layer {steps:.3f} steps", flush=True)
    return result


def table(rows):
    lines = ["| model | target | float | post-training | trained | left in float |", "|" + " --- |" * 6]
    for (name, target), seeds in rows.items():
        *tops, _, in_float = zip(*seeds)
        cells = [f"{100 * np.mean(t):.2f}% ({', '.join(f'{100 * one:.2f}' for one in t)})" for t in tops]
        lines.append("| " + " | ".join([name, target, *cells, str(max(in_float))]) + " |")
    return "\n".join(lines)


def write(text):
    before, _, rest = PAGE.read_text().partition("| model | target | float |")
    PAGE.write_text(before + text + "\n" + rest[rest.index("\n\n") + 1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--targets", default="cortex-m55,imxrt700cm")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--validate", type=int, choices=range(5))
    parser.add_argument("--recipe", action="store_true")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", 1)))
    x, y, test, labels = digits()
    if arguments.validate is not None:
        x, y, test, labels = fold_of(x, y, arguments.validate)
    rows = {}
    for name in arguments.models.split(","):
        for seed in map(int, arguments.seeds.split(",")):
            train_one = trained_by_recipe if arguments.recipe else trained
            for target, row in one_seed(name, arguments.targets.split(","), seed, x, y, test, labels, train_one).items():
                rows.setdefault((name, target), []).append(row)
    print(table(rows))
    if arguments.write:
        write(table(rows))


if __name__ == "__main__":
    main()
