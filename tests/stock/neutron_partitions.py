"""Every partition of the fixtures' models and operators as Neutron IR: in the TFLite interpreter with reference kernels, and on the machine model.

    neutron_partitions.py DEUTERON NEUTRON_RUNNER SHARED [NAME...]

The networks that must be one partition are, with no more kernels than the vendor's converter needs. Inputs are random; results are the same bits, but for
the functions that TFLite computes in another way (neutron_models.py says which): there, one step."""
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from neutron_models import TABLES
from tflite_models import interpret, schema

# Kernels that the vendor's converter needs, from ExecuTorch's tests; its networks have no softmax, ours do.
ONE_PARTITION = {"cifarnet": None, "resnet8": 17, "dscnn_kws": 12, "mobilenet_v1_025_vww": 29, "autoencoder_ad": 10, "mobilenet_v2": None}
LOOSE = set(TABLES) | {"SUM", "PRELU", "RESIZE_BILINEAR"}


def compile_model(tool, model, samples, folder, extra=()):
    command = [tool, "compile", str(model), "--target", "imxrt700cm", "--intermediates", str(folder), "-o", str(folder / "m.pte"), "--json", str(folder / "r.json"), *extra]
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
        print("left out: ../shared/fixtures is not there")
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
        random = np.random.default_rng(7)
        inputs = {}
        for model in sorted(parts.glob("*.tflite")):
            inputs[model.stem] = interpret_inputs(model, random, parts)
        done = subprocess.run([runner, str(parts)], capture_output=True, text=True)
        if done.returncode != 0:
            problems.append("neutron_runner: " + done.stdout[-2000:] + done.stderr[-500:])
        off = {}
        for model in sorted(parts.glob("*.tflite")):
            builtins = operators_of(model.read_bytes())
            # Reference kernels, but for SUM: that of ai-edge-litert 2.3.0 gives numbers that are no sums, the other one is right.
            expected = interpret(model.read_bytes(), inputs[model.stem], "SUM" not in builtins)
            loose = builtins & LOOSE
            for k, want in enumerate(expected):
                path = parts / f"{model.stem}.plain.out{k}"
                if not path.exists():
                    problems.append(f"{model.stem}: no result")
                    continue
                got = np.fromfile(path, np.int8).reshape(want.shape)
                difference = np.abs(got.astype(int) - want.astype(int))
                if difference.max(initial=0) == 0:
                    continue
                if not loose:
                    problems.append(f"{model.stem}: output {k} differs by {difference.max()} in {np.count_nonzero(difference)} of {difference.size}: {sorted(builtins)}")
                else:
                    off[model.stem] = (int(difference.max()), int(np.count_nonzero(difference)), int(difference.size), sorted(loose))
        for name, (most, count, size, why) in sorted(off.items()):
            lines.append(f"{name}: {count} of {size} elements differ, by {most} at most: {', '.join(why)}")
            if most > 1 and len(why) == 1 and len(operators_of((parts / f"{name}.tflite").read_bytes())) == 1:
                problems.append(f"{name}: {why} alone differs by {most}")
    print("\n".join(lines))
    print(f"{partitions} partitions, {partitions - len(off)} bit for bit, {refused} models refused")
    for p in problems:
        print("WRONG", p)
    return 1 if problems else 0


def operators_of(model):
    """Names of the builtins of a model."""
    m = schema.ModelT.InitFromPackedBuf(model, 0)
    names = {v: k for k, v in vars(schema.BuiltinOperator).items() if not k.startswith("_")}
    return {names[m.operatorCodes[o.opcodeIndex].builtinCode] for o in m.subgraphs[0].operators}


def interpret_inputs(model, random, parts):
    m = schema.ModelT.InitFromPackedBuf(model.read_bytes(), 0)
    g = m.subgraphs[0]
    arrays = []
    for k, shape in enumerate([list(g.tensors[t].shape) for t in g.inputs]):
        a = random.integers(-128, 128, shape).astype(np.int8)
        a.tofile(parts / f"{model.stem}.in{k}")
        arrays.append(a)
    return arrays


if __name__ == "__main__":
    sys.exit(main())
