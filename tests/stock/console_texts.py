# SPDX-License-Identifier: Apache-2.0
"""What the vendor's converter prints, as its stand-in prints it: our map of kernels against that of ExecuTorch's own reader of the text
(backends/nxp, neutron_map.py of the package) for 14 networks; and texts that are damaged or of another form than we know, with which every
program compiles, what is open is named, and no kernel has a wrong operator.

    console_texts.py DEUTERON NEUTRON_CONVERTER CONSOLE_MAP SHARED
"""
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

import numpy
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import checks
from checks import check

TOOL, CONVERTER, MAP = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:4])
MODELS = pathlib.Path(sys.argv[4]) / "fixtures" / "models"
QUICK = ["--observer", "minmax"]
NETWORKS = ["autoencoder_ad", "cifarnet", "digits_bmm", "digits_cnn", "dscnn_kws", "hello_sine", "mobilenet_v1_025_vww", "mobilenet_v2",
            "mobilenet_v3_small", "resnet8"]


def reader():
    """By itself: its package wants the vendor's."""
    path = importlib.metadata.distribution("executorch").locate_file("executorch/backends/nxp/backend/neutron_map.py")
    spec = importlib.util.spec_from_file_location("neutron_map", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NEUTRON_MAP = reader()


# ---- networks that the reader's own tests have, and a vision transformer

class Pools(torch.nn.Module):
    def __init__(self, residual):
        super().__init__()
        self.first, self.second = torch.nn.Conv2d(16, 16, 3, padding=1), torch.nn.Conv2d(16, 16, 3, padding=1)
        self.most, self.mean, self.last = torch.nn.MaxPool2d(2), torch.nn.AvgPool2d(2), torch.nn.Conv2d(32, 16, 1)
        self.residual = residual

    def forward(self, x):
        y = self.first(x)
        if self.residual:
            y = self.second(torch.relu(y)) + x
        y = self.last(torch.cat((self.most(y), self.mean(y)), dim=1))
        return torch.relu(y) if self.residual else y


class Transformer(torch.nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.patches, self.norms = torch.nn.Conv2d(3, width, 8, 8), torch.nn.ModuleList(torch.nn.LayerNorm(width) for _ in range(3))
        self.attention = torch.nn.MultiheadAttention(width, 4, batch_first=True)
        self.mlp = torch.nn.Sequential(torch.nn.Linear(width, 2 * width), torch.nn.GELU(), torch.nn.Linear(2 * width, width))
        self.head = torch.nn.Linear(width, 10)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        y = self.norms[0](x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        x = x + self.mlp(self.norms[1](x))
        return self.head(self.norms[2](x).mean(1))


# name: network, input, seed. Which parts of the transformers the NPU gets depends on their weights.
MADE = {"softmax": (lambda: torch.nn.Softmax(-1), (1, 10), 3), "pools": (lambda: Pools(False), (1, 16, 16, 16), 3),
        "residual_pools": (lambda: Pools(True), (1, 16, 16, 16), 3), "transformer": (Transformer, (1, 3, 32, 32), 1),
        "transformer_in_parts": (Transformer, (1, 3, 32, 32), 6)}


def model_of(name, where):
    if name in MADE:
        make, shape, seed = MADE[name]
        torch.manual_seed(seed)
        torch.export.save(torch.export.export(make().eval(), (torch.randn(shape),)), where / f"{name}.pt2")
        numpy.save(where / f"{name}.npy", numpy.random.RandomState(3).randn(2, *shape[1:]).astype("float32"))
        return [where / f"{name}.pt2", "--calibrate", where / f"{name}.npy", *QUICK]
    quantized = MODELS / name / "qdq.pt2"
    return [quantized] if quantized.exists() else [MODELS / name / "float.pt2", "--calibrate", MODELS / name / "inputs" / "000.bin", *QUICK]


def compiled(model, where, converter, **environment):
    result = subprocess.run([TOOL, "compile", *map(str, model), "--target", "imxrt700cm", "--profile", "--neutron-converter", converter, "-o",
                             str(where / "m.pte"), "--etrecord", str(where / "m.etrecord"), "--intermediates", str(where)],
                            capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600, env={**os.environ, **environment})
    check(result.returncode == 0, f"{where.name} {environment}: {result.stderr[-800:]}")
    return result.stderr


# ---- the two maps

def compare(name, where):
    said = compiled(model_of(name, where), where, CONVERTER)
    check("neutron.dump" not in said, f"{name}: {said}")
    kernels = more = other = 0
    for text in sorted(where.glob("neutron*.console.txt")):
        ir = text.with_name(text.name.replace("console.txt", "ir.tflite"))
        ours = json.loads(subprocess.run([MAP, text, ir], capture_output=True, text=True, check=True).stdout)
        printed = text.read_bytes().decode()
        nodes = NEUTRON_MAP.NeutronMap(printed, {}).tflite_nodes
        theirs = NEUTRON_MAP.NeutronMap(printed, {k: (k,) for k in range(len(nodes))}).get_neutron_to_edge_map()
        # It goes by names of tensors: a layer alone between two views, which went into it, is not found, and then there is no map.
        found = len(theirs) == len(ours["kernels"]) + 1 or (not theirs and len(ours["kernels"]) == 1)
        check(found, f"{name}: ExecuTorch's reader finds {len(theirs) - 1} of {len(ours['kernels'])} kernels")
        check(not ours["unknown"] and not any(k["open"] for k in ours["kernels"]), f"{name}: {text.name}: open: {ours}")
        for index, kernel in enumerate(ours["kernels"]):
            kernels += 1
            of_theirs = set(theirs.get(index, ()))
            extra = of_theirs - set(kernel["ops"])
            more += set(kernel["ops"]) > of_theirs
            for op in extra:  # a name is enough for it: x * x is taken for x * y. The operator has its kernel elsewhere.
                other += 1
                owners = [k for k, o in enumerate(ours["kernels"]) if op in o["ops"]]
                reads = set(nodes[op].inputs)
                check(len(owners) == 1 and len(reads) == 1, f"{name}: kernel {index} {kernel}: not {nodes[op]}, which ExecuTorch's reader finds")
    print(f"{name}: {kernels} kernels, ours has more operators at {more}, ExecuTorch's reader another one at {other}")


# ---- texts that are damaged, or of another form

def without_rows(text, numbers):
    return re.sub(r"    NeutronOperator \"subgraph_(\d+)\":\r\n(?:        .*\r\n)+", lambda m: "" if int(m[1]) in numbers else m[0], text)


def lists_exchanged(text):
    text = re.sub(r"( *Inputs:\n(?: *\[\d+\]: .*\n)+)( *Outputs:\n(?: *\[\d+\]: .*\n)+)", r"\2\1", text)
    return re.sub(r"( *Operators:\r\n(?: {12}.*\r\n)+)( *Kernels:\r\n(?: {12}.*\r\n)+)", r"\2\1", text)


def with_logs(text):
    lines = text.split("\n")
    return "\n".join(line + ("\n[12:00:01] INFO: pass took 3 ms" if k % 3 == 0 else "") for k, line in enumerate(lines))


def with_sections(text):
    new = "==================== Schedule ====================\n  Tile: 0\n  Kernels:\n    Conv2DFancy\n"
    graph = "Graphs:\n  Name: optimized\n    Operators:\n      Type: CONV_2D\n        Inputs:\n          [0]: q\n        Outputs:\n          [0]: r\n"
    return text.replace("==================== Extract", graph + new + "==================== Extract", 1) + new


def other_numbers(text):
    text = re.sub(r"subgraph_0*(\d)", r"subgraph_\1", text)
    text = re.sub(r"numKernelCalls +0x([0-9a-f]+)", lambda m: f"numKernelCalls: {int(m[1], 16)}", text)
    return re.sub(r"Location: (\d+)", lambda m: f"Location: {int(m[1]):#x}", text)


# name: what becomes of the text, and whether every kernel stays known
TEXTS = {
    "truncated": (lambda t: t[:t.rindex("Name: subgraph_") * 4 // 5], False),
    "truncated code": (lambda t: t[:t.index("CALLARGS") + 300], False),
    "lists exchanged": (lists_exchanged, True),
    "no places": (lambda t: re.sub(r" *Location: .*\n", "", t), True),
    "unknown kinds": (lambda t: t.replace("Conv2DPointwise", "Conv2DQuantum"), True),
    "new sections": (with_sections, True),
    "CRLF": (lambda t: t.replace("\r", "").replace("\n", "\r\n"), True),
    "colours": (lambda t: re.sub(r"(?m)^( *)(\S.*?)(\r?)$", "\\1\x1b[1;32m\\2\x1b[0m\\3", t), True),
    "renamed headings": (lambda t: t.replace("Kernels:", "Kernel list:"), False),
    "a doubled row": (lambda t: re.sub(r"(    NeutronOperator \"subgraph_003\":\r\n(?:        .*\r\n)+)", r"\1\1", t), True),
    "no list of kernels": (lambda t: re.sub(r"=+ Extract Graphs =+[\s\S]*?\n=+\r\n", "", t), False),
    "a missing row": (lambda t: without_rows(t, {4}), False),
    "two missing rows": (lambda t: without_rows(t, {2, 7}), False),
    "other numbers": (other_numbers, True),
    "log lines between": (with_logs, True),
    "renamed graphs": (lambda t: t.replace("Graphs:", "Graph dumps:"), True),
}


def kernels_of(record):
    with zipfile.ZipFile(record) as z:
        m = json.loads(z.read("delegate_map"))["deuteron"]
    calls = [c for c in m["calls"] if "npu_kernels" in c]
    none = {w["operator"] for c in calls for w in c["without_kernel"] if "has no kernel for it" in w["reason"]}
    return [k for c in calls for k in c["npu_kernels"]], none, all(w["reason"] for c in calls for w in c["without_kernel"])


def check_texts(name, where):
    model = model_of(name, where)
    wrapper = where / "converter"
    wrapper.write_text(f"#!{sys.executable}\nimport sys\nsys.argv[1:1] = {[TOOL, CONVERTER, MAP, sys.argv[4]]!r}\n"
                       f"sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})\nimport console_texts\nconsole_texts.convert(sys.argv[5:])\n")
    wrapper.chmod(0o755)
    compiled(model, where, CONVERTER)
    right, none, _ = kernels_of(where / "m.etrecord")
    for text, (_, is_known) in TEXTS.items():
        what = f"{name}, {text}"
        said = compiled(model, where, str(wrapper), DAMAGE=text)
        kernels, claimed, all_say_why = kernels_of(where / "m.etrecord")
        opened = [k for k in kernels if "open" in k]
        check("[neutron.dump." in said if not is_known else "neutron.dump" not in said, f"{what}: {said}")
        check(is_known == (not opened and len(kernels) == len(right)), f"{what}: open are {len(opened)} of {len(kernels)}")
        for k in kernels:
            if "open" in k:
                check(not k["added"] and f"{k['id']} {k['kernel']}" in said or "neutron.dump.model" in said, f"{what}: {k} is not named: {said}")
            else:
                same = k["operators"] == right[k["id"]]["operators"] and k["added"] == right[k["id"]]["added"]
                check(same, f"{what}: {k}, not {right[k['id']]}")
        check(claimed <= none and all_say_why, f"{what}: operators said to have no kernel: {claimed - none}")
        print(f"{what}: {len(opened)} of {len(kernels)} kernels open")


def convert(arguments):
    """As the converter: the stand-in's, with another text."""
    result = subprocess.run([CONVERTER, *arguments], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    text = result.stdout.decode()
    sys.stdout.buffer.write((TEXTS[os.environ["DAMAGE"]][0](text) if "Extract Graphs" in text else text).encode())
    sys.stdout.flush()
    sys.exit(result.returncode)


def main():
    if not MODELS.is_dir():
        print(f"left out: there is no {MODELS}")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        for name in [*MADE, *checks.those_there(MODELS, NETWORKS)]:
            where = pathlib.Path(folder) / name
            where.mkdir()
            compare(name, where)
        where = pathlib.Path(folder) / "texts"
        where.mkdir()
        check_texts("resnet8", where)
    print(checks.verdict())
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
