# SPDX-License-Identifier: Apache-2.0
"""Programs with a Neutron delegate in our runtime and in the stock one: same bits.

    neutron.py DEUTERON PTE_SEEDS SHARED STOCK_RUNNER [UPSTREAM_RUNNER]

UPSTREAM_RUNNER has ExecuTorch's own NeutronBackend.cpp instead of ours (cmake -DEXECUTORCH_CHECKOUT=DIR). All run on the open machine model.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import checks
from checks import check

tool, seeds, shared, *runners = sys.argv[1:]


def call(*arguments):
    result = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
    if result.returncode:
        print(" ".join(str(a) for a in arguments), "->", result.returncode, result.stdout[-2000:], result.stderr[-2000:])
    return result.returncode == 0


with tempfile.TemporaryDirectory() as scratch:
    where = pathlib.Path(scratch)
    check(call(seeds, where), "the programs are written")
    rng = np.random.default_rng(1)
    for name in ["neutron", "neutron_plain"]:
        for sample in range(5):
            x = rng.integers(-128, 128, (1, 3, 4, 2), dtype=np.int8)
            np.save(where / "x.npy", x)
            x.tofile(where / "x.bin")
            if not check(call(tool, "run", where / f"{name}.pte", "--input", where / "x.npy", "--output-dir", where / "ours"), name):
                continue
            expected = [np.transpose(np.load(where / "ours/output0.npy"), (0, 2, 3, 1)), np.load(where / "ours/output1.npy")]
            for runner in runners:
                if not check(call(runner, where / f"{name}.pte", where / "stock", where / "x.bin"), f"{name} in {runner}"):
                    continue
                for k in range(2):
                    check(np.fromfile(where / f"stock{k}.bin", np.int8).tobytes() == expected[k].tobytes(), f"{name}, output {k} in {runner}")
    # What the compiler makes: networks wholly and partly on the NPU.
    models = pathlib.Path(shared) / "fixtures" / "models"
    if not models.is_dir():
        print(f"left out: there is no {models}")
        sys.exit(1 if checks.failed else 77)
    QUICK = ["--observer", "minmax"]
    # (file, options, ways to divide it by operators that stay off the NPU)
    NETWORKS = {"cifarnet": ("qdq.pt2", [], 0), "dscnn_kws": ("qdq.pt2", [], 0), "autoencoder_ad": ("qdq.pt2", [], 0), "resnet8": ("qdq.pt2", [], 10),
                "digits_cnn": ("qdq.pt2", [], 10), "digits_bmm": ("qdq.pt2", [], 10), "mnist_lstm": ("qdq.pt2", ["--calibrate"], 3),
                "mobilenet_v3_small": ("float.pt2", [*QUICK, "--calibrate"], 3)}
    for name in checks.those_there(models, list(NETWORKS)):
        file, options, divisions = NETWORKS[name]
        sample = models / name / "inputs" / "000.bin"
        shape = json.loads((models / name / "model.json").read_text())["inputs"][0]["shape"]
        x = np.fromfile(sample, "<f4").reshape(shape)
        (np.transpose(x, (0, 2, 3, 1)) if x.ndim == 4 else x).tofile(where / "x.bin")
        options = [*options, sample] if options else []
        ways = [[], ["--profile"]] + ([["--layer", "linear=cpu"]] if name != "mobilenet_v3_small" else [])
        seeded = random.Random(3)
        operators = []
        while ways:
            extra = ways.pop(0)
            what = f"{name} {extra}"
            if not check(call(tool, "compile", models / name / file, "--target", "imxrt700cm", *options, *extra, "-o", where / "m.pte", "--json", where / "r.json"), what):
                continue
            if not operators and not extra:
                report = json.loads((where / "r.json").read_text())
                operators = sorted({s.split(" (")[0] for o in report["operators"] for s in o["source"].split(", ") if "(aten." in s})
                for _ in range(divisions):
                    ways.append([a for n in operators if seeded.random() < 0.4 for a in ("--layer", f"{n}=cpu")])
            check(call(tool, "run", where / "m.pte", "--input", sample, "--output-dir", where / "ours"), what)
            expected = np.load(where / "ours" / "output0.npy")
            for runner in runners:
                if check(call(runner, where / "m.pte", where / "stock", where / "x.bin"), f"{what} in {runner}"):
                    check(np.fromfile(where / "stock0.bin", np.float32).tobytes() == expected.tobytes(), f"{what}: the bits in {runner}")
    # Transposes at the border, by kernels of the NPU and at the flags of the payload: both runtimes obey them.
    operators = models.parents[0] / "ops"
    TURNED = {"resnet8": (models / "resnet8" / "qdq.pt2", models / "resnet8" / "inputs" / "000.bin"),
              "conv2d_k1": (operators / "qdq" / "conv2d_k1.pt2", operators / "conv2d_k1.in0.bin"),
              "conv2d_batch2": (operators / "qdq" / "conv2d_batch2.pt2", operators / "conv2d_batch2.in0.bin")}
    for name, (model, sample) in TURNED.items():
        for by in ["npu", "cpu", "auto"]:
            what = f"{name} in the user's order, transposed by {by}"
            way = [] if by == "auto" else ["--neutron-option", f"use_neutron_for_format_conversion={str(by == 'npu').lower()}"]
            check(call(tool, "compile", model, "--target", "imxrt700cm", "--io", "contiguous", *way, "-o", where / "m.pte", "--json", where / "r.json"), what)
            report = json.loads((where / "r.json").read_text())
            check((report["border_transposes"] > 0) == (by == "cpu" or by == "auto" and name != "resnet8"), f"{what}: {report['border_transposes']} at the border")
            check(call(tool, "run", where / "m.pte", "--input", sample, "--output-dir", where / "ours"), what)
            expected = np.load(where / "ours" / "output0.npy")
            for runner in runners:
                if check(call(runner, where / "m.pte", where / "stock", sample), f"{what} in {runner}"):
                    check(np.fromfile(where / "stock0.bin", np.float32).tobytes() == expected.tobytes(), f"{what}: the bits in {runner}")
print(f"{checks.verdict()}; runners: {len(runners)}")
sys.exit(checks.failed != 0)
