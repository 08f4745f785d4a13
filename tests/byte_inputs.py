# SPDX-License-Identifier: Apache-2.0
"""Programs whose input comes as bytes (--io u8) give the bits of the program that takes the numbers for which the bytes stand.

    byte_inputs.py DEUTERON

Of digits_cnn, with bytes that are its own steps, others that need a table, for six targets, on this machine and on emulated boards; `evaluate` and
`compare` know from the file what a byte stands for; images are read as they are.
"""
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import checks
from checks import check

TOOL = os.path.abspath(sys.argv[1])
MODELS = pathlib.Path(__file__).resolve().parent.parent / "models/digits_cnn"
MODEL = MODELS / "float.pt2"
BOARDS = {"cortex-m55": "mps3-an547", "cortex-m4": "mps2-an386", "cortex-m3": "mps2-an385"}
TARGETS = [*BOARDS, "cortex-m0plus", "imxrt700", "imxrt700cm"]
# What a byte stands for: a step of 1/255 from 0, which int8 can say exactly; and one whose zero lies between two bytes, so that a table is needed.
MAPS = {"steps": (1 / 255, 0.0), "table": (1.3 / 255, 0.0613)}
MOST_SAMPLES = 40


def call(*arguments):
    done = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout, done.stderr


def must(*arguments):
    code, out, err = call(*arguments)
    if code != 0:
        raise SystemExit(f"{' '.join(map(str, arguments))}: exit {code}\n{out}{err}")
    return out


def npy(path):
    data = path.read_bytes()
    end = 10 + struct.unpack("<H", data[8:10])[0]
    return data[10:end], data[end:]


def write_npy(path, kind, shape, data):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {tuple(shape)}, }}".ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def png(rows, bits):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", 8, 8, bits, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"".join(b"\0" + r for r in rows))) + chunk(b"IEND", b"")


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def numbers(data, scale, mean):
    """As the compiler computes them: each step in float32."""
    scale, mean = f32(scale), f32(mean)
    return struct.pack(f"<{len(data)}f", *(f32(f32(b * scale) - mean) for b in data))


def compare_programs(folder, target, name, scale, mean):
    data, options = folder / f"{name}.npy", ["--image-scale", repr(scale), "--image-mean", repr(mean)]
    common = ["compile", MODEL, "--target", target]
    must(*common, "--calibrate", data, "--io", "u8", *options, "-o", folder / "bytes.pte")
    must(*common, "--calibrate", folder / f"{name}.float.npy", "-o", folder / "float.pte")
    found = {}
    for kind, inputs in {"bytes": data, "float": folder / f"{name}.float.npy"}.items():
        must("run", folder / f"{kind}.pte", "--input", inputs, "--output-dir", folder / kind)
        found[kind] = npy(folder / kind / "output0.npy")
    check(found["bytes"] == found["float"], f"{target}, {name}: the bits of the program with a float input")
    if target in BOARDS:
        must("run", folder / "bytes.pte", "--input", data, "--output-dir", folder / "board", "--on", "qemu:" + BOARDS[target])
        check(npy(folder / "board/output0.npy") == found["bytes"], f"{target}, {name}: the same bits on {BOARDS[target]}")
    out = json.loads(must("inspect", folder / "bytes.pte", "--json", "-"))["inputs"][0]
    check(f32(out["stands_for"]["scale"]) == f32(scale), f"{target}, {name}: inspect says what a byte stands for: {out}")
    figures = {}
    for kind, inputs in {"bytes": data, "float": folder / f"{name}.float.npy"}.items():
        figures[kind] = json.loads(must("evaluate", folder / f"{kind}.pte", "--inputs", inputs, "--model", MODEL, "--json", "-"))["sqnr_db"]
    check(figures["bytes"] == figures["float"], f"{target}, {name}: evaluate finds {figures['bytes']} dB, of floats {figures['float']}")
    return found["bytes"]


def check_images(folder, outputs):
    """One sample as a picture: the pixels are the bytes."""
    _, data = npy(folder / "steps.npy")
    rows = [data[8 * r:8 * r + 8] for r in range(8)]
    (folder / "x.png").write_bytes(png(rows, 8))
    must("run", folder / "bytes.pte", "--input", folder / "x.png", "--output-dir", folder / "image")
    check(npy(folder / "image/output0.npy")[1] == outputs[1][:40], "a picture gives the bits of its bytes")
    (folder / "deep.png").write_bytes(png([b"".join(bytes([b, 1]) for b in r) for r in rows], 16))
    code, _, err = call("run", folder / "bytes.pte", "--input", folder / "deep.png", "--output-dir", folder / "image")
    check(code == 1 and "[image.depth]" in err, f"16 bits a pixel are refused: {err}")
    code, _, err = call("run", folder / "bytes.pte", "--input", folder / "steps.float.npy", "--output-dir", folder / "image")
    check(code == 1 and "[input.dtype]" in err, f"floats are refused: {err}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        _, data = npy(MODELS / "test_inputs.npy")
        floats = struct.unpack(f"<{64 * MOST_SAMPLES}f", data[:256 * MOST_SAMPLES])
        samples = bytes(min(255, round(255 * x) + i % 3) for i, x in enumerate(floats))
        for kind, (scale, mean) in MAPS.items():
            write_npy(folder / f"{kind}.npy", "|u1", (MOST_SAMPLES, 1, 8, 8), samples)
            write_npy(folder / f"{kind}.float.npy", "<f4", (MOST_SAMPLES, 1, 8, 8), numbers(samples, scale, mean))
        for target in TARGETS:
            for kind, (scale, mean) in reversed(MAPS.items()):
                outputs = compare_programs(folder, target, kind, scale, mean)
        check_images(folder, outputs)
        text = must("compare", MODEL, folder / "bytes.pte", "--inputs", folder / "steps.npy", "--target", TARGETS[-1])
        check("(conv2d)" in text, f"compare has its table: {text}")
    print(checks.verdict())
    sys.exit(checks.failed != 0)


main()
