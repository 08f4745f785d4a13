# SPDX-License-Identifier: Apache-2.0
"""Programs that earlier versions compiled run with the bits that they gave then; what a later version might write is refused by its name.

    old_programs.py DEUTERON [--write]

tests/carried/programs/VERSION has programs, and in expected.txt the SHA-256 of each and of its first output as .npy. A format, packing or kernel that
changes gets another name (docs/runtime.md, "Versions"): these files must stay as they are. A release adds a folder of its own; --write writes the
expected.txt of folders that have none."""
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOL = os.path.abspath(sys.argv[1])
PROGRAMS = ROOT / "tests/carried/programs"
INPUTS = {"digits": ROOT / "models/digits_cnn/test_inputs.npy", "lstm": ROOT / "tests/carried/fixtures/models/mnist_lstm/inputs"}
# What stands for a version in a file, the same of another version, and how `run` ends then: the rule, or "" where it runs with the same bits.
OTHER_VERSIONS = [
    ("digits_cortex-m55.pte", b"ET12", b"ET13", "pte.not_a_program"),                              # the format of the program
    ("digits_cortex-m55.pte", b"mve_4x16", b"mve_4x17", "pte.missing_kernel"),                     # the packing
    ("digits_cortex-m55.pte", b"packed_conv2d", b"packed_conv9d", "pte.missing_kernel"),           # the kernel
    ("digits_cortex-m55.pte", b"deuteron:isa=mve", b"deuteron:isa=mvf", "pte.wrong_isa"),          # the instruction set
    ("digits_cortex-m55.pte", b"PLN1", b"PLN0", ""),                                               # load plans of older programs are left alone
    ("digits_imxrt700cm.pte", b"NeutronBackend", b"NeutronBackenx", "pte.missing_backend"),        # the delegate
]


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def run(program, model, folder):
    """The SHA-256 of its first output, or what was said instead."""
    done = subprocess.run([TOOL, "run", program, "--input", INPUTS[model], "--output-dir", folder / "out"], capture_output=True, text=True)
    return sha256(folder / "out/output0.npy") if done.returncode == 0 else done.stderr


def check_folder(version, folder, write):
    programs = {p.name: f"{sha256(p)} {run(p, p.name.split('_')[0], folder)}" for p in sorted(version.glob("*.pte"))}
    text = "".join(f"{name} {sums}\n" for name, sums in programs.items())
    expected = version / "expected.txt"
    if write and not expected.exists():
        expected.write_text(text)
    if expected.read_text() == text:
        return len(programs), 0
    for ours, theirs in zip(text.splitlines(), expected.read_text().splitlines()):
        if ours != theirs:
            print(f"{version.name}: {ours}\n    expected {theirs}")
    return len(programs), 1


def main():
    wrong = count = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for version in sorted(p for p in PROGRAMS.iterdir() if p.is_dir()):
            found, faults = check_folder(version, folder, "--write" in sys.argv)
            count, wrong = count + found, wrong + faults
        for name, mark, other, rule in OTHER_VERSIONS:
            whole = (PROGRAMS / "0.1.0" / name).read_bytes()
            assert mark in whole and len(mark) == len(other), (name, mark)
            changed = folder / "other.pte"
            changed.write_bytes(whole.replace(mark, other))
            answer, same = run(changed, "digits", folder), run(PROGRAMS / "0.1.0" / name, "digits", folder)
            if answer != same if rule == "" else f"[{rule}]" not in answer:
                wrong += 1
                print(f"{name} with {other} for {mark}: expected {rule or same}, got {answer}")
    print(f"{count} programs of earlier versions, {len(OTHER_VERSIONS)} of other ones, {wrong} faults")
    return 1 if wrong or count < 6 else 0


if __name__ == "__main__":
    sys.exit(main())
