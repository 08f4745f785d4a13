# SPDX-License-Identifier: Apache-2.0
"""ExecuTorch's calls on images with an explicit layout (`cortex_m::.._nhwc`), lowered by its own passes, in our
runtime and in the stock one with our kernels: the bits of its Python kernels, or of the same network with the
other calls. And programs of several methods, and with data files.

    cortex_m_programs.py DEUTERON STOCK_RUNNER PACKAGE
"""

import pathlib
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, sys.argv[3])
import numpy as np
import torch
from executorch.exir import ExecutorchBackendConfig
from torch import nn

import checks
import deuteron
from checks import check
from cortex_m import lowered, passed
from delegated import KERNELS, run_stock, written

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


def ours(file, x, where, *options):
    np.save(where / "x.npy", x.numpy())
    words = [tool, "run", file, "--input", where / "x.npy", "-o", where / "out", *options]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    if check(done.returncode == 0, f"{file.stem}: {done.stderr[-500:]}"):
        return np.load(where / "out" / "output0.npy")
    return np.zeros(0)


def check_kind(kind, network, where):
    x = torch.rand(1, 3, 9, 14)
    explicit = passed(network, x, True)
    calls = [str(n.target) for n in explicit.graph.nodes]
    found = sum(f"quantized_{kind}_nhwc" in call for call in calls)
    check(found > 0, f"{kind}: no call of its own in {calls}")
    expected = explicit.module()(x).numpy()
    file = written(lowered(explicit), where / f"{kind}_nhwc.pte")
    got = ours(file, x, where)
    if kind == "avg_pool2d":  # theirs computes in float
        last = x.contiguous(memory_format=torch.channels_last)
        twin = written(lowered(passed(network, last)), where / "twin.pte")
        expected = ours(twin, last, where)
    check(np.array_equal(got, expected), f"{kind}: {np.abs(got - expected).max()} away")
    done = run_stock(runner, file, [x], where, KERNELS)
    check(done.returncode == 0, f"{kind} in the stock runtime: {done.stderr[-500:]}")
    check((where / "out0.bin").read_bytes() == got.tobytes(), f"{kind}: other bits there")
    print(f"{kind}: {found} calls, {got.size} values")


def check_methods(where):
    """Two methods in one file: each by its name, with the bits that it has alone."""
    x = torch.rand(1, 3, 9, 14)
    methods = {
        "large": passed(nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU()), x, True),
        "small": passed(nn.Conv2d(3, 2, 1), x, True),
    }
    file = written(lowered(methods), where / "methods.pte")
    for name, program in methods.items():
        got = ours(file, x, where, "--method", name)
        alone = ours(written(lowered(program), where / f"{name}.pte"), x, where)
        check(np.array_equal(got, alone), f"method {name}: other bits than alone")
        done = run_stock(runner, file, [x], where, KERNELS, f"--method={name}")
        check((where / "out0.bin").read_bytes() == got.tobytes(), f"method {name}: {done.stderr}")
    for words in (["run", file, "-o", where / "out"], ["inspect", file, "--method", "tiny"]):
        done = subprocess.run([tool, *words], capture_output=True, text=True, timeout=60)
        said = "large, small" in done.stderr and "[pte.method]" in done.stderr
        check(done.returncode == 1 and said, f"{words[0]}: {done.stderr}")
    done = subprocess.run([tool, "inspect", file, "--method", "small"], capture_output=True, text=True)
    check("method small of large, small" in done.stdout, f"inspect: {done.stdout} {done.stderr}")


def check_data_files(where):
    """Constants in a file of their own: the bits of the program that has them."""
    x = torch.rand(1, 3, 9, 14)
    program = passed(NETWORKS["conv2d"], x, True)
    expected = ours(written(lowered(program), where / "whole.pte"), x, where)
    folder = where / "apart"
    folder.mkdir()
    config = ExecutorchBackendConfig(external_constants=True)
    manager = lowered(program).to_executorch(config)
    (folder / "apart.pte").write_bytes(manager.buffer)
    done = subprocess.run([tool, "inspect", folder / "apart.pte"], capture_output=True, text=True)
    said = "no data file beside it has" in done.stderr and "[pte.data_file]" in done.stderr
    check(done.returncode == 1 and said, f"without its data file: {done.stderr}")
    manager.write_tensor_data_to_file(str(folder))
    check(np.array_equal(ours(folder / "apart.pte", x, where), expected), "data files: other bits")
    loaded = deuteron.load(folder / "apart.pte")
    check(np.array_equal(loaded.run(x.numpy()), expected), "data files: other bits in Python")
    loaded.save(where / "merged.pte")
    check(np.array_equal(ours(where / "merged.pte", x, where), expected), "saved: other bits")
    on_board = ours(folder / "apart.pte", x, where, "--on", "qemu:mps3-an547")
    check(np.array_equal(on_board, expected), "data files: other bits on a board")


with tempfile.TemporaryDirectory() as scratch:
    check_data_files(pathlib.Path(scratch))
    check_methods(pathlib.Path(scratch))
    for one, layers in NETWORKS.items():
        check_kind(one, layers, pathlib.Path(scratch))
print(f"cortex_m programs: {checks.verdict()}")
sys.exit(checks.failed != 0)
