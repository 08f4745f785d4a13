# SPDX-License-Identifier: Apache-2.0
"""Measures the main job on the six reference models and prints its tables for docs/results.md.

    python3 bench/spine.py [build/deuteron] [../shared]

Standard library only. Every bar that does not hold is marked with `!`, and the exit code is then 1.
"""
import array
import ast
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
TOOL = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "deuteron").resolve()
SHARED = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ROOT.parent / "shared")
MODELS = SHARED / "fixtures" / "models"
sys.path.insert(0, str(ROOT))
from boards.boards import emulated_boards

BOARDS = {b.name: b.target for b in emulated_boards()}
# name: (stock SQNR in dB on the first 4 inputs, limit of the file in bytes, limit of planned RAM with int8 I/O without scratch)
BARS = {
    "resnet8": (18.9, 102536, 49152),
    "dscnn_kws": (41.9, 55008, 16000),
    "mobilenet_v1_025_vww": (25.1, 316632, 55296),
    "autoencoder_ad": (29.0, 285376, 768),
    "cifarnet": (47.8, 102200, None),
    "digits_cnn": (29.1, 22673, None),
}
MOST_GROWTH = 1.03  # of a file with packed weights over that with plain ones
COMPILE_SECONDS = {"resnet8": (0.15, 1.0), "mobilenet_v1_025_vww": (0.3, None)}
missed = 0


def bar(text, holds):
    global missed
    if holds:
        return text
    missed += 1
    return text + " !"


def tool(*arguments):
    """Runs the program; its wall time in seconds and its peak memory in bytes."""
    start = time.monotonic()
    process = subprocess.Popen([str(TOOL), *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    errors = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - start
    if status or errors:
        sys.stderr.write(f"{' '.join(map(str, arguments))}: {errors}\n")
    if status:
        sys.exit(f"exit status {os.waitstatus_to_exitcode(status)}")
    return seconds, usage.ru_maxrss * 1024, errors


def input_shape(model):
    return json.loads((MODELS / model / "model.json").read_text())["inputs"][0]["shape"]


def random_steps(path, shape, seed):
    """int8, the same for the same seed."""
    header = str({"descr": "|i1", "fortran_order": False, "shape": tuple(shape)})
    header += " " * (64 - (10 + len(header) + 1) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + random.Random(seed).randbytes(math.prod(shape)))
    return path


def read_npy(path):
    data = path.read_bytes()
    size = struct.unpack_from("<H", data, 8)[0]
    header = ast.literal_eval(data[10:10 + size].decode())
    assert header["descr"] == "<f4", header
    values = array.array("f", data[10 + size:])
    return values, header["shape"]


def floats(files):
    values = array.array("f")
    for file in files:
        values.frombytes(file.read_bytes())
    return values


def sqnr(reference, value):
    noise = sum((a - b) ** 2 for a, b in zip(reference, value))
    return math.inf if noise == 0 else 10 * math.log10(sum(a * a for a in reference) / noise)


def write_series(path, files, shape):
    header = str({"descr": "<f4", "fortran_order": False, "shape": (len(files), *shape[1:])})
    header += " " * (64 - (10 + len(header) + 1) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + b"".join(f.read_bytes() for f in files))


def top1(values, classes):
    return [max(range(classes), key=lambda c: values[r * classes + c]) for r in range(len(values) // classes)]


def outputs(pte, series, where, *options):
    tool("run", pte, "--input", series, "--output-dir", where, "--json", where.with_suffix(".json"), *options)
    return read_npy(where / "output0.npy")[0], json.loads(where.with_suffix(".json").read_text())


def measure(name, where):
    folder = MODELS / name
    info = json.loads((folder / "model.json").read_text())
    shape = info["inputs"][0]["shape"]
    files = sorted((folder / "inputs").glob("*.bin"))[:32]
    series = where / f"{name}.npy"
    write_series(series, files, shape)
    expected = floats(sorted((folder / "expected").glob("*.bin"))[:32])
    stock_db, file_limit, ram_limit = BARS[name]
    row = {"model": name}

    pte, report = where / f"{name}.pte", where / f"{name}.json"
    runs = [tool("compile", folder / "float.pt2", "--target", "cortex-m55", "--calibrate", series, "-o", pte, "--json", report) for _ in range(3)]
    seconds, peak = min(r[0] for r in runs), max(r[1] for r in runs)
    for_stock = where / f"{name}.stock.pte"  # what stock firmware runs
    said = tool("compile", folder / "float.pt2", "--target", "cortex-m55", "--dialect", "stock", "--calibrate", series, "-o", for_stock, "--json", report)[2]
    j = json.loads(report.read_text())
    calls = [o["op"] for o in j["operators"]]
    row["operators"] = bar(f"{len(calls)}", j["counts"]["portable"] == 0 and all(c.startswith("cortex_m::") for c in calls) and not said + runs[0][2])
    got, _ = outputs(pte, series, where / f"{name}.host")
    per = len(expected) // len(files)
    all_db, first_db = sqnr(expected, got), sqnr(expected[:4 * per], got[:4 * per])
    row["SQNR in-sample, all inputs (PT2E)"] = bar(f"{all_db:.2f} ({info['qdq']['sqnr_db']:.2f})", all_db >= info["qdq"]["sqnr_db"] - 0.5)
    row["SQNR in-sample, first 4 (stock)"] = bar(f"{first_db:.2f} ({stock_db})", first_db >= stock_db - 0.5)
    plain_bytes, packed_bytes = for_stock.stat().st_size, pte.stat().st_size
    row["file, --dialect stock (stock)"] = bar(f"{plain_bytes} ({file_limit})", plain_bytes <= file_limit)
    row["file"] = bar(f"{packed_bytes}", packed_bytes <= min(file_limit, plain_bytes) * MOST_GROWTH)
    _, float_limit = COMPILE_SECONDS.get(name, (None, None))
    row["compile, float"] = bar(f"{seconds:.2f} s", float_limit is None or seconds <= float_limit)
    row["peak memory"] = bar(f"{peak / 1e6:.0f} MB", peak <= 5 * 4 * info["params"] + 50e6)

    tool("compile", folder / "float.pt2", "--target", "cortex-m55", "--calibrate", series, "--io", "int8", "-o", where / "i8.pte", "--json", report)
    j = json.loads(report.read_text())
    row["RAM, int8 I/O"] = bar(f"{j['ram_bytes']}", ram_limit is None or j["ram_bytes"] <= ram_limit + j["scratch_bytes"])

    quantized = where / f"{name}.qdq.pte"
    seconds = min(tool("compile", folder / "qdq.pt2", "--target", "cortex-m55", "-o", quantized)[0] for _ in range(3))
    limit, _ = COMPILE_SECONDS.get(name, (None, None))
    row["compile, quantized"] = bar(f"{seconds:.2f} s", limit is None or seconds <= limit)
    simulated = floats(sorted((folder / "expected_qdq").glob("*.bin"))[:32])
    got, _ = outputs(quantized, series, where / f"{name}.qdq.host")
    same = sum(a == b for a, b in zip(top1(simulated, per), top1(got, per)))
    row["qdq: against PT2E"] = f"{sqnr(simulated, got):.1f} dB, top-1 {same}/{len(files)}"

    small = where / f"{name}.small.npy"
    write_series(small, files[:2], shape)
    counts = {"model": name}
    for board, core in BOARDS.items():
        program = where / f"{name}.{core}.pte"
        tool("compile", folder / "float.pt2", "--target", core, "--calibrate", series, "-o", program)
        on_host, _ = outputs(program, small, where / f"{name}.{core}.host")
        on_board, run = outputs(program, small, where / f"{name}.{core}.board", "--on", f"qemu:{board}")
        counts[f"{core} ({board})"] = bar(f"{run['instructions']}", on_host.tobytes() == on_board.tobytes())
    return row, counts


def digits(where):
    rows = []
    folder = MODELS / "digits_cnn"
    for model, calibrate, floor in (("float.pt2", ["--calibrate", folder / "inputs"], 97.9), ("qdq.pt2", [], 97.9), ("qat_qdq.pt2", [], 98.19)):
        pte, report = where / "digits.pte", where / "digits.json"
        tool("compile", folder / model, "--target", "cortex-m55", *calibrate, "-o", pte)
        tool("evaluate", pte, "--inputs", folder / "test_inputs.npy", "--labels", folder / "test_labels.npy", "--json", report)
        top = 100 * json.loads(report.read_text())["program_top1"]
        rows.append({"model": f"digits_cnn/{model}", "top-1 of 719 (PT2E)": bar(f"{top:.2f} % ({floor})", top >= floor - 0.005)})
    return rows


def table(rows):
    keys = list(rows[0])
    print("| " + " | ".join(keys) + " |\n|" + " --- |" * len(keys))
    for row in rows:
        print("| " + " | ".join(str(row[k]) for k in keys) + " |")
    print()


def main():
    if not MODELS.is_dir():
        sys.exit(f"{MODELS} is not there: the reference models are needed")
    with tempfile.TemporaryDirectory() as folder:
        results = [measure(name, pathlib.Path(folder)) for name in BARS]
        table([r for r, _ in results])
        print("Instructions of one inference, emulated, exact; the bits are the host's:\n")
        table([c for _, c in results])
        table(digits(pathlib.Path(folder)))
    print(f"{missed} bars missed (marked with !)")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
