# SPDX-License-Identifier: Apache-2.0
"""Every partition of the fixtures' models and operators as Neutron IR: in the TFLite interpreter with reference kernels, and on the machine model.

    neutron_partitions.py DEUTERON NEUTRON_RUNNER SHARED [NAME...]

The networks that must be one partition are, with no more kernels than the vendor's converter needs. partition_check.py says what is
compared and how."""
import json
import subprocess
import sys
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from partition_check import Differs, check_partition

# Kernels that the vendor's converter needs, from ExecuTorch's tests; its networks have no softmax, ours do.
ONE_PARTITION = {"cifarnet": None, "resnet8": 17, "dscnn_kws": 12, "mobilenet_v1_025_vww": 29, "autoencoder_ad": 10, "mobilenet_v2": None}


def compile_model(tool, model, samples, folder, extra=()):
    command = [tool, "compile", str(model), "--target", "imxrt700cm", "--prefer", "npu", "--intermediates", str(folder), "-o", str(folder / "m.pte"), "--json", str(folder / "r.json"), *extra]
    for s in samples:
        command += ["--calibrate", str(s)]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode == 0, done.stderr


def check_model(name, report, problems):
    limit = ONE_PARTITION[name]
    npu = [o for o in report["operators"] if o["placement"] == "npu"]
    rest = [o["op"] for o in report["operators"] if o["placement"] != "npu"]
    softmaxes = sum(o["op"] == "neutron::Softmax" for o in npu)
    if report["npu_delegates"] != 1:
        problems.append(f"{name}: {report['npu_delegates']} partitions")
    if set(rest) - {"cortex_m::quantize_per_tensor", "cortex_m::dequantize_per_tensor"}:
        problems.append(f"{name}: on the CPU: {rest}")
    moves = [o["op"] for o in npu if o["op"].split("::")[1] in ("TransposeCHW", "Pad", "Slice", "StridedSliceConcat", "MemCpy")]
    if moves:
        problems.append(f"{name}: added {moves}")
    if limit and len(npu) - softmaxes > limit:
        problems.append(f"{name}: {len(npu)} kernels, {softmaxes} of them softmax; the vendor's converter needs {limit}")
    return f"{name:24s} {len(npu)} kernels, {report['npu_cycles']} cycles, {100 * report['npu_macs'] / 64 / max(1, report['npu_cycles']):.1f} % of 64 multiply-adds a cycle"


def main():
    tool, runner, shared = sys.argv[1], sys.argv[2], Path(sys.argv[3]) / "fixtures"
    if not shared.is_dir():
        print(f"left out: there is no {shared}")
        return 77
    cases = []  # name, model, samples
    for name in sorted(p.name for p in (shared / "models").iterdir() if p.is_dir()):
        folder = shared / "models" / name
        samples = [folder / "inputs"]
        for kind in ("qdq", "float"):
            if (folder / f"{kind}.pt2").exists():
                cases.append((f"{name}" if kind == "qdq" or not (folder / "qdq.pt2").exists() else f"{name}.float", folder / f"{kind}.pt2", samples if kind == "float" else []))
    for case in json.loads((shared / "ops" / "ops.json").read_text()):
        cases.append((f"op.{case['name']}", shared / "ops" / case["file"], [shared / "ops" / i["file"] for i in case["inputs"]]))
    wanted = sys.argv[4:]
    if wanted:
        cases = [c for c in cases if c[0] in wanted]
    problems, refused, partitions, lines = [], 0, 0, []
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        parts = scratch / "parts"
        parts.mkdir()

        def one(case):
            name, model, samples = case
            folder = scratch / name
            folder.mkdir()
            return name, folder, compile_model(tool, model, samples, folder)

        with ThreadPoolExecutor(2) as pool:
            for name, folder, (ok, error) in pool.map(one, cases):
                if not ok:
                    refused += 1
                    if not name.startswith("op."):
                        lines.append(f"{name}: refused: {error.splitlines()[0] if error else ''}")
                    continue
                report = json.loads((folder / "r.json").read_text())
                if name in ONE_PARTITION:
                    lines.append(check_model(name, report, problems))
                for ir in sorted(folder.glob("neutron*.ir.tflite")):
                    (parts / f"{name}.{ir.name.split('.')[0]}.tflite").write_bytes(ir.read_bytes())
                    partitions += 1
        approximated = []

        def checked(model):
            try:
                return check_partition(runner, model, np.random.default_rng(zlib.crc32(model.stem.encode())))
            except Differs as d:
                return d

        models = sorted(parts.glob("*.tflite"))
        with ThreadPoolExecutor(2) as pool:
            for model, found in zip(models, pool.map(checked, models)):
                if isinstance(found, Differs):
                    problems.append(f"{model.stem}: {found}")
                elif found:
                    approximated.append(f"{model.stem} ({', '.join(f'{c} {n}' for n, c in sorted(found.items()))})")
    print("\n".join(lines))
    print("with operators that TFLite approximates, each within a step: " + ", ".join(approximated))
    print(f"{partitions} partitions, {len(problems)} wrong, {refused} models refused")
    for p in problems:
        print("WRONG", p)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
