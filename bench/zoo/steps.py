# SPDX-License-Identifier: Apache-2.0
"""What is done with a row of the zoo: export, compile, run on data that calibration has not seen, and the same through PT2E.

Each step is a process of its own and leaves files in the row's folder of the cache: model.pt2, calibrate*.npy, held*.npy and expected*.npy of
the export (calibrate_expected*.npy: of the samples that calibrate), ours-KEY.json for a compiler with that key, pt2e.json.
"""
import contextlib
import json
import multiprocessing
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import torch
from rows import samples
from torch.utils import _pytree as pytree

CALIBRATE, HELD, SETTLE = 8, 16, 8  # samples; batches that the statistics of batch norm are taken from
COMPILE_SECONDS, COMPILE_BYTES = 60, 6 << 30
PYTHON_SECONDS, PYTHON_BYTES = 400, 12 << 30
MEASURED = pathlib.Path(__file__).resolve().with_name("measured.py")


def child(function, arguments, pipe):
    resource.setrlimit(resource.RLIMIT_AS, (PYTHON_BYTES, PYTHON_BYTES))
    signal.alarm(PYTHON_SECONDS)
    try:
        with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(nothing):
            warnings.simplefilter("ignore")
            pipe.send((function(*arguments), None))
    except BaseException as error:  # whatever an architecture throws is a line of its row
        pipe.send((None, f"{type(error).__name__}: {str(error).strip()[:600]}"))


def apart(function, *arguments):
    """(the function's result, None) or (None, why there is none), computed in a process of its own."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(False)
    process = context.Process(target=child, args=(function, arguments, there))
    process.start()
    there.close()
    try:
        return here.recv()
    except EOFError:
        return None, "ended without an answer (out of time or memory)"
    finally:
        process.join()


def prepare(has_pt2e):
    """Imports what torch and its quantizers import late, once for all processes."""
    with torch.no_grad():
        program = torch.export.export(torch.nn.Sequential(torch.nn.Conv2d(1, 1, 1), torch.nn.ReLU()), (torch.zeros(1, 1, 2, 2),), strict=False)
        torch.export.save(program, os.path.join(tempfile.gettempdir(), f"zoo{os.getpid()}.pt2"))
    os.remove(os.path.join(tempfile.gettempdir(), f"zoo{os.getpid()}.pt2"))
    if has_pt2e:
        quantizers()


def vary(model):
    """Vectors that initialisation leaves at one value get seeded ones, as training would: scales of batch norm, biases, layer scales."""
    for parameter in model.parameters():
        values = parameter.data
        if values.dim() != 1 or values.numel() < 2 or not bool((values == values[0]).all()):
            continue
        first = float(values[0])
        if first == 0:
            values.normal_(0, 0.1)
        else:
            values.uniform_(0.5, 1.5)
            values.mul_(first if abs(first) > 0.1 else 0.5)


def settle(model, row):
    """Statistics of batch norm from batches of the row's own kind of data."""
    norms = [m for m in model.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)]
    if not norms:
        return
    for norm in norms:
        norm.train()
        norm.momentum = None  # a plain mean over the batches
        norm.reset_running_stats()
    batches = [[torch.from_numpy(x[:, 0]) for x in samples(row, SETTLE, 1000 + k)] for k in range(SETTLE)]
    try:
        for batch in batches:
            model(*batch)
    except (RuntimeError, ValueError):  # it takes one sample at a time
        for x in batches[0][0]:
            model(*(torch.as_tensor(x)[None],))
    for norm in norms:
        norm.eval()


def export(row, folder):
    torch.manual_seed(sum(row.name.encode()))
    model = row.make().eval()
    data = samples(row, CALIBRATE + HELD, 1)
    with torch.no_grad():
        vary(model)
        settle(model, row)
        program = torch.export.export(model, tuple(torch.from_numpy(x[0]) for x in data), strict=False)
        answers = [pytree.tree_leaves(model(*(torch.from_numpy(x[k]) for x in data))) for k in range(CALIBRATE + HELD)]
    for port, x in enumerate(data):
        np.save(folder / f"calibrate{port}.npy", x[:CALIBRATE])
        np.save(folder / f"held{port}.npy", x[CALIBRATE:])
    for port in range(len(answers[0])):
        expected = np.stack([np.asarray(a[port]) for a in answers])
        np.save(folder / f"calibrate_expected{port}.npy", expected[:CALIBRATE])
        np.save(folder / f"expected{port}.npy", expected[CALIBRATE:])
    torch.export.save(program, str(folder / "model.pt2"))
    return {"parameters": sum(p.numel() for p in model.parameters())}


def ports(folder, name):
    found = []
    while (path := folder / f"{name}{len(found)}.npy").exists():
        found.append(path)
    return found


def decibels(folder, answers):
    """Signal to noise of the outputs in float, the mean over them; None: there is none, or one is not finite."""
    figures = []
    for path, got in zip(ports(folder, "expected"), answers, strict=True):
        expected = np.load(path)
        if expected.dtype != np.float32 or not expected.any():
            continue
        noise = float(((expected - np.asarray(got).reshape(expected.shape)) ** 2).sum(dtype=np.float64))
        signal_power = float((expected**2).sum(dtype=np.float64))
        figures.append(100.0 if noise <= 1e-10 * signal_power else 10 * float(np.log10(signal_power / noise)))
    return float(np.mean(figures)) if figures and np.isfinite(figures).all() else None


def compiled(tool, folder, target="cortex-m55"):
    """What compiling and running gave: status, rules and texts of a refusal, operators in float, seconds, bytes, dB."""
    with tempfile.TemporaryDirectory() as where:
        where = pathlib.Path(where)
        calibrate = [word for path in ports(folder, "calibrate") for word in ("--calibrate", path)]
        subprocess.run([sys.executable, "-S", "-E", MEASURED, str(COMPILE_SECONDS), str(COMPILE_BYTES), where / "took.json", tool, "compile",
                        folder / "model.pt2", "--target", target, *calibrate, "-o", where / "m.pte", "--json", where / "m.json",
                        "--threads", "1"], check=True, stdin=subprocess.DEVNULL)  # fmt: skip
        out = json.loads((where / "took.json").read_text())
        stderr = out.pop("stderr")
        try:
            report = json.loads((where / "m.json").read_text())
        except (OSError, ValueError):
            report = {}
        out["diagnostics"] = [{k: str(v)[:400] for k, v in d.items()} for d in report.get("diagnostics", [])]
        if out["status"] != 0:
            out["said"] = stderr[-2000:]
            return out
        operators = report["operators"]
        out["float"] = sorted({f"{o['op']} ({o['source'].partition('(')[2].rstrip(')')})" for o in operators if o["placement"] == "portable"})
        out.update({k: report[k] for k in ("ram_bytes", "macs", "sqnr_db", "held_out_sqnr_db", "file_bytes")})
        run = subprocess.run([tool, "run", where / "m.pte", *(w for p in ports(folder, "held") for w in ("--input", p)), "--output-dir",
                              where / "out"], capture_output=True, text=True, stdin=subprocess.DEVNULL)  # fmt: skip
        out["run"] = run.stderr[-500:] if run.returncode else ""
        out["db"] = None if run.returncode else decibels(folder, [np.load(p) for p in ports(where / "out", "output")])
    return out


def quantizers():
    from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config
    return {"cortex_m": CortexMQuantizer,
            "xnnpack": lambda: XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))}  # fmt: skip


def pt2e(folder, name):
    """dB of PT2E with the quantizer of that name, simulated in PyTorch, on the same samples."""
    from held_out import simulate_pt2e
    program = torch.export.load(str(folder / "model.pt2"))
    data = {part: [np.load(p) for p in ports(folder, part)] for part in ("calibrate", "held")}
    rows = lambda part: [[x[k] for x in data[part]] for k in range(len(data[part][0]))]
    answers = simulate_pt2e(program, quantizers()[name](), rows("calibrate"), rows("held"))
    leaves = [pytree.tree_leaves(a) for a in answers]
    return {"db": decibels(folder, [np.stack([np.asarray(a[k]) for a in leaves]) for k in range(len(leaves[0]))]), "quantizer": name}
