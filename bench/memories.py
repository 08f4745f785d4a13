# SPDX-License-Identifier: Apache-2.0
"""Where the reference models lie on boards with several memories, and what that is worth. Prints its table for docs/results.md.

    python3 bench/memories.py [build/deuteron] [../shared]

int8 inputs and outputs. The boards are bench/boards/*.toml; their speeds are assumptions, whose source they say. Waiting is in cycles of an
inference by the model of docs/memory-planner.md. The bits of every placed program are compared with those of the program in one memory.
A placing that is not proved least is marked with `!`, and the exit code is then 1.
"""
import json
import pathlib
import sys
import tempfile

import least_ram
import spine

MODELS = ("dscnn_kws", "resnet8", "mobilenet_v1_025_vww", "cifarnet", "mobilenet_v2", "mobilenet_v3_small")
BOARDS = sorted((pathlib.Path(__file__).parent / "boards").glob("*.toml"))


def compiled(name, target, where):
    program, report = where / f"{pathlib.Path(target).stem}.pte", where / "report.json"
    folder = spine.MODELS / name
    spine.tool("compile", folder / "float.pt2", "--target", target, "--io", "int8", "--calibrate", folder / "inputs", "-o", program, "--json",
               report)
    return program, json.loads(report.read_text())


def output(program, x, where):
    spine.tool("run", program, "--input", x, "--output-dir", where / "out")
    return (where / "out" / "output0.npy").read_bytes()


def measure(name, board, where):
    x = least_ram.random_input(name, where)
    plain, _ = compiled(name, "cortex-m7", where)
    program, report = compiled(name, board, where)
    p = report["memory_placement"]
    same = output(plain, x, where) == output(program, x, where)
    used = ", ".join(f"{m['name']} {m['used']}" for m in p["memories"] if m["used"])
    greedy = "no room" if p["greedy_cycles"] is None else f"{p['greedy_cycles']}"
    return {
        "model": name,
        "board": board.stem,
        "bytes": used,
        "waiting": spine.bar(f"{p['cycles']}", p["optimal"]),
        "greedy": greedy,
        "slowest": f"{p['slowest_cycles']}",
        "proved": "least" if p["optimal"] else f"at least {p['bound']}",
        "bits": spine.bar("the same" if same else "others", same),
    }


def main():
    if not spine.MODELS.is_dir():
        sys.exit(f"{spine.MODELS} is not there: the reference models are needed")
    with tempfile.TemporaryDirectory() as folder:
        spine.table([measure(name, board, pathlib.Path(folder)) for board in BOARDS for name in MODELS])
    print(f"{spine.missed} bars missed (marked with !)")
    return 1 if spine.missed else 0


if __name__ == "__main__":
    sys.exit(main())
