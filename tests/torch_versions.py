#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models that several versions of torch have exported compile to the same program.

    python tests/torch_versions.py build/deuteron tests/carried/torch_versions

The folder holds VERSION/NAME.pt2, each written by tests/torch_versions_export.py. A model must compile from every version. Its programs are
compared byte for byte with the newest version's but for those in DIFFERENT, where torch exports another graph, and says so below.
"""

import pathlib
import struct
import subprocess
import sys
import tempfile

# Inputs: shape of a sample. The bytes of the calibration come from a fixed congruential sequence.
INPUTS = {
    "attention": (7, 8), "autoencoder": (20,), "camera": (9, 11, 3), "cnn": (1, 10, 12), "excited": (3, 7, 9), "gru": (9, 5), "half": (2, 7, 6),
    "lstm": (9, 5), "quantized": (10,), "residual": (3, 8, 6), "separable": (2, 10, 8), "tokens": (8,),
}  # fmt: skip
OPTIONS = {"tokens": ["--input-shape", "ids=1,8"]}
DIFFERENT = set()  # (version, model)
SAMPLES = 8


def sequence(count):
    state, numbers = 1, []
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2**31
        numbers.append(state >> 16)
    return numbers


def calibration(name):
    """As a .npy file."""
    count = SAMPLES
    for extent in INPUTS[name]:
        count *= extent
    raw = sequence(count)
    letter, descr, data = "f", "<f4", [(n % 256 - 128) / 64 for n in raw]
    if name == "camera":
        letter, descr, data = "B", "|u1", [n % 256 for n in raw]
    if name == "tokens":
        letter, descr, data = "q", "<i8", [n % 16 for n in raw]
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {(SAMPLES, *INPUTS[name])}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{count}{letter}", *data)


def main():
    deuteron, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    versions = sorted((d.name for d in folder.iterdir() if d.is_dir()), key=lambda v: [int(n) for n in v.split(".")])
    assert versions, f"{folder} holds no version"
    failures, compared = [], 0
    with tempfile.TemporaryDirectory() as where:
        for name in INPUTS:
            samples = pathlib.Path(where, f"{name}.npy")
            samples.write_bytes(calibration(name))
            programs = {}
            for version in versions:
                program = pathlib.Path(where, "program.pte")
                command = [deuteron, "compile", folder / version / f"{name}.pt2", "--target", "cortex-m55", "--calibrate", samples, "-o", program]
                done = subprocess.run([*map(str, command), *OPTIONS.get(name, [])], capture_output=True, text=True, timeout=120, check=False)
                if done.returncode != 0:
                    failures.append(f"{name} of torch {version}: {done.stdout}{done.stderr}")
                    continue
                programs[version] = program.read_bytes()
            for version, program in programs.items():
                compared += 1
                if (program == programs.get(versions[-1])) == ((version, name) in DIFFERENT):
                    failures.append(f"{name}: the program of torch {version} and that of {versions[-1]} {'are equal' if (version, name) in DIFFERENT else 'differ'}")
    for failure in failures:
        print(failure)
    print(f"{compared} programs of {len(INPUTS)} models and {len(versions)} versions of torch compared, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
