# SPDX-License-Identifier: Apache-2.0
"""ExecuTorch's calls on images with an explicit layout (`cortex_m::.._nhwc`), lowered by its own passes, in our
runtime and in the stock one with our kernels: the bits of its Python kernels, or of the same network with the
other calls.

    explicit_layout.py DEUTERON STOCK_RUNNER PACKAGE
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest.mock
import warnings

warnings.filterwarnings("ignore")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, sys.argv[3])
# What the passes import and, for Cortex-M, never call.
sys.modules.setdefault("tosa_serializer", unittest.mock.MagicMock())
import numpy as np
import torch
from executorch.backends.cortex_m.edge_compile_config import cortex_m_edge_compile_config
from executorch.backends.cortex_m.passes.cortex_m_pass_manager import CortexMPassManager
from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer
from executorch.exir import EdgeProgramManager, to_edge
from torch import nn

import checks
from checks import check
from delegated import KERNELS, quantize, run_stock, written

tool, runner = sys.argv[1], sys.argv[2]
torch.set_grad_enabled(False)
torch.manual_seed(2)

NETWORKS = {  # by the kind of the calls
    "conv2d": nn.Sequential(nn.Conv2d(3, 4, 3, stride=(1, 2), padding=1), nn.ReLU(), nn.Conv2d(4, 6, (1, 2), stride=2)),
    "depthwise_conv2d": nn.Sequential(nn.Conv2d(3, 6, 3, groups=3), nn.ReLU(), nn.Conv2d(6, 6, (2, 3), groups=6, padding=1)),
    "transpose_conv2d": nn.ConvTranspose2d(3, 5, (2, 3), stride=2, padding=1),
    "max_pool2d": nn.MaxPool2d((2, 3), stride=(1, 2)),
    "avg_pool2d": nn.AvgPool2d((3, 2), padding=1, count_include_pad=False),
}  # fmt: skip


def lowered(network, x, is_explicit):
    quantizer = CortexMQuantizer(use_explicit_layout=is_explicit)
    config = cortex_m_edge_compile_config()
    edge = to_edge(quantize(network, (x,), quantizer), compile_config=config).exported_program()
    passes = CortexMPassManager(edge, use_explicit_layout=is_explicit)
    return EdgeProgramManager({"forward": passes.transform()}, compile_config=config)


def ours(file, x, where):
    np.save(where / "x.npy", x.numpy())
    words = [tool, "run", file, "--input", where / "x.npy", "--output-dir", where / "out"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    if check(done.returncode == 0, f"{file.stem}: {done.stderr[-500:]}"):
        return np.load(where / "out" / "output0.npy")
    return np.zeros(0)


def check_kind(kind, network, where):
    x = torch.rand(1, 3, 9, 14)
    explicit = lowered(network, x, True)
    calls = [str(n.target) for n in explicit.exported_program().graph.nodes]
    found = sum(f"quantized_{kind}_nhwc" in call for call in calls)
    check(found > 0, f"{kind}: no call of its own in {calls}")
    expected = explicit.exported_program().module()(x).numpy()
    file = written(explicit, where / f"{kind}_nhwc.pte")
    got = ours(file, x, where)
    if kind == "avg_pool2d":  # theirs computes in float
        last = x.contiguous(memory_format=torch.channels_last)
        expected = ours(written(lowered(network, last, False), where / "twin.pte"), last, where)
    check(np.array_equal(got, expected), f"{kind}: {np.abs(got - expected).max()} away")
    done = run_stock(runner, file, [x], where, KERNELS)
    check(done.returncode == 0, f"{kind} in the stock runtime: {done.stderr[-500:]}")
    check((where / "out0.bin").read_bytes() == got.tobytes(), f"{kind}: other bits there")
    print(f"{kind}: {found} calls, {got.size} values")


with tempfile.TemporaryDirectory() as scratch:
    for one, layers in NETWORKS.items():
        check_kind(one, layers, pathlib.Path(scratch))
print(f"explicit layout: {checks.verdict()}")
sys.exit(checks.failed != 0)
