# SPDX-License-Identifier: Apache-2.0
"""Programs of ExecuTorch with parts of ours: quantized, lowered, and run in the stock runtime."""

import concurrent.futures
import os
import pathlib
import re
import subprocess

import executorch
import numpy as np
import torch
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

import deuteron
from checks import check

TARGET = "cortex-m55"
LIBRARIES = pathlib.Path(next(iter(executorch.__path__))) / "lib"
KERNELS = f"--library={LIBRARIES / 'libexecutorch_kernels_optimized.so'}"


def backends_of(manager, method="forward"):
    """The backends of the program's delegates, in order."""
    module = manager.exported_program(method).graph_module
    return [
        getattr(module, n.args[0].target).backend_id
        for n in module.graph.nodes
        if "call_delegate" in str(n.target)
    ]


def quantized(models, name):
    """(the quantized model, samples)"""
    folder = models / name
    samples = [np.fromfile(f, "<f4") for f in sorted((folder / "inputs").glob("*.bin"))[:2]]
    if (folder / "qdq.pt2").exists():
        program = torch.export.load(folder / "qdq.pt2")
    else:
        program = torch.export.load(folder / "float.pt2")
    shape = [
        n.meta["val"].shape
        for n in program.graph.nodes
        if n.name in program.graph_signature.user_inputs
    ][0]
    samples = [s.reshape(shape) for s in samples]
    if not (folder / "qdq.pt2").exists():
        prepared = prepare_pt2e(program.module(check_guards=False), deuteron.Quantizer(TARGET))
        prepared(torch.from_numpy(samples[0]))
        program = torch.export.export(convert_pt2e(prepared), (torch.from_numpy(samples[0]),))
    return program, samples


def quantize(model, inputs, quantizer, shapes=None, strict=False):
    """An nn.Module as PT2E leaves it; `inputs` are the sample too."""
    exported = torch.export.export(model.eval(), inputs, dynamic_shapes=shapes, strict=strict)
    prepared = prepare_pt2e(exported.module(check_guards=False), quantizer)
    prepared(*inputs)
    return torch.export.export(convert_pt2e(prepared), inputs, dynamic_shapes=shapes)


def run_stock(runner, file, samples, where, *options, scratch=0):
    """`scratch`: bytes that all parts share."""
    paths = [where / f"in{i}.bin" for i in range(len(samples))]
    for path, sample in zip(paths, samples):
        np.asarray(sample).tofile(path)
    command = [runner, *options, file, where / "out", *paths]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        timeout=60,
        env={**os.environ, "STOCK_SCRATCH": str(scratch)},
    )


def written(manager, path, config=None):
    path.write_bytes(manager.to_executorch(config).buffer)
    return path


def compiled_runner(tool, files, where, scratch=1 << 16):
    """A runner like stock_runner, whose backend has the parts of these programs as C."""
    root, package = pathlib.Path(__file__).resolve().parents[2], LIBRARIES.parent
    folder = where / "compiled"
    words = [tool, "firmware", *files, "--target", TARGET, "--as", "executorch,c,host"]
    subprocess.run([*words, "-o", folder, "--force"], check=True, capture_output=True)
    listed = re.findall(r"^    (src/\S+?)\)?$", (folder / "sources.cmake").read_text(), re.M)
    own = [root / "tests/stock/upstream_kernels.cpp", root / "tests/stock/stock_runner.cpp"]
    theirs = [package / "include", package / "include/executorch/runtime/core/portable_type/c10"]
    flags = ["-O1", "-w", "-ffp-contract=off", f"-I{folder / 'src'}", f"-I{root}", "-pthread"]
    flags += [*(f"-isystem{i}" for i in theirs), f"-DDEUTERON_COMPILED={scratch}"]
    flags += ["-DC10_USING_CUSTOM_GENERATED_MACROS", "-DET_EVENT_TRACER_ENABLED"]

    def build(at, source):
        language = ["gcc"] if str(source).endswith(".c") else ["g++", "-std=c++17"]
        words = [*language, *flags, "-c", source, "-o", where / f"compiled{at}.o"]
        subprocess.run(words, check=True)
        return where / f"compiled{at}.o"

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        sources = [*own, *(folder / name for name in listed)]
        again = 1 if (where / "compiled_runner").exists() else len(sources)  # another scratch
        list(pool.map(build, range(again), sources))
    objects = [where / f"compiled{at}.o" for at in range(len(sources))]
    libraries = [LIBRARIES / "libexecutorch.so", LIBRARIES / "libexecutorch_etdump.so"]
    words = ["g++", "-pthread", *objects, *libraries, f"-Wl,-rpath,{LIBRARIES}"]
    subprocess.run([*words, "-o", where / "compiled_runner"], check=True)
    return where / "compiled_runner"


def bits_of(tool, program, samples, where, target=TARGET, **options):
    """What `deuteron run` gives for the same model, compiled whole."""
    whole = deuteron.compile(program, target=target, **options)
    whole.save(where / "whole.pte")
    found = []
    for sample in samples:
        np.save(where / "in.npy", sample)
        words = [tool, "run", where / "whole.pte", "--input", where / "in.npy"]
        subprocess.run([*words, "--output-dir", where / "ours"], check=True, capture_output=True)
        found.append(np.load(where / "ours" / "output0.npy").tobytes())
    return found


def same_bits(runner, name, file, samples, expected, where, *options):
    for sample, wanted in zip(samples, expected):
        ran = run_stock(runner, file, [sample], where, *options)
        if check(ran.returncode == 0, f"{name} in the stock runtime: {ran.stderr[-600:]}"):
            got = (where / "out0.bin").read_bytes()
            check(got == wanted, f"{name}: other bits than deuteron run")
