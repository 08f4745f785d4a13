# SPDX-License-Identifier: Apache-2.0
"""Noise of lowering: how far a quantized program is from PT2E's simulation of the same quantized graph, ours beside ExecuTorch's own flow.

    build/venv/bin/pip install tosa-tools==2026.2.1      # what the stock passes import
    build/venv/bin/python bench/stock_quantized.py [build/deuteron] [../shared]

Each float model is quantized by ExecuTorch's CortexMQuantizer on the 32 inputs given; the quantized graph then goes through ExecuTorch's passes and
through `deuteron compile`. Both programs run on the same runtime and kernels, which give the stock bits (tests/stock). A `!` marks a model where ours
is noisier by more than 0.05 dB; the exit code is then 1.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch
from executorch.backends.cortex_m.passes.cortex_m_pass_manager import CortexMPassManager
from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge
from torch.export import export, load, save
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

ROOT = pathlib.Path(__file__).resolve().parents[1]
TOOL = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "deuteron")
MODELS = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ROOT.parent / "shared") / "fixtures" / "models"
NAMES = ["resnet8", "dscnn_kws", "mobilenet_v1_025_vww", "autoencoder_ad", "cifarnet", "digits_cnn"]
KEPT = [torch.ops.aten.linear.default, torch.ops.aten.hardsigmoid.default, torch.ops.aten.hardsigmoid_.default, torch.ops.aten.hardswish.default,
        torch.ops.aten.hardswish_.default]


def sqnr(reference, value):
    noise = float(((reference - value) ** 2).sum())
    return float("inf") if noise == 0 else 10 * np.log10(float((reference**2).sum()) / noise)


def outputs(pte, inputs, where):
    np.save(where / "in.npy", inputs)
    subprocess.run([TOOL, "run", pte, "--input", where / "in.npy", "--output-dir", where / "out"], check=True, capture_output=True)
    return np.load(where / "out" / "output0.npy")


def measure(name, where):
    folder = MODELS / name
    shape = json.loads((folder / "model.json").read_text())["inputs"][0]["shape"]
    inputs = [torch.from_numpy(np.fromfile(f, "<f4").reshape(shape)) for f in sorted((folder / "inputs").glob("*.bin"))[:32]]
    if len(shape) == 4:
        inputs = [x.to(memory_format=torch.channels_last) for x in inputs]
    module = load(str(folder / "float.pt2")).module(check_guards=False)
    prepared = prepare_pt2e(module, CortexMQuantizer())
    for x in inputs:
        prepared(x)
    converted = convert_pt2e(prepared)
    with torch.no_grad():
        simulated = np.concatenate([converted(x).numpy() for x in inputs]).reshape(len(inputs), -1)
    program = export(converted, (inputs[0],), strict=True)
    save(program, str(where / "q.pt2"))
    edge = to_edge(program, compile_config=EdgeCompileConfig(preserve_ops=KEPT, _check_ir_validity=False))
    edge._edge_programs["forward"] = CortexMPassManager(edge.exported_program()).transform()
    (where / "stock.pte").write_bytes(edge.to_executorch(config=ExecutorchBackendConfig(extract_delegate_segments=False)).buffer)
    subprocess.run([TOOL, "compile", where / "q.pt2", "--target", "cortex-m3", "-o", where / "ours.pte"], check=True, capture_output=True)
    series = np.stack([x.numpy() for x in inputs])[:, 0] if shape[0] == 1 else np.stack([x.numpy() for x in inputs])
    rows = [outputs(where / f, np.ascontiguousarray(series), where).reshape(len(inputs), -1) for f in ("stock.pte", "ours.pte")]
    return [sqnr(simulated, r) for r in rows] + [float((r.argmax(1) == simulated.argmax(1)).mean()) for r in rows]


missed = 0
print("| model | stock flow against PT2E | ours against PT2E | top-1 equal, stock | ours |\n| --- | --- | --- | --- | --- |")
for name in NAMES:
    with tempfile.TemporaryDirectory() as folder:
        stock, ours, same_stock, same_ours = measure(name, pathlib.Path(folder))
    worse = ours < stock - 0.05 or same_ours < same_stock
    missed += worse
    print(f"| {name} | {stock:.2f} dB | {ours:.2f} dB{' !' if worse else ''} | {100 * same_stock:.0f} % | {100 * same_ours:.0f} % |", flush=True)
sys.exit(1 if missed else 0)
