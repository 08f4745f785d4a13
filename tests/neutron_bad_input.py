# SPDX-License-Identifier: Apache-2.0
"""What goes wrong at the borders to the vendor's parts, at the command line: one message with the step, exit code 1, and no file left.

    neutron_bad_input.py DEUTERON

A converter that is missing, fails, prints nothing, is killed, writes nothing or a wrong payload, for --neutron-converter; a program whose payload has a wrong magic word, version,
count, section size or too little scratch, for `deuteron run`. (Converters that hang, drivers that return errors, alignment: cli/external_converter_test.cpp,
npu/neutron/delegate/delegate_test.cpp.)"""
import array
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

TOOL = sys.argv[1]
MAGIC = struct.pack("<I", 0x64434D6E)
GRAPH = """graph "small"
source 0 "c" "aten.conv2d.default"
source 1 "d" "aten.conv2d.default"
source 2 "y" "aten.softmax.int"
input x : f32[1,5,7,8]
w = const f32[8,3,3,8] random(1)
b = const f32[8] random(2)
c = conv2d(x, w, b) pad_before=1,1 pad_after=1,1 : f32[1,5,7,8] from 0
d = conv2d(c, w, b) pad_before=1,1 pad_after=1,1 : f32[1,5,7,8] from 1
y = softmax(d) axis=3 : f32[1,5,7,8] from 2
output y
"""
wrong, tried = [], 0


def tool(where, *arguments):
    environment = dict(os.environ, TMPDIR=str(where / "tmp"))
    return subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, env=environment)


def refused(name, done, texts, left):
    global tried
    tried += 1
    missing = [t for t in texts if t not in done.stderr]
    if done.returncode != 1 or missing or left:
        wrong.append(f"{name}: exit {done.returncode}, without {missing}, left {left}: {done.stderr[:300]}")


def patched(data, changes, at=None):
    """Words of the microcode, by index."""
    data = bytearray(data)
    at = data.index(MAGIC) if at is None else at
    for index, change in changes.items():
        (old,) = struct.unpack_from("<I", data, at + 4 * index)
        struct.pack_into("<I", data, at + 4 * index, change(old) & 0xFFFFFFFF)
    return bytes(data)


def converters(where):
    good, out = where / "i" / "neutron0.converted.tflite", where / "out"
    damaged = {
        "no magic word": {0: lambda v: v ^ 1},
        "microcode too long": {6: lambda v: v + (1 << 20)},
        "weights too long": {7: lambda v: v + (1 << 20)},
        "another number of inputs": {11: lambda v: v + 1},
        "another number of outputs": {12: lambda v: v + 1},
    }
    scripts = {
        "fails": ("echo a reason; exit 3", ["conversion: it failed", "exit code 3", "a reason"]),
        "fails in silence": ("exit 1", ["conversion: it failed", "it printed nothing"]),
        "is killed": ("kill -SEGV $$", ["conversion: a signal ended it"]),
        "writes and prints nothing": ("exit 0", ["reading its result: it wrote none", "it printed nothing"]),
        "writes an empty file": (": > $4", ["reading its result", "0 bytes"]),
        "writes a text": ("echo no model > $4", ["reading its result"]),
        "gives back what it got": ("cp $2 $4", ["reading its result"]),
        "writes a part": (f"head -c 600 {good} > $4", ["reading its result"]),
    }
    for name, changes in damaged.items():
        (where / f"{name}.tflite").write_bytes(patched(good.read_bytes(), changes))
        scripts[name] = (f"cp '{where}/{name}.tflite' $4", [])
    script = where / "converter"
    for name, (body, texts) in [("missing", (None, ["start: there is no such file"])), *scripts.items()]:
        script.unlink(missing_ok=True)
        if body is not None:
            script.write_text(f"#!/bin/sh\n{body}\n")
            script.chmod(0o700)
        out.mkdir()
        done = tool(where, "compile", where / "m.txt", "--target", "imxrt700cm", "--calibrate", where / "x.bin", "--neutron-converter", script,
                    "-o", out / "m.pte", "--etrecord", out / "m.etrecord")
        left = [p.name for p in [*out.iterdir(), *(where / "tmp").iterdir()]]
        refused(f"a converter that {name}", done, ["Neutron converter", *texts], left)
        for p in out.iterdir():
            p.unlink()
        out.rmdir()


def payloads(where):
    good = (where / "m.pte").read_bytes()
    at = good.index(MAGIC)
    header = at - 16  # one input, one output: a header of 16 bytes
    byte = lambda offset, value: lambda: good[:header + offset] + bytes([value]) + good[header + offset + 1:]
    word = lambda index, change: lambda: patched(good, {index: change}, at)
    cases = {
        "magic word": (word(0, lambda v: v ^ 0x100), "magic word"),
        "version": (byte(7, 2), "version that this runtime does not know"),
        "count of inputs": (word(11, lambda v: 2), "number of inputs"),
        "count of outputs": (word(12, lambda v: 2), "number of outputs"),
        "number of results": (byte(1, 0), "no outputs"),
        "microcode beyond the payload": (word(6, lambda v: v + (1 << 20)), "ends within the microcode"),
        "microcode shorter than its header": (word(6, lambda v: 40), "microcode is shorter"),
        "weights beyond the payload": (word(7, lambda v: v + (1 << 20)), "ends within the weights"),
        "flag": (byte(3, 7), "transposition flag"),
        "scratch too small": (word(9, lambda v: v + (1 << 16)), "smaller than what the payload needs"),
        "kernel calls": (word(3, lambda v: v + 9), "prepare"),
    }
    for name, (damaged, text) in cases.items():
        (where / "bad.pte").write_bytes(damaged())
        out = where / "out"
        done = tool(where, "run", where / "bad.pte", "--input", where / "x.bin", "--output-dir", out)
        refused(f"a payload with a wrong {name}", done, ["NeutronBackend", text], list(out.iterdir()) if out.exists() else [])


with tempfile.TemporaryDirectory() as folder:
    where = pathlib.Path(folder)
    (where / "tmp").mkdir()
    (where / "m.txt").write_text(GRAPH)
    (where / "x.bin").write_bytes(array.array("f", [((k * 37) % 41) / 20 - 1 for k in range(280)]).tobytes())
    made = tool(where, "compile", where / "m.txt", "--target", "imxrt700cm", "--calibrate", where / "x.bin", "-o", where / "m.pte", "--intermediates", where / "i")
    if made.returncode:
        wrong.append(made.stderr[:500])
    else:
        converters(where)
        payloads(where)
for problem in wrong:
    print(f"WRONG {problem}")
print(f"{tried} faults: {len(wrong)} not reported as they should be")
sys.exit(1 if wrong else 0)
