"""Quantization-aware training of the two digit models with deuteron.Quantizer: top-1 on the 719 test images, which training never sees.

    PYTHONPATH=build/python build/venv/bin/python bench/qat.py [--shared ../shared] [--models A,B] [--targets A,B] [--epochs N]
"""
import argparse
import pathlib

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torchao.quantization.pt2e import move_exported_model_to_eval, move_exported_model_to_train
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_qat_pt2e

import deuteron

ROOT = pathlib.Path(__file__).resolve().parents[1]
EXAMPLES = 8  # any batch but 1, which an export takes for a fixed size
RATE = {"digits_cnn": 1e-3, "digits_bmm": 5e-4}


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


def training_data():
    """The 1078 images that the fixtures' test set leaves (model.json, `split`)."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split
    digits = load_digits()
    x, _, y, _ = train_test_split(digits.images / 16, digits.target, test_size=0.4, random_state=7, stratify=digits.target)
    return torch.from_numpy(x.astype(np.float32))[:, None], torch.from_numpy(y)


def exported(model):
    batch = {0: torch.export.Dim("batch", min=2, max=1024)}
    return torch.export.export(model, (torch.zeros(EXAMPLES, 1, 8, 8),), dynamic_shapes=(batch,)).module(check_guards=False)


def trained(name, folder, target, epochs):
    """The converted model, as an ExportedProgram of one sample."""
    torch.manual_seed(1)
    model = MODELS[name]()
    model.load_state_dict(torch.export.load(folder / "float.pt2").state_dict)
    prepared = prepare_qat_pt2e(exported(model.eval()), deuteron.Quantizer(target, qat=True))
    move_exported_model_to_train(prepared)
    x, y = training_data()
    optimizer = torch.optim.Adam(prepared.parameters(), RATE[name])
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for epoch in range(epochs):
        if epoch == epochs * 3 // 4:
            prepared.apply(lambda m: m.disable_observer() if hasattr(m, "disable_observer") else None)
        for part in torch.randperm(len(x)).split(32):
            optimizer.zero_grad()
            F.cross_entropy(prepared(x[part]), y[part], label_smoothing=0.05).backward()
            optimizer.step()
        schedule.step()
    converted = convert_pt2e(prepared)
    move_exported_model_to_eval(converted)
    return torch.export.export(converted, (x[:1],))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=pathlib.Path, default=ROOT.parent / "shared")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--targets", default="cortex-m55,imxrt700cm")
    parser.add_argument("--epochs", type=int, default=12)
    arguments = parser.parse_args()
    print("| model | target | float | post-training | trained | simulation | left in float |\n"
          "| --- | --- | --- | --- | --- | --- | --- |")
    for name in arguments.models.split(","):
        folder = arguments.shared / "fixtures" / "models" / name
        images, labels = np.load(folder / "test_inputs.npy"), np.load(folder / "test_labels.npy").astype(np.int64)
        calibration = training_data()[0].numpy()[:64]
        for target in arguments.targets.split(","):
            plain = deuteron.compile(folder / "float.pt2", target=target, calibration=calibration)
            before = plain.evaluate(images, labels, model=folder / "float.pt2")
            model = trained(name, folder, target, arguments.epochs)
            program = deuteron.compile(model, target=target)
            after = program.evaluate(images, labels, model=model)
            print(f"| {name} | {target} | {before.model_top1:.2%} | {before.program_top1:.2%}"
                  f" | {after.program_top1:.2%} | {after.model_top1:.2%} | {program.report.counts.portable} |", flush=True)


if __name__ == "__main__":
    main()
