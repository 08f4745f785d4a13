# SPDX-License-Identifier: Apache-2.0
"""What is in the programs of every fixture model, for every kind of target.

    neutron_programs.py DEUTERON SHARED

No file calls `quantized_decomposed::*`. For imxrt700cm: the share of multiply-adds on the NPU, 100 % for the convolutional models, and every operator that is
left with its reason; of digits_bmm, a transformer, 98 % on imxrt700 too, float and quantized; transposes at run time, none for the convolutional models, and one where the user wants another order of an input. The float models, but for the two
large ones, give the same bits on an emulated Cortex-M33."""
import collections
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOOL, MODELS = sys.argv[1], pathlib.Path(sys.argv[2]) / "fixtures" / "models"
TARGETS = ["imxrt700cm", "imxrt700", "cortex-m33", "cortex-m55", "cortex-m3"]
ATTENTION, LEAST_OF_ATTENTION = ["digits_bmm"], 98.0
CONVOLUTIONAL = ["resnet8", "dscnn_kws", "mobilenet_v1_025_vww", "cifarnet", "digits_cnn", "mobilenet_v2", "mobilenet_v3_small"]
if not MODELS.is_dir():
    print(f"left out: there is no {MODELS}")
    sys.exit(77)
wrong = []


def run(*arguments):
    return subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600)


def transposes(program, where):
    run("inspect", program, "--json", where / "i.json")
    text = (where / "i.json").read_text()
    return {n: text.count(f'"{n}') for n in ("cortex_m::transpose", "TransposeCHW", "aten::permute") if f'"{n}' in text}


def same_on_board(name, sample, where):
    outputs = []
    for on in ("host", "qemu:mps2-an505"):
        run("run", where / "m.pte", "--input", sample, "--output-dir", where / "out", "--on", on)
        outputs.append([f.read_bytes() for f in sorted((where / "out").glob("*.npy"))])
        shutil.rmtree(where / "out", ignore_errors=True)
    if not outputs[0] or outputs[0] != outputs[1]:
        wrong.append(f"{name}: other bits on the emulated Cortex-M33")
    return "; the same bits on an emulated Cortex-M33"


def try_model(job):
    model, target = job
    name = f"{model.parent.name}/{model.name}"
    large = model.parent.name.startswith("mobilenet_v") and "vww" not in model.parent.name
    quick = ["--observer", "minmax"]
    calibrate = ["--calibrate", model.parent / "inputs" / "000.bin"] + (quick if large else [])
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        where = pathlib.Path(folder)
        done = run("compile", model, "--target", target, *calibrate, "-o", where / "m.pte", "--json", where / "r.json")
        if done.returncode:
            if target != "imxrt700" or done.returncode != 1 or model.parent.name in ATTENTION:
                wrong.append(f"{name} for {target}: {done.stderr[:300]}")
            return [f"{name} for {target}: refused"]
        if b"quantized_decomposed" in (where / "m.pte").read_bytes():
            wrong.append(f"{name} for {target}: calls quantized_decomposed")
        report = json.loads((where / "r.json").read_text())
        share = 100 * report.get("npu_macs", 0) / report["macs"] if report["macs"] else 0
        if model.parent.name in ATTENTION and target.startswith("imxrt700") and share < LEAST_OF_ATTENTION:
            wrong.append(f"{name} for {target}: {share:.1f} % of the multiply-adds on the NPU")
        if target != "imxrt700cm":
            return []
        moved = transposes(where / "m.pte", where)
        lines.append(f"{name}: {share:.1f} % of {report['macs']} multiply-adds on the NPU, {report['npu_delegates']} delegates, transposes {moved or 'none'}")
        left = collections.Counter((o["op"], o["reason"]) for o in report["operators"] if o["placement"] != "npu")
        lines += [f"    {count} x {op}: {reason}" for (op, reason), count in sorted(left.items())]
        for (op, reason) in left:
            if not reason:
                wrong.append(f"{name}: {op} is left without a reason")
        if model.name == "float.pt2" and not large:
            lines[0] += same_on_board(name, model.parent / "inputs" / "000.bin", where)
        if model.parent.name in CONVOLUTIONAL:
            if report["npu_macs"] != report["macs"]:
                wrong.append(f"{name}: {share:.1f} % on the NPU")
            if moved:
                wrong.append(f"{name}: transposes at run time: {moved}")
            run("compile", model, "--target", target, *calibrate, "-o", where / "c.pte", "--io", "contiguous")
            wanted = sum(transposes(where / "c.pte", where).values())
            if wanted > 1:
                wrong.append(f"{name}: {wanted} transposes for a contiguous input")
            lines[0] += f"; for a contiguous input {wanted}"
    return lines


jobs = [(m, t) for m in sorted(MODELS.glob("*/*.pt2")) for t in TARGETS]
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    results = list(pool.map(try_model, jobs))
for lines in results:
    for line in lines:
        print(line)
for problem in wrong:
    print(f"WRONG {problem}")
print(f"{len(jobs)} compilations: {len(wrong)} wrong")
sys.exit(1 if wrong else 0)
