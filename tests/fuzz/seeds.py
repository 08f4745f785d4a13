# SPDX-License-Identifier: Apache-2.0
"""Writes first inputs for the fuzz targets: what the golden tests give the program, and the models and traces that a checkout carries.

    seeds.py OUT

OUT/TARGET gets a file for each input. A golden text stands for a way through a reader that has a test: every refusal and every rewrite rule.
Where the package onnx is there, ONNX's own tests of its operators are added."""
import itertools
import pathlib
import re
import sys
import zipfile
import zlib

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))
import input_seeds  # noqa: E402
import pt2_text  # noqa: E402
import tflite_models  # noqa: E402
import torch_models  # noqa: E402
from golden import FOLDER, NOT_REACHED, Golden  # noqa: E402

TARGET_OF = {".pt2": "pt2", ".tflite": "tflite", ".onnx": "onnx", ".npy": "npy", ".npz": "npz", ".etdp": "etdump", ".etrecord": "etrecord",
             ".toml": "target", ".bmp": "image", ".png": "image", ".jpg": "image", ".sel": "selection", ".pte": "pte"}
# The byte that a target looks at before the file: an archive, not an entry of one; the first of the shapes.
PREFIX = {"pt2": b"\0", "image": b"\0"}
TORCH_EXAMPLES = TESTS.parent / "frontends/pt2/examples/torch_examples.inc"
MOST_BYTES = 262144  # of an input: the largest of fuzz.cmake
MODEL_ENTRY = b"\4"  # what follows is the models/model.json of a sound archive (pt2_fuzz.cpp)


class Seeds:
    def __init__(self, folder):
        self.folder, self.count = folder, 0

    def put(self, target, name, data):
        if len(data) > MOST_BYTES:
            return
        folder = self.folder / target
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
        self.count += 1

    def file(self, name, data):
        path = pathlib.Path(name)
        target = TARGET_OF.get(path.suffix)
        if not target:
            return
        self.put(target, name, PREFIX.get(target, b"") + data)
        if target == "pt2":
            self.put_model(name, data)

    def put_model(self, name, data):
        """The program of an archive by itself: a change of one byte leaves it a sound archive."""
        path = self.folder / "model.zip"
        path.write_bytes(data)
        try:
            with zipfile.ZipFile(path) as archive:
                for entry in archive.namelist():
                    if entry.endswith("models/model.json"):
                        self.put("pt2", f"{name}.json", MODEL_ENTRY + archive.read(entry))
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, zlib.error):
            pass  # a damaged archive, which is a seed itself
        path.unlink()

    def traces(self, name, files):
        """A trace with each record that lies beside it: etdump_fuzz.cpp."""
        for trace, record in itertools.product(*([f for f in files if f[0].endswith(e)] for e in (".etdp", ".etrecord"))):
            self.put("etdump", f"{name}.{trace[0]}.{record[0]}", trace[1] + record[1])

    def compile(self, name, graph):
        """Usual options, and rare ones: a target, flags, which of them (compile_and_run.h), then bytes for the samples."""
        choice = zlib.crc32(name.encode())
        for target, flags, rare in ((choice % 6, choice >> 8 & 63, 0), (choice % 6, 64 | choice >> 8 & 32, choice >> 16)):
            samples = bytes(((choice >> k & 31) * 8 + k) % 256 for k in range(24))
            self.put("compile", f"{name}.{flags}", graph + b"\n---\n" + bytes([target, flags, rare % 8, 2]) + samples)

    def golden(self, golden):
        for number, (lowered, outputs) in enumerate(re.findall(r'(^graph ".*?)((?:^output .*\n)+)', golden.expected, re.M | re.S)):
            self.put("text", f"{golden.path.stem}.{number}.printed", (lowered + outputs).encode())
        self.traces(golden.path.stem, list(golden.files()))
        for number, (name, data) in enumerate(golden.files()):
            if number == 0:
                graph = b"".join(line for line in data.splitlines(True) if not line.startswith(b"#"))
                if graph.strip():  # or the model is a section
                    self.put("text", name, graph)
                    self.compile(name, graph)
            else:
                self.file(f"{golden.path.stem}.{name}", data)


def onnx_node_tests():
    """(name, bytes) of ONNX's tests of its operators: as they are, and with all inputs but the first known, as models have sizes and weights."""
    try:
        from onnx import numpy_helper
        from onnx.backend.test.case.node import collect_testcases
    except ModuleNotFoundError:
        return print("no package onnx (./dev test installs it): the tests of its operators are left out")
    for case in collect_testcases(None):
        if not case.model:
            continue
        yield case.name, case.model.SerializeToString()
        graph, data = case.model.graph, case.data_sets[0][0] if case.data_sets else []
        if 1 < len(graph.input) == len(data) and all(hasattr(d, "dtype") for d in data[1:]):
            graph.initializer.extend(numpy_helper.from_array(d, i.name) for d, i in zip(data[1:], graph.input[1:]))
            del graph.input[1:]
            yield case.name + ".known", case.model.SerializeToString()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    seeds = Seeds(pathlib.Path(sys.argv[1]))
    for path in sorted(FOLDER.glob("*.txt")):
        if path != NOT_REACHED:
            seeds.golden(Golden(path))
    for folder in (TESTS / "carried", TESTS / "traces", TESTS.parent / "models", TESTS.parent / "targets"):
        for path in sorted(p for p in folder.rglob("*") if p.suffix in TARGET_OF):
            seeds.file("_".join(path.relative_to(folder).parts), path.read_bytes())
    for path in sorted((TESTS.parent.parent / "shared" / "fixtures" / "ops").glob("*.pt2")):
        seeds.file(path.name, path.read_bytes())
    stock = TESTS / "traces"
    seeds.traces("stock", [(p.name, p.read_bytes()) for p in stock.glob("stock.*")])
    for name, text in torch_models.models(TORCH_EXAMPLES.read_text()):
        seeds.put("pt2", name, PREFIX["pt2"] + pt2_text.archive(text))
    input_seeds.write(seeds)
    for name, model in tflite_models.models():
        seeds.file(name + ".tflite", model)
        seeds.put("neutron_ir", name, model)
    for name in ("cortex-m55", "cortex-m7+int8", "cortex-m0plus", "base-mve", "cortex-m56", "imxrt"):
        seeds.put("target", name, name.encode())
    for name, model in onnx_node_tests():
        seeds.file(name + ".onnx", model)
    print(f"{seeds.count} first inputs")


main()
