# SPDX-License-Identifier: Apache-2.0
"""Others' viewers on what we write, and `deuteron inspect` on parts of others' backends.

    viewers.py DEUTERON PACKAGE

Netron opens programs in ExecuTorch's dialect, and what --stock-view writes of any; the Model Explorer extension of
ExecuTorch opens every program and the record of one with parts. Both show as many calls as there are, by their names.
"""

import importlib.abc
import importlib.machinery
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest.mock
import warnings

warnings.filterwarnings("ignore")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, sys.argv[2])
import checks
from checks import check

# What Model Explorer's server and its views of other parts want: imported, and not called.
NOT_CALLED = {"IPython", "flask", "portpicker", "psutil", "requests", "termcolor", "watchdog", "ai_edge_model_explorer_adapter",
              "tosa_adapter_model_explorer", "vgf_adapter_model_explorer", "spirv_adapter_model_explorer"}  # fmt: skip


class NotCalled(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        known = name.partition(".")[0] in NOT_CALLED
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if known else None

    def create_module(self, spec):
        return unittest.mock.MagicMock()

    def exec_module(self, module):
        module.__path__ = []


sys.meta_path.append(NotCalled())
try:
    import netron
    from etrecord_adapter_model_explorer.main import ETRecordAdapter
    from pte_adapter_model_explorer.main import PTEAdapter
except ImportError as e:
    print(f"left out: {e}; ./dev makes build/viewers_venv of tests/stock/requirements-viewers.txt")
    sys.exit(77)
import numpy as np
import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower

import deuteron.executorch

tool = sys.argv[1]
digits = pathlib.Path(__file__).resolve().parents[2] / "models" / "digits_cnn"


def inspected(file, *options):
    told = file.with_suffix(".json")
    words = [tool, "inspect", file, "--json", told, *options]
    done = subprocess.run(words, capture_output=True, text=True)
    check(done.returncode == 0, f"inspect {file.name}: {done.stderr[-500:]}")
    return json.loads(told.read_text())


def ours(where):
    """The same network in four forms: for our runtime, in ExecuTorch's dialect, for the NPU, and as a part."""
    forms = {"ours": ("cortex-m55", {}), "dialect": ("cortex-m55", {"dialect": "stock"}), "npu": ("imxrt700", {})}
    for name, (target, options) in forms.items():
        made = deuteron.compile(digits / "float.pt2", target=target, calibration=np.load(digits / "calibrate.npy"), **options)
        made.save(where / f"{name}.pte")
    images = torch.from_numpy(np.load(digits / "calibrate.npy"))
    model = torch.export.load(digits / "float.pt2")
    made = deuteron.executorch.compile(model, target="cortex-m55", calibration=images)
    made.save(where / "parts.pte")
    made.etrecord.save(str(where / "parts.etrecord"))
    return [where / f"{name}.pte" for name in (*forms, "parts")]


def netron_nodes(*files):
    script = pathlib.Path(__file__).with_name("netron.mjs")
    words = ["node", "--experimental-default-type=module", script, pathlib.Path(netron.__file__).parent, *files]
    done = subprocess.run(words, capture_output=True, text=True)
    check(done.returncode == 0, f"Netron: {done.stderr[-800:]}")
    return [json.loads(line)["nodes"] for line in done.stdout.splitlines()]


def explored(adapter, file):
    found = adapter().convert(str(file), {})["graphCollections"]
    return [[n.label for n in graph.nodes] for one in found for graph in one.graphs]


def without_ports(labels):
    return [label for label in labels if not label.startswith("Graph ")]


def check_ours(where):
    files = ours(where)
    calls = {f: [c["op"] for c in inspected(f, "--stock-view", f.with_suffix(".tflite"))["calls"]] for f in files}
    named = {file: [op.partition(".")[0] for op in of] for file, of in calls.items()}
    for file, nodes in zip(files, netron_nodes(*(f.with_suffix(".tflite") for f in files))):
        nodes = [node for node in nodes if node != "view"]  # of the same bytes
        check(nodes == named[file], f"{file.name} in Netron by its view: {nodes}, not {named[file]}")
    (nodes,) = netron_nodes(where / "dialect.pte")
    plain = [op.partition("::")[2] for op in named[where / "dialect.pte"]]
    check(nodes == plain, f"the dialect in Netron: {nodes}, not {plain}")
    for file in files:
        labels = without_ports(explored(PTEAdapter, file)[0])
        check(labels == named[file], f"{file.name} in Model Explorer: {labels}, not {named[file]}")
    labels = [label for graph in explored(ETRecordAdapter, where / "parts.etrecord") for label in graph]
    for operator in ("Conv2d", "aten::relu"):
        check(operator in labels, f"the record in Model Explorer: no {operator} in {set(labels)}")
    print({file.name: len(of) for file, of in calls.items()})


class Mixed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(8, 16), torch.nn.Linear(16, 4)

    def forward(self, x):
        return torch.atan2(torch.sigmoid(self.second(torch.relu(self.first(x)))), torch.ones(1, 4))


def check_xnnpack(where):
    """Its part has the nodes that ExecuTorch's own viewer shows."""
    program = torch.export.export(Mixed().eval(), (torch.rand(1, 8),))
    manager = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()])
    file = where / "xnnpack.pte"
    file.write_bytes(manager.to_executorch().buffer)
    (part,) = inspected(file)["delegates"]
    shown = [f"XNN{name}" for name in part["calls"]]
    theirs = without_ports(explored(PTEAdapter, file)[1])
    check(shown == theirs and len(shown) > 2, f"XNNPACK: {shown}, Model Explorer {theirs}")
    check("constants" in part["bytes"], f"XNNPACK: {part}")


def vela_block(name, content):
    return struct.pack("<16sIB11s", name, len(content), 0, b"") + content + bytes(-len(content) % 16)


def check_ethos_u(where):
    """A stream as ExecuTorch packs what Vela has compiled (backends/arm/arm_vela.py), in the place of another part."""
    blocks = {b"vela_bin_stream": b"", b"cmd_data": bytes(68), b"weight_data": bytes(100),
              b"scratch_size": struct.pack("<I", 4096), b"vela_end_stream": b""}  # fmt: skip
    stream = b"".join(vela_block(*block) for block in blocks.items())
    content = bytearray((where / "xnnpack.pte").read_bytes())
    at = content.index(b"XnnpackBackend")
    content[at - 4 : at + 15] = struct.pack("<I", 13) + b"EthosUBackend\0\0"
    at = content.index(b"XH00") - 4
    content[at : at + len(stream)] = stream
    file = where / "ethos_u.pte"
    file.write_bytes(content)
    (part,) = inspected(file)["delegates"]
    wanted = {"commands": 68, "weights": 100, "scratch": 4096}
    check(part["bytes"] == wanted, f"Ethos-U: {part}")
    for damage in range(0, len(stream), 7):
        content[at + damage] ^= 0xFF
        file.write_bytes(content)
        inspected(file)
        content[at + damage] ^= 0xFF


with tempfile.TemporaryDirectory() as scratch:
    check_ours(pathlib.Path(scratch))
    check_xnnpack(pathlib.Path(scratch))
    check_ethos_u(pathlib.Path(scratch))
print(f"viewers: {checks.verdict()}")
sys.exit(checks.failed != 0)
