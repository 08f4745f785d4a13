# SPDX-License-Identifier: Apache-2.0
"""How little planned RAM `--max-ram least` reaches, and what it costs. Prints its table for docs/results.md.

    python3 bench/least_ram.py [build/deuteron] [../shared]

int8 inputs and outputs, cortex-m55. The bits of every program with bands are compared with those of the program without,
on the host and on an emulated board. A bar that does not hold is marked with `!`, and the exit code is then 1.
"""
import json
import pathlib
import sys
import tempfile

import spine

# name: limit of planned RAM in bytes
BARS = {"dscnn_kws": 12_500, "mobilenet_v1_025_vww": 34_000, "resnet8": 30_000, "mobilenet_v2": 262_144, "cifarnet": None,
        "mobilenet_v3_small": None}
MOST_ADDED = 0.10  # of the multiply-adds
BOARD = next(name for name, core in spine.BOARDS.items() if core == "cortex-m55")


def compiled(name, where, *options):
    program, report = where / "program.pte", where / "report.json"
    folder = spine.MODELS / name
    spine.tool("compile", folder / "float.pt2", "--target", "cortex-m55", "--io", "int8", "--calibrate", folder / "inputs", "-o", program,
               "--json", report, *options)
    return program, json.loads(report.read_text())


def random_input(name, where):
    shape = [2, *spine.input_shape(name)[1:]]
    return spine.random_steps(where / "x.npy", shape, name)


def results(program, x, where):
    """Bytes of the outputs on the host and on the board, and the board's instructions."""
    everything, run = [], {}
    for place, options in (("host", ()), ("board", ("--on", f"qemu:{BOARD}"))):
        spine.tool("run", program, "--input", x, "--output-dir", where / place, "--json", where / "run.json", *options)
        everything.append((where / place / "output0.npy").read_bytes())
        run = json.loads((where / "run.json").read_text())
    return everything, run["instructions"]


def measure(name, where):
    x = random_input(name, where)
    program, before = compiled(name, where)
    plain, instructions = results(program, x, where)
    program, after = compiled(name, where, "--max-ram", "least")
    banded, more_instructions = results(program, x, where)
    split = after["row_split"] or {"operators": 0, "bands": 1, "extra_calls": 0, "extra_macs": 0}
    added = split["extra_macs"] / before["macs"]
    limit = BARS[name]
    same = plain[0] == plain[1] == banded[0] == banded[1]
    return {
        "model": name,
        "RAM": before["ram_bytes"],
        "least (limit)": spine.bar(f"{after['ram_bytes']}" + (f" ({limit})" if limit else ""), limit is None or after["ram_bytes"] <= limit),
        "calls": f"{len(before['operators'])} to {len(after['operators'])}",
        "multiply-adds": spine.bar(f"+ {100 * added:.1f} %", added <= MOST_ADDED),
        "instructions": f"+ {100 * (more_instructions / instructions - 1):.1f} %",
        "bits": spine.bar("the same" if same else "others", same),
    }


def main():
    if not spine.MODELS.is_dir():
        sys.exit(f"{spine.MODELS} is not there: the reference models are needed")
    with tempfile.TemporaryDirectory() as folder:
        spine.table([measure(name, pathlib.Path(folder)) for name in BARS])
    print(f"{spine.missed} bars missed (marked with !)")
    return 1 if spine.missed else 0


if __name__ == "__main__":
    sys.exit(main())
