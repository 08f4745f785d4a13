# SPDX-License-Identifier: Apache-2.0
"""Programs of --precision mixed give the same bits on the host, on every emulated board and as C: kernels of each instruction set at both sides
of the borders between int8 and int16.

    mixed_boards.py DEUTERON SOURCE_DIR

The model is one that the repository carries. --strict keeps its softmax off float, whose last bit is the C library's. Standard library only."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import checks
from checks import check

TOOL, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
sys.path.insert(0, str(SOURCE))
from boards.boards import emulated_boards

MODEL, SAMPLES = SOURCE / "models" / "digits_cnn" / "float.pt2", SOURCE / "models" / "digits_cnn" / "calibrate.npy"
where = pathlib.Path(tempfile.mkdtemp(prefix="deuteron_mixed_"))


def tool(*command):
    done = subprocess.run([str(c) for c in (TOOL, *command)], capture_output=True, text=True, timeout=600)
    return check(done.returncode == 0, f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def outputs(folder):
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def first_sample(path):
    """The first of the samples, as a file of its own."""
    data = SAMPLES.read_bytes()
    length = int.from_bytes(data[8:10], "little") + 10
    header = data[10:length].decode()
    shape = tuple(int(n) for n in header[header.index("(") + 1:header.index(")")].split(",") if n.strip())
    elements = 1
    for extent in shape[1:]:
        elements *= extent
    own = header.replace(header[header.index("("):header.index(")") + 1], str((1, *shape[1:]))).rstrip("\n ")
    own = own + " " * (len(header) - 1 - len(own)) + "\n"
    path.write_bytes(data[:8] + len(own).to_bytes(2, "little") + own.encode() + data[length:length + 4 * elements])


MAIN = """#include <stdio.h>
#include "mixed.h"
_Alignas(16) static uint8_t arena[MIXED_ARENA_BYTES];
int main(void) {
  float in[MIXED_INPUT0_ELEMENTS], out[MIXED_OUTPUT0_ELEMENTS];
  if (fread(in, 1, sizeof in, stdin) != sizeof in) return 2;
  const struct mixed_inputs given = {.input0 = in};
  const struct mixed_outputs taken = {.output0 = out};
  if (mixed_run(arena, &given, &taken)) return 3;
  return fwrite(out, 1, sizeof out, stdout) == sizeof out ? 0 : 4;
}
"""


def payload(npy):
    return npy[10 + int.from_bytes(npy[8:10], "little"):]


def result_of_c(folder, given):
    """What the program gives as C on this computer."""
    (folder / "main.c").write_text(MAIN)
    built = subprocess.run(["sh", "-c", "gcc -std=c11 -O1 -I. -c *.c && g++ -std=c++17 -O1 -ffp-contract=off -I. -Ideuteron "
                            "$(find . -name '*.cpp') *.o -o main"], cwd=folder, capture_output=True, text=True, timeout=600)
    if not check(built.returncode == 0, f"C of the program: {built.stderr[-2000:]}"):
        return b""
    return subprocess.run([folder / "main"], input=given, capture_output=True, timeout=60).stdout


sample = where / "x.npy"
first_sample(sample)
for target in sorted({board.target for board in emulated_boards()}):
    program, facts = where / f"{target}.pte", where / f"{target}.json"
    if not tool("compile", MODEL, "--target", target, "--calibrate", SAMPLES, "--precision", "mixed:cost=25%", "--strict", "-o", program,
                "--json", facts):
        continue
    precision = json.loads(facts.read_text())["precision"]
    int8, chosen = precision["curve"][0], precision["chosen"]
    everything = precision["int16_everywhere"]["int16_layers"]
    check(0 < len(chosen["int16_layers"]) < len(everything), f"{target}: some layers are int16, and some are not: {chosen['int16_layers']}")
    check(chosen["instructions"] <= 1.25 * int8["instructions"], f"{target}: {chosen['instructions']} instructions, int8 has {int8['instructions']}")
    check(chosen["compared_db"] > int8["compared_db"], f"{target}: {chosen['compared_db']} dB, int8 has {int8['compared_db']}")
    check(re.search(rb"deuteron::requantize_s|_s8_s16\0", program.read_bytes()), f"{target}: int8 and int16 meet in the program")
    if not tool("run", program, "--input", sample, "--output-dir", where / f"{target}.host"):
        continue
    for board in emulated_boards():
        if board.target != target:
            continue
        there = where / f"{target}.{board.name}"
        if tool("run", program, "--input", sample, "--output-dir", there, "--on", f"qemu:{board.name}"):
            check(outputs(there) == outputs(where / f"{target}.host"), f"{board.name} gives the bits of the host")
if tool("compile", MODEL, "--target", "cortex-m55", "--calibrate", SAMPLES, "--precision", "mixed:cost=25%", "--strict", "--emit", "c,host",
        "--name", "mixed", "-o", where / "c"):
    kernels = (where / "c" / "deuteron_kernels.h").read_text() + (where / "c" / "mixed.c").read_text()
    check("requantize_s" in kernels, "the C of the program calls a kernel between int8 and int16")
    expected = outputs(where / "cortex-m55.host")
    check([result_of_c(where / "c", payload(sample.read_bytes()))] == [payload(data) for data in expected.values()], "C gives the bits of the host")
print(checks.verdict())
if not checks.failed:
    shutil.rmtree(where)
sys.exit(1 if checks.failed else 0)
