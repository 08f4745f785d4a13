# SPDX-License-Identifier: Apache-2.0
"""Programs with parts for DeuteronBackend that are more than one call: methods that share a state, states
between parts and within one, batches of any size, parts as C, and traces in ExecuTorch's Inspector. All in the
stock runtime.

    delegate_flows.py STOCK_RUNNER PACKAGE DEUTERON
"""

import contextlib
import io
import pathlib
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, sys.argv[2])
import numpy as np
import torch
from executorch.devtools import Inspector
from executorch.exir import ExecutorchBackendConfig, to_edge_transform_and_lower
from executorch.exir.passes import MemoryPlanningPass
from torch import nn

import checks
import deuteron.executorch
from checks import check
from delegated import (
    KERNELS,
    TARGET,
    backends_of,
    compiled_runner,
    quantize,
    run_stock,
    written,
)
from deuteron.executorch import DeuteronComparator, DeuteronPartitioner, DeuteronQuantizer

runner, tool = sys.argv[1], sys.argv[3]
as_c = []  # programs, their inputs and what they give
digits = pathlib.Path(__file__).resolve().parents[2] / "models" / "digits_cnn"
torch.set_grad_enabled(False)


def ran(name, file, inputs, expected, where, *options):
    """The bits of `expected`, a tensor; also where parts share their planned memory."""
    for scratch in (0, 64, 1 << 16):  # 64 bytes are too few for some
        done = run_stock(runner, file, inputs, where, KERNELS, *options, scratch=scratch)
        right(f"{name}, {scratch} bytes shared", done, expected, where)


def right(name, done, expected, where):
    if check(done.returncode == 0, f"{name} in the stock runtime: {done.stderr[-600:]}"):
        got = np.fromfile(where / "out0.bin", "<f4")
        check((got == expected.numpy().ravel()).all(), f"{name}: {got}, not {expected}")


class Keeping(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.layer = nn.Linear(8, 8)
        self.register_buffer("h", torch.zeros(1, 8))

    def keep(self, y):
        self.h.copy_(y)
        return y


class Prefill(Keeping):
    def forward(self, x):
        return self.keep(torch.relu(self.layer(x)).mean(0, keepdim=True))


class Decode(Keeping):
    def forward(self, x):
        return self.keep(torch.tanh(self.layer(x) - self.h))


class BetweenParts(Keeping):
    """Two parts read the state, and what writes it is in float."""

    def forward(self, x):
        y = torch.relu(self.layer(x + self.h))
        return self.keep(torch.relu(torch.atan2(y, x) + self.h))


class WithinPart(nn.Module):
    """What was seen last stands beside what is seen."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.layer = nn.Linear(16, 8)
        self.register_buffer("h", torch.zeros(1, 8))

    def forward(self, x):
        y = torch.relu(self.layer(torch.cat([self.h, x], 1)))
        self.h.copy_(x)
        return y


def reset(program):  # calibration has changed it
    program.state_dict["h"].zero_()
    return program


def check_methods(where):
    """One partitioner for both; ExecuTorch gives the state one place, so the parts leave it there."""
    many, one = torch.rand(4, 8), torch.rand(1, 8)
    methods = {
        name: reset(quantize(model, (x,), DeuteronQuantizer(TARGET)))
        for name, model, x in [("prefill", Prefill(), many), ("decode", Decode(), one)]
    }
    apart = to_edge_transform_and_lower(dict(methods), partitioner=[DeuteronPartitioner(TARGET)])
    for name in methods:
        found = set(backends_of(apart, name))
        check(found == {"DeuteronBackend"}, f"{name}: {found}")
    planning = MemoryPlanningPass(share_mutable_buffers=True)
    config = ExecutorchBackendConfig(memory_planning_pass=planning)
    file = written(apart, where / "methods.pte", config)
    prefill, decode = (methods[name].module() for name in methods)
    at_first = decode(one)
    prefill(many)
    decode.h.copy_(prefill.h)
    ran("prefill, decode", file, [many, one], decode(one), where, "--method=prefill,decode")
    ran("decode alone", file, [one], at_first, where, "--method=decode")


def check_states(where):
    x = torch.rand(1, 8)
    steps = torch.cat([x, x * 2, x - 1])
    models = ("between", BetweenParts(), False), ("within", WithinPart(), True), ("sum", Decode(), True)
    for name, model, is_whole in models:
        quantizer = DeuteronQuantizer(TARGET, allow_float=not is_whole)
        program = reset(quantize(model, (x,), quantizer))
        manager = to_edge_transform_and_lower(program, partitioner=[DeuteronPartitioner(TARGET)])
        check(is_whole == (len(backends_of(manager)) == 1), f"{name}: {backends_of(manager)}")
        file = written(manager, where / f"{name}.pte")
        module = program.module()
        expected = torch.cat([module(step[None]) for step in steps])
        ran(f"a state, {name}", file, [steps], expected, where)
        as_c.append((file, [steps], expected))


class Images(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(2)
        self.images, self.scores = nn.Conv2d(2, 4, 3), nn.Linear(36, 5)

    def forward(self, x):
        y = nn.functional.max_pool2d(torch.relu(self.images(x)), 2).flatten(1)
        y = torch.atan2(torch.cat([y[:, 18:], y[:, :18]], 1), y + 1)  # in float, so two parts
        return torch.softmax(self.scores(y), -1)


def check_batches(where):
    """Each sample by itself, in a part for one of them."""
    x = torch.rand(2, 2, 8, 8)
    shapes = ({0: torch.export.Dim("batch", min=1, max=5)},)
    program = quantize(Images(), (x,), DeuteronQuantizer(TARGET, allow_float=True), shapes)
    manager = to_edge_transform_and_lower(program, partitioner=[DeuteronPartitioner(TARGET)])
    check(backends_of(manager) == ["DeuteronBackend"] * 2, f"batch: {backends_of(manager)}")
    file = written(manager, where / "batch.pte")
    samples = torch.rand(5, 2, 8, 8)  # as many as there may be: the runner takes what is planned
    check_scratch(file, samples, where)
    expected = program.module()(samples)
    ran("a batch", file, [samples], expected, where)
    as_c.append((file, [samples], expected))


def check_as_c(where):
    """The same parts as C, with room for all of them, for none, and for some."""
    for scratch in (1 << 16, 16, 64):
        compiled = compiled_runner(tool, [file for file, *_ in as_c], where, scratch)
        parts = (where / "compiled/src/deuteron_backend.cpp").read_text()
        check("_reset_state}" in parts, "no part keeps a state")
        for file, inputs, expected in as_c:
            done = run_stock(compiled, file, inputs, where, KERNELS)
            right(f"{file.stem} as C, {scratch} bytes shared", done, expected, where)


def least_bytes(file, x, where, scratch):
    """Of the method's own memory."""
    low, high = 0, 1 << 18
    while high - low > 64:
        bytes = (low + high) // 2
        options = [KERNELS, f"--method-bytes={bytes}"]
        done = run_stock(runner, file, [x], where, *options, scratch=scratch)
        low, high = (low, bytes) if done.returncode == 0 else (bytes, high)
    return high


def check_scratch(file, x, where):
    """Two parts need less by what they share."""
    apart, shared = (least_bytes(file, x, where, scratch) for scratch in (0, 1 << 16))
    check(shared + 512 <= apart < 1 << 18, f"method memory: {apart}, with scratch {shared}")
    print(f"method memory: {apart} bytes, {shared} beside a scratch for both parts")


def check_trace(where):
    """Every call of a part by the user's operators; what it has made beside what the model says. Parts as C tell the
    same."""
    model = torch.export.load(digits / "float.pt2")
    images = torch.from_numpy(np.load(digits / "calibrate.npy"))
    made = deuteron.executorch.compile(model, target=TARGET, calibration=images)
    made.save(where / "digits.pte")
    x = model.example_inputs[0][0]
    made.etrecord.update_representative_inputs([[x]])
    made.etrecord.save(str(where / "digits.etrecord"))
    (where / "traced").mkdir()
    as_c = compiled_runner(tool, [where / "digits.pte"], where / "traced")
    told = [trace_told(form, x, where) for form in (runner, as_c)]
    check(told[0] == told[1], f"as C another trace: {told}")


def trace_told(form, x, where):
    options = [f"--etdump={where / 'digits.etdp'}", "--values"]
    done = run_stock(form, where / "digits.pte", [x], where, *options)
    check(done.returncode == 0, f"traced: {done.stderr[-600:]}")
    with contextlib.redirect_stderr(io.StringIO()):
        inspector = Inspector(
            etdump_path=str(where / "digits.etdp"),
            etrecord=str(where / "digits.etrecord"),
            debug_buffer_path=str(where / "digits.etdp.values"),
        )
    events = [e for block in inspector.event_blocks for e in block.events]
    calls = [e for e in events if e.is_delegated_op]
    (whole,) = [e for e in events if e.name == "DELEGATE_CALL"]
    check(calls and all(e.op_types for e in calls), f"a call without operators: {calls}")
    for op in ("aten.conv2d.default", "aten.linear.default"):
        check(any(op in e.op_types for e in calls), f"no call computes {op}")
    check(sum(e.perf_data.avg for e in calls) <= whole.perf_data.avg, "calls take more than the part")
    gaps = inspector.calculate_numeric_gap(DeuteronComparator("SNR"))
    check(len(gaps) * 4 >= len(calls) * 3, f"only {len(gaps)} of {len(calls)} calls are compared")
    worst = min(gap for row in gaps["gap"] for gap in row)
    print(f"trace: {len(calls)} calls, {len(gaps)} compared, at least {worst:.1f} dB")
    check(worst > 40, f"a call is {worst:.1f} dB from the model")
    return [(e.delegate_debug_identifier, e.op_types) for e in calls], gaps["gap"].tolist()


with tempfile.TemporaryDirectory() as scratch:
    for part in (check_methods, check_states, check_batches, check_as_c, check_trace):
        part(pathlib.Path(scratch))
print(f"delegate flows: {checks.verdict()}")
sys.exit(checks.failed != 0)
