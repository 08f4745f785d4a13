# SPDX-License-Identifier: Apache-2.0
"""Programs of ExecuTorch with parts for DeuteronBackend, in the stock runtime of its package with
our backend linked.

    delegate.py DEUTERON STOCK_RUNNER SHARED PACKAGE [--all]

Each quantized model is lowered by ExecuTorch's own to_edge_transform_and_lower; the stock runtime
must give the bits that `deuteron run`
gives. Then beside XNNPACK's partitioner in both orders, damaged, and with too little memory. --all:
eleven models instead of three.
"""

import pathlib
import random
import re
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, sys.argv[4])
import numpy as np
import torch
from executorch.exir import to_edge_transform_and_lower
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.pt2e.quantizer import ComposableQuantizer

import checks
import deuteron
from checks import check
from delegated import (
    KERNELS,
    LIBRARIES,
    TARGET,
    backends_of,
    bits_of,
    compiled_runner,
    quantized,
    run_stock,
    same_bits,
    written,
)
from deuteron.executorch import DeuteronPartitioner

tool, runner, shared = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
root = pathlib.Path(__file__).resolve().parents[2]
models = shared / "fixtures" / "models"
SOME = ["digits_cnn", "resnet8", "hello_sine"]
ALL = [
    *SOME,
    "mnist_lstm",
    "autoencoder_ad",
    "cifarnet",
    "digits_bmm",
    "dscnn_kws",
    "mobilenet_v1_025_vww",
    "mobilenet_v2",
    "mobilenet_v3_small",
]


def check_model(name, where):
    program, samples = quantized(models, name)
    expected = bits_of(tool, program, samples, where)
    partitioner = DeuteronPartitioner(TARGET)
    manager = to_edge_transform_and_lower(program, partitioner=[partitioner])
    check(backends_of(manager) == ["DeuteronBackend"], f"{name}: delegates {backends_of(manager)}")
    check(
        (name == "mnist_lstm") == bool(partitioner.report), f"{name}: left are {partitioner.report}"
    )  # its LSTM is in float
    same_bits(runner, name, written(manager, where / f"{name}.pte"), samples, expected, where)
    shown = subprocess.run([tool, "inspect", where / f"{name}.pte"], capture_output=True, text=True)
    part = re.search(r"a program of ours, planned memory \d+ bytes\n +\d+ x ", shown.stdout)
    check(part is not None, f"{name}: inspect shows no kernels of the part")
    if name != "mnist_lstm":
        check_memory(name, samples[0], where)
    return where / f"{name}.pte", samples, expected


def check_memory(name, sample, where):
    """Beside ExecuTorch's own tables the backend takes a handle: 364 bytes for both on a board
    (bench/stock_delegate.py), here pointers are twice as long."""
    shown = subprocess.run([tool, "inspect", where / "whole.pte"], capture_output=True, text=True)
    alone = [int(n) for n in re.findall(r"(?:planned memory|tables) (\d+) bytes", shown.stdout)]
    ran = run_stock(runner, where / f"{name}.pte", [sample], where, f"--method-bytes={1 << 24}")
    taken = re.search(r"method memory (\d+)", ran.stdout)
    more = int(taken[1]) - sum(alone) if taken else 1 << 24
    print(f"{name}: method memory {more} bytes more than on our runtime")
    check(len(alone) == 2 and 0 < more <= 2 * 512, f"{name}: {more} bytes beside {alone}")


class Mixed(torch.nn.Module):
    """An angle has no int8 form, and a layer is left in float."""

    def __init__(self):
        super().__init__()
        self.images, self.first, self.second, self.last = (
            torch.nn.Conv2d(2, 4, 3),
            torch.nn.Linear(60, 8),
            torch.nn.Linear(8, 8),
            torch.nn.Linear(8, 5),
        )

    def forward(self, x):
        y = torch.relu(self.first(torch.relu(self.images(x)).flatten(1)))
        y = self.second(torch.atan2(y, y + 1.0))
        return self.last(torch.sigmoid(y))


def check_parts(where):
    torch.manual_seed(0)
    x = torch.rand(1, 2, 7, 5).contiguous(memory_format=torch.channels_last)
    model = torch.export.export(Mixed().eval(), (x,)).module(check_guards=False)
    prepared = prepare_pt2e(
        model, deuteron.Quantizer(TARGET, allow_float=True).set_module_name("second", "float")
    )
    prepared(x)
    program = torch.export.export(convert_pt2e(prepared), (x,))
    expected = bits_of(tool, program, [x.numpy()], where)
    stored = x.permute(0, 2, 3, 1).contiguous().numpy()  # the program's input lies channels last
    for in_float, parts in ((None, 3), ("portable", 1)):
        partitioner = DeuteronPartitioner(TARGET, float=in_float)
        manager = to_edge_transform_and_lower(program, partitioner=[partitioner])
        check(
            backends_of(manager) == ["DeuteronBackend"] * parts,
            f"mixed, float={in_float}: {backends_of(manager)}",
        )
        left = {one.operator.partition(" ")[0]: one.rule for one in partitioner.report}
        check(
            left
            == (
                {}
                if in_float
                else {
                    "aten.atan2.default": "target.portable",
                    "aten.addmm.default": "target.portable",
                }
            ),
            f"mixed: left {left}",
        )
        same_bits(
            runner,
            f"mixed, float={in_float}",
            written(manager, where / "mixed.pte"),
            [stored],
            expected,
            where,
        )


class Shared(torch.nn.Module):
    """Layers that XNNPACK has too, and a function of one element that it does not take."""

    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(12, 8), torch.nn.Linear(8, 5)

    def forward(self, x):
        return self.second(torch.erf(torch.relu(self.first(x))))


def check_beside_xnnpack(where):
    """Both quantizers and both partitioners; whose are first take what both have, and nothing is
    taken twice."""
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )

    torch.manual_seed(0)
    x = torch.rand(1, 12)
    theirs = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
    prepared = prepare_pt2e(
        torch.export.export(Shared().eval(), (x,)).module(),
        ComposableQuantizer([theirs, deuteron.Quantizer(TARGET)]),
    )
    prepared(x)
    program = torch.export.export(convert_pt2e(prepared), (x,))
    expected = bits_of(tool, program, [x.numpy()], where)
    # XNNPACK rounds its products in its own way: a step of each result, through the slope of erf
    # (at most 1.13) and the last weights.
    *_, hidden, error, last = [
        n.args[1] for n in program.graph.nodes if n.name.startswith("quantize_per_tensor")
    ]
    bound = (1.13 * hidden + error) * float(
        program.state_dict["second.weight"].abs().sum(1).max()
    ) + last
    options = [f"--library={LIBRARIES / 'libexecutorch_backend_xnnpack.so'}", KERNELS]
    for ours_first in (True, False):
        ours = DeuteronPartitioner(TARGET)
        order = [ours, XnnpackPartitioner()] if ours_first else [XnnpackPartitioner(), ours]
        manager = to_edge_transform_and_lower(program, partitioner=order)
        file = written(manager, where / "both.pte")
        if ours_first:
            check(backends_of(manager) == ["DeuteronBackend"], f"we first: {backends_of(manager)}")
            same_bits(runner, "we first", file, [x.numpy()], expected, where)
            continue
        check(
            set(backends_of(manager)) == {"XnnpackBackend"},
            f"XNNPACK first: {backends_of(manager)}",
        )  # with all quantize and dequantize
        rules = {left.rule for left in ours.report}
        check(
            rules == {"executorch.taken", "executorch.not_quantized"},
            f"XNNPACK first: {ours.report}",
        )
        ran = run_stock(runner, file, [x.numpy()], where, *options)
        if check(ran.returncode == 0, f"XNNPACK first: {ran.stderr[-600:]}"):
            got, wanted = (
                np.frombuffer(b, "<f4") for b in ((where / "out0.bin").read_bytes(), expected[0])
            )
            check(
                np.abs(got - wanted).max() <= bound, f"XNNPACK first: {got}, deuteron run: {wanted}"
            )


def check_compiled(made, where):
    """Parts as C: the bits of those that are loaded, and another part is refused."""
    (strange, (sample, *_), _), *known = made
    compiled = compiled_runner(tool, [file for file, *_ in known], where)
    parts = [p.read_text() for p in (where / "compiled/src").glob("deuteron_part?.c")]
    check(any(" INPUT(" in p.partition("_run(")[2] for p in parts), "no input is read in place")
    for file, samples, expected in known:
        same_bits(compiled, f"{file.stem} as C", file, samples, expected, where)
        changed = bytearray(file.read_bytes())
        changed[changed.index(b"ET12", 8) + 400] ^= 1
        (where / "changed.pte").write_bytes(changed)
        for other, inputs in ((strange, [sample]), (where / "changed.pte", samples[:1])):
            ran = run_stock(compiled, other, inputs, where)
            check(
                ran.returncode == 1 and "is none of the" in ran.stderr,
                f"{other.stem} beside {file.stem} as C: {ran.returncode} {ran.stderr[-300:]}",
            )


def check_refusals(file, sample, where):
    """One line in the log and an error, whatever is wrong; nothing ends the process."""
    content, rng = file.read_bytes(), random.Random(1)
    begin = content.index(b"ET12", 8) - 4  # of the part: the file in the file
    refused = 0
    for _ in range(60):
        spoiled = bytearray(content)
        spoiled[begin + rng.randrange(1200)] ^= 1 << rng.randrange(8)
        (where / "spoiled.pte").write_bytes(spoiled)
        ran = run_stock(runner, where / "spoiled.pte", [sample], where)
        if (
            check(
                ran.returncode in (0, 1), f"a damaged part ends the process with {ran.returncode}"
            )
            and ran.returncode == 1
        ):
            refused += 1
            check(
                f"DeuteronBackend: the part for {TARGET} does not run" in ran.stderr,
                f"a damaged part is refused without a word: {ran.stderr[-300:]}",
            )
    check(refused >= 20, f"only {refused} of 60 damaged parts are refused")
    ends = [
        run_stock(runner, file, [sample], where, f"--method-bytes={bytes}") for bytes in range(256, 8192, 256)
    ]
    check({ran.returncode for ran in ends} == {0, 1}, "too little memory ends the process")
    check(
        any("DeuteronBackend: the method allocator lacks" in ran.stderr for ran in ends),
        "too little memory is refused without a word",
    )


if not models.is_dir():
    print(f"left out: there is no {models}")
    sys.exit(77)
with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    all_made = []
    for model in checks.those_there(models, ALL if "--all" in sys.argv else SOME):
        made, given, bits = check_model(model, folder)
        all_made.append((made, given, bits))
        print(f"{model}: {made.stat().st_size} bytes, as deuteron run")
        if model == "digits_cnn":
            check_refusals(made, given[0], folder)
    check_compiled(all_made, folder)
    check_parts(folder)
    check_beside_xnnpack(folder)
print(f"delegate: {checks.verdict()}")
sys.exit(checks.failed != 0)
