# SPDX-License-Identifier: Apache-2.0
"""Networks divided between NPU and CPU in every way: each operator kept off the NPU in turn, and seeded random subsets.

    neutron_splits.py DEUTERON SHARED [MODEL...]

From the quantized graph the results are the same bits wherever the border lies, on the host and (resnet8 in every second way, the others in some) on an
emulated Cortex-M33. How far they are
from the float model is in two parts: what the given parameters cost in exact arithmetic, which PT2E's own outputs show (expected_qdq), and what integers add to that, for
which each kernel and each value that is rounded to int8 may cost one step of the output's range / 255 (as tests/op_cases.py). The second part is no worst case: behind a
softmax near a tie a step can grow, on resnet8 to 40 steps on one of its 24 samples; here it is checked on the sample that is run. From the float graph, where what the NPU
refuses is quantized by the CPU's rules, the steps alone must do."""
import array
import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from checks import those_there

TOOL, MODELS = sys.argv[1], pathlib.Path(sys.argv[2]) / "fixtures" / "models"
SUBSETS, ON_BOARD = 30, 6
# model: (file, calibrated, every second way on the board, ways from the float graph, delegates that some way must have)
CASES = {
    "resnet8": ("qdq.pt2", False, True, 0, 5),
    "digits_cnn": ("qdq.pt2", False, False, 12, 4),
    "digits_bmm": ("qdq.pt2", False, False, 12, 12),
    "mnist_lstm": ("qdq.pt2", True, False, 4, 1),
    "mobilenet_v3_small": ("float.pt2", True, False, 0, 10),
}
if not MODELS.is_dir():
    print(f"left out: there is no {MODELS}")
    sys.exit(77)
wrong = []


def tool(*arguments):
    done = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, arguments))}: exit {done.returncode}: {done.stderr[-1000:]}")


def compiled(model, calibrate, excluded, where):
    exclude = [a for name in excluded for a in ("--layer", f"{name}=cpu")]
    tool("compile", model, "--target", "imxrt700cm", "--prefer", "npu", *calibrate, *exclude, "-o", where / "m.pte", "--json", where / "r.json")
    return json.loads((where / "r.json").read_text())


def results(sample, where, *options):
    tool("run", where / "m.pte", "--input", sample, "--output-dir", where / "out", *options)
    return [p.read_bytes() for p in sorted((where / "out").glob("*.npy"))]


def floats(npy):
    return array.array("f", npy[10 + int.from_bytes(npy[8:10], "little"):])


def steps_off(found, expected):
    """Of float32 values, in steps of the range of `expected`, the float model's."""
    wanted = array.array("f", expected)
    step = (max(max(wanted), 0.0) - min(min(wanted), 0.0)) / 255
    return max(abs(a - b) for a, b in zip(found, wanted)) / step


def names_of(report):
    return sorted({source.split(" (")[0] for o in report["operators"] for source in o["source"].split(", ") if "(aten." in source})


def on_npu(report):
    return {source.split(" (")[0] for o in report["operators"] if o["placement"] == "npu" for source in o["source"].split(", ")}


def bound(report):
    return len(report["operators"]) + len(report.get("quantization", []))


def divide(name):
    """One model in all its ways; a line of figures."""
    folder = MODELS / name
    file, calibrated, half_on_board, float_ways, least = CASES[name]
    sample, expected = folder / "inputs" / "000.bin", (folder / "expected" / "000.bin").read_bytes()
    with tempfile.TemporaryDirectory() as scratch:
        where = pathlib.Path(scratch)
        model, calibrate = folder / file, ["--calibrate", folder / "inputs"] if calibrated else []
        if file == "float.pt2":  # quantized here, once; large constants become seeded stand-ins, the same for every way
            quick = ["--calibrate", sample, "--observer", "minmax"]
            compiled(model, [*quick, "--intermediates", where / "passes"], [], where)
            model, calibrate = next((where / "passes").glob("*-quantize.txt")), []
        whole = compiled(model, calibrate, [], where)
        reference = results(sample, where)
        stood_in = file == "float.pt2"
        exact = 0.0 if stood_in else steps_off(array.array("f", (folder / "expected_qdq" / "000.bin").read_bytes()), expected)
        operators = names_of(whole)
        seeded = random.Random(11)
        ways = [[n] for n in operators] + [[n for n in operators if seeded.random() < seeded.choice([0.1, 0.3, 0.6])] for _ in range(SUBSETS)] + [operators]
        most, boards, worst, shares = 0, 0, 0.0, []
        for k, excluded in enumerate(ways):
            what = f"{name} without {excluded}"
            report = compiled(model, calibrate, excluded, where)
            most = max(most, report["npu_delegates"])
            shares.append(report["npu_macs"] / report["macs"])
            if on_npu(report) & set(excluded):
                wrong.append(f"{what}: on the NPU although excluded: {sorted(on_npu(report) & set(excluded))}")
            outputs = results(sample, where)
            if outputs != reference:
                wrong.append(f"{what}: other bits")
            if not stood_in:
                steps, allowed = steps_off(floats(outputs[0]), expected), exact + bound(report)
                worst = max(worst, steps / allowed)
                if steps > allowed:
                    wrong.append(f"{what}: {steps:.1f} steps from the float model, bound {allowed:.1f}")
            if k % (2 if half_on_board else len(ways) // ON_BOARD) == 1:
                boards += 1
                if results(sample, where, "--on", "qemu:mps2-an505") != reference:
                    wrong.append(f"{what}: other bits on the board")
        from_float = 0
        for k in range(float_ways):
            excluded = ways[(k * 7 + 3) % len(ways)]
            report = compiled(folder / "float.pt2", ["--calibrate", folder / "inputs"], excluded, where)
            from_float += 1
            steps = steps_off(floats(results(sample, where)[0]), expected)
            worst = max(worst, steps / bound(report))
            if steps > bound(report):
                wrong.append(f"{name} from float without {excluded}: {steps:.1f} steps from the float model, bound {bound(report)}")
        if most < least:
            wrong.append(f"{name}: at most {most} delegates, {least} expected")
        if stood_in and len(set(reference[0][128:])) < 20:
            wrong.append(f"{name}: an output that says nothing")
        line = (f"{name}: {len(ways)} ways to divide {len(operators)} operators, up to {most} delegates, NPU {100 * min(shares):.0f} to {100 * max(shares):.1f} % of the multiply-adds, "
                f"{boards} also on an emulated Cortex-M33, {from_float} from float")
        return line + (f"; at most {100 * worst:.0f} % of the bound" if worst else "")


with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for line in pool.map(divide, sys.argv[3:] or those_there(MODELS, list(CASES))):
        print(line)
for problem in wrong[:40]:
    print(f"WRONG {problem}")
print(f"divided networks: {len(wrong)} wrong")
sys.exit(1 if wrong else 0)
