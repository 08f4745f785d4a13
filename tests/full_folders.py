# SPDX-License-Identifier: Apache-2.0
"""Every verb that writes, into folders that are missing, read-only or full: it says which file, and leaves whole ones or none.

    full_folders.py DEUTERON

The folders are file systems of their own, in a namespace of this user; where the kernel allows none, the test is skipped (77)."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOOL = os.path.abspath(sys.argv[1])
MODEL = pathlib.Path(__file__).resolve().parent / "carried/fixtures/models/hello_sine/original_int8.tflite"
# The private key of RFC 8032, section 7.1, test 1.
KEY = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n-----END PRIVATE KEY-----\n"
FIRMWARE = ["firmware", "p.pte", "--board", "mps3-an547", "-o"]
COMMANDS = [
    ["compile", MODEL, "--target", "cortex-m55", "-o", "o/p.pte", "--json", "o/r.json", "--html", "o/r.html", "--etrecord", "o/e.etrecord"],
    ["compile", MODEL, "--target", "imxrt700cm", "-o", "o/p.pte", "--neutron-kernel-selection", "o/selection.c"],
    ["compile", MODEL, "--target", "cortex-m55", "-o", "o/p.pte", "--intermediates", "o/graphs"],
    ["compile", MODEL, "--target", "cortex-m55", "-o", "o/c", "--emit", "c"],
    ["compile", MODEL, "--target", "cortex-m55", "-o", "o/p.hpp", "--emit", "hpp"],
    ["analyze", MODEL, "--target", "cortex-m55", "--json", "o/r.json", "--html", "o/r.html"],
    ["doctor", MODEL, "--target", "cortex-m55", "--json", "o/r.json"],
    ["run", "p.pte", "--input", "x.bin", "--output-dir", "o/out", "--json", "o/r.json"],
    ["profile", "p.pte", "--input", "x.bin", "-o", "o/t.etdp"],
    ["evaluate", "p.pte", "--inputs", "x.bin", "--model", MODEL, "--json", "o/r.json"],
    ["compare", MODEL, "p.pte", "--inputs", "x.bin", "--json", "o/r.json"],
    ["inspect", "p.pte", "--json", "o/r.json"],
    ["inspect", "t.etdp", "--html", "o/r.html"],
    [*FIRMWARE, "o/fw"], [*FIRMWARE, "o/fw", "--as", "c"], [*FIRMWARE, "o/Sine", "--as", "arduino"],
    [*FIRMWARE, "o/sine", "--as", "zephyr"], [*FIRMWARE, "o/Sine.pack", "--as", "cmsis-pack"],
    ["sign", "p.pte", "--key", "key.pem", "-o", "o/s.pte"],
    ["targets", "--json", "o/r.json"],
    ["ops", "--json", "o/r.json"],
    ["report-bug", MODEL, "-o", "o/bug.zip"],
]  # fmt: skip
# $1: options of a file system, or none; the rest is the command. What it leaves in o comes to `left`.
IN_FOLDER = """rm -rf left; mkdir -p o
[ -z "$1" ] || mount -t tmpfs -o "$1" tmpfs o || exit 99
shift
"$@"; code=$?
cp -r o left; exit $code"""


def run(where, options, command):
    done = subprocess.run(["unshare", "-rm", "sh", "-c", IN_FOLDER, "sh", options, TOOL, *map(str, command)], cwd=where,
                          capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
    left = where / "left"
    files = {str(p.relative_to(left)): p.read_bytes() for p in sorted(left.rglob("*")) if p.is_file()}
    shutil.rmtree(where / "o", ignore_errors=True)
    return done.returncode, done.stderr, files


def is_whole(name, found, whole):
    """Reports hold times, so they are read; everything else is compared."""
    if name.endswith(".json"):
        return json.loads(found) is not None
    if name.endswith(".html"):
        return found.rstrip().endswith(b"</html>")
    return found == whole or name.endswith((".etdp", ".etrecord")) and len(found) > len(whole) // 2


def faults_of(where, command):
    code, error, whole = run(where, "", command)
    if code != 0 or not whole:
        return [f"ends with {code} where nothing is in its way: {error[-400:]}"]
    faults, refused = [], 0
    for options in ("ro,size=1m", "size=4k", "size=16k", "size=48k"):
        code, error, files = run(where, options, command)
        if code == 99:
            continue
        refused += code == 1
        why = "Read-only file system" if options.startswith("ro") else "No space left on device"
        if code not in (0, 1) or (code == 1) != (why in error and ": error: " in error):
            faults.append(f"{options}: ends with {code}: {error[-400:]}")
        if code == 0 and files.keys() != whole.keys():
            faults.append(f"{options}: lacks {whole.keys() - files.keys()}, and does not say so")
        faults += [f"{options}: {name} is half a file" for name in files if name not in whole or not is_whole(name, files[name], whole[name])]
    return faults if refused else [*faults, "is refused in no folder: this test looks at nothing"]


def main():
    probe = subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True)
    if probe.returncode:
        print("left out: this kernel lets a user mount no file system of his own")
        return 77
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        where = pathlib.Path(folder)
        (where / "x.bin").write_bytes(b"\x05")
        (where / "key.pem").write_text(KEY)
        for command in (["compile", MODEL, "--target", "cortex-m55", "-o", "p.pte"], ["profile", "p.pte", "--input", "x.bin", "-o", "t.etdp"]):
            subprocess.run([TOOL, *map(str, command)], cwd=where, check=True, capture_output=True)
        for command in COMMANDS:
            for fault in faults_of(where, command):
                wrong += 1
                print(f"deuteron {' '.join(map(str, command))}: {fault}")
    print(f"{len(COMMANDS)} commands into folders that are read-only or full: {wrong} faults")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
