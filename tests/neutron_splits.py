"""resnet8 divided between NPU and CPU in every way: each operator kept off the NPU in turn, and 50 seeded random subsets.

    neutron_splits.py DEUTERON SHARED

From the quantized graph the results are the same bits wherever the border lies; six of the ways also run on an emulated Cortex-M33."""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

SUBSETS = 50
TOOL, SHARED = sys.argv[1], pathlib.Path(sys.argv[2]) / "fixtures" / "models" / "resnet8"
if not SHARED.is_dir():
    print("left out: ../shared/fixtures is not there")
    sys.exit(77)


def tool(*arguments):
    done = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, arguments))}: {done.stderr[:1000]}")


def compiled(excluded, where):
    tool("compile", SHARED / "qdq.pt2", "--target", "imxrt700cm", *[a for name in excluded for a in ("--neutron-exclude", name)], "-o", where / "m.pte", "--json", where / "r.json")
    return json.loads((where / "r.json").read_text())


def results(where, *options):
    tool("run", where / "m.pte", "--input", SHARED / "inputs" / "000.bin", "--output-dir", where / "out", *options)
    return (where / "out" / "output0.npy").read_bytes()


with tempfile.TemporaryDirectory() as folder:
    where = pathlib.Path(folder)
    whole = compiled([], where)
    expected = results(where)
    operators = sorted({source.split(" (")[0] for o in whole["operators"] for source in o["source"].split(", ") if "(aten." in source})
    seeded = random.Random(11)
    ways = [[name] for name in operators] + [[name for name in operators if seeded.random() < seeded.choice([0.1, 0.3, 0.6])] for _ in range(SUBSETS)]
    wrong, most, on_board = 0, 0, 0
    for k, excluded in enumerate(ways):
        report = compiled(excluded, where)
        most = max(most, report["npu_delegates"])
        kept = {source.split(" (")[0] for o in report["operators"] if o["placement"] == "npu" for source in o["source"].split(", ")}
        if kept & set(excluded):
            wrong += 1
            print(f"WRONG on the NPU although excluded: {sorted(kept & set(excluded))}")
        if results(where) != expected:
            wrong += 1
            print(f"WRONG other bits without {excluded}")
        if k % 13 == 5:
            on_board += 1
            if results(where, "--on", "qemu:mps2-an505") != expected:
                wrong += 1
                print(f"WRONG other bits on the board without {excluded}")
print(f"{len(ways)} ways to divide {len(operators)} operators, up to {most} delegates, {on_board} also on an emulated Cortex-M33: {wrong} wrong")
sys.exit(1 if wrong or len(operators) < 20 or most < 5 else 0)
