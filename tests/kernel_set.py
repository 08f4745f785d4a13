# SPDX-License-Identifier: Apache-2.0
"""What all kernels of one instruction set take of flash, as the boards are built: C++ and assembly, linked or not. At most 40 KB for those
of int8 operators; those that only int16, four-bit weights and TFLite's own roundings need are counted apart.

    python3 tests/kernel_set.py [build]

Standard library only.
"""
import pathlib
import re
import shutil
import subprocess
import sys

BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build")
SETS = {"mve": "mps3-an547", "dsp": "mps2-an386", "scalar": "mps2-an385"}
MOST = 40 * 1024
# Objects by what they are for, of their paths; the rest is int8.
APART = {"int16": r"s16|16x8|/requantize/", "TFLite's roundings": r"shifts|linear/once|sequence_lstm", "four-bit weights": r"_w4/"}


def bytes_of(objects):
    rows = subprocess.run(["arm-none-eabi-size", *objects], capture_output=True, text=True, check=True).stdout.splitlines()[1:]
    return sum(int(row.split()[0]) + int(row.split()[1]) for row in rows)


def main():
    boards = BUILD / "boards"
    if not shutil.which("arm-none-eabi-size") or not all((boards / board / "kernels").is_dir() for board in SETS.values()):
        print("left out: the boards are not built")
        return 77
    wrong = 0
    for name, board in SETS.items():
        objects = sorted(str(o) for pattern in (f"kernels/**/*_{name}.S.o", f"kernels/**/*_{name}.cpp.o") for o in (boards / board).glob(pattern))
        parts = {what: [o for o in objects if re.search(which, o)] for what, which in APART.items()}
        int8 = [o for o in objects if not any(o in part for part in parts.values())]
        count = bytes_of(int8)
        others = ", ".join(f"{what} {bytes_of(part)}" for what, part in parts.items() if part)
        good = int8 and count <= MOST
        wrong += not good
        print(f"{'' if good else 'FAILED '}{name}: int8 {count} bytes in {len(int8)} objects (at most {MOST}){'; ' if others else ''}{others}")
    print(f"{len(SETS)} instruction sets: {wrong} too large")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
