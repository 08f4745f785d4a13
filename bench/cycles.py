# SPDX-License-Identifier: Apache-2.0
"""Estimated cycles of our programs, and of the stock ones on ExecuTorch's runtime with CMSIS-NN, by the same rules (docs/firmware.md).

    python3 bench/cycles.py [BUILD] [SHARED] [--stock FOLDER --write VERSIONS]

BUILD has `deuteron`. The stock figures are those of bench/stock_cycles.json. With --stock they are measured: FOLDER has
MACHINE/stock.elf, as -DDEUTERON_STOCK_SOURCES builds them (build/stock/board), and BUILD has `price_blocks`; --write records
them. A bar that does not hold is marked with `!`, and the exit code is then 1. Standard library only.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import published

ROOT = pathlib.Path(__file__).resolve().parents[1]
RECORD = ROOT / "bench" / "stock_cycles.json"
MODELS = ["resnet8", "dscnn_kws", "mobilenet_v1_025_vww", "autoencoder_ad"]
# core whose cycles are estimated: (target, board, core that the stock file is for)
CORES = {
    "cortex-m55": ("cortex-m55", "mps3-an547", "cortex-m55"),
    "cortex-m4": ("cortex-m4", "mps2-an386", "cortex-m4"),
    "cortex-m7": ("cortex-m4", "mps2-an386", "cortex-m4"),
    "cortex-m33": ("cortex-m33", "mps2-an505", "cortex-m4"),
    "cortex-m3": ("cortex-m3", "mps2-an385", "cortex-m3"),
}
# What weights in flash cost: published.py. STM32L4R5; STM32F746; nRF5340; Apollo510 (96 MHz, 64 KB of cache); STM32F207.
FLASH = {"cortex-m4": {"waits": [5, 8, 256]}, "cortex-m7": {"waits": [7, 32, 4096]}, "cortex-m33": {"stall": 0.36, "cache": 8192},
         "cortex-m55": {"stall": 0.34, "cache": 65536}, "cortex-m3": {"waits": [3, 16, 128]}}
MOST_OF_STOCK = 0.48
MOST_FOR_EACH_MAC = {("cortex-m33", "resnet8"): 1.25, ("cortex-m33", "mobilenet_v1_025_vww"): 1.5, ("cortex-m33", "dscnn_kws"): 1.5}
missed = 0


def bar(text, holds):
    global missed
    missed += not holds
    return text if holds else text + " !"


def call(arguments, **more):
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, **more)
    if done.returncode:
        sys.exit(f"{' '.join(str(a) for a in arguments)}: {done.stderr.strip()}")
    return done.stdout


def ours(tool, folder, core, io, where):
    """Estimated cycles, and multiply-adds."""
    target, board, _ = CORES[core]
    program, report, figures = where / "p.pte", where / "p.json", where / "r.json"
    call([tool, "compile", folder / "float.pt2", "--calibrate", folder / "inputs", "--target", target, "--io", io, "-o", program, "--json", report])
    call([tool, "run", program, "--input", sorted((folder / "inputs").glob("*.bin"))[0], "--output-dir", where / "out", "--on", f"qemu:{board}",
          "--cycles", core, "--json", figures])
    return json.loads(figures.read_text())["estimated_cycles"]["cycles"], json.loads(report.read_text())["macs"]


def stock(build, images, shared, model, core, where):
    """Estimated cycles of the stock program, and words that it loads from memory, or None where there is no image for the board."""
    _, board, file_core = CORES[core]
    image, files = images / board / "stock.elf", shared / "fixtures" / "stock"
    if not image.exists():
        return None
    blocks = where / "blocks"
    words = ",".join(f"arg={a}" for a in ["runner", files / f"{model}.{file_core}.pte", where / "stock", files / f"{model}.in0.0.bin"])
    with open(blocks, "wb") as out:
        call(["qemu-system-arm", "-M", board, "-kernel", image, "-icount", "shift=0,sleep=off", "-nodefaults", "-display", "none", "-monitor", "none",
              "-serial", "none", "-semihosting-config", f"enable=on,target=native,{words}",
              "-plugin", f"file={build / 'boards' / 'block_counts.so'},fd={out.fileno()},waits=1:4:1:4"], pass_fds=[out.fileno()])
    loads = sum(int(line.split()[1]) for line in blocks.read_text().splitlines() if line.startswith("wait "))
    return float(call([build / "price_blocks", image, blocks, core]).split()[1]), loads


def rows(given, record, where):
    build = given.build.resolve()
    for core in CORES:
        for model in MODELS:
            folder = given.shared / "fixtures" / "models" / model
            cycles, macs = ours(build / "deuteron", folder, core, "float", where)
            each = ours(build / "deuteron", folder, core, "int8", where)[0] / macs
            if given.stock:
                measured = stock(build, given.stock, given.shared, model, core, where)
                if measured:
                    for what, number in zip(("cycles", "loads"), measured):
                        record.setdefault(what, {})[f"{model} {core}"] = number
            theirs = record["cycles"].get(f"{model} {core}")
            ratio = bar(f"{cycles / theirs:.3f}", cycles <= MOST_OF_STOCK * theirs) if theirs else ""
            most = MOST_FOR_EACH_MAC.get((core, model))
            def flash(dialect):
                return published.waits((build, given.shared), model, FLASH[core] | {"core": core}, dialect, where) * 1e6
            slow = cycles + flash("deuteron")
            behind = f"{slow / 1e6:.3f} | {slow / (theirs + flash('stock')):.3f}" if theirs else f"{slow / 1e6:.3f} | "
            yield (f"| {core} | {model} | {cycles / 1e6:.3f} | {f'{theirs / 1e6:.3f}' if theirs else ''} | {ratio} | {behind} | "
                   f"{bar(f'{each:.2f}', not most or each <= most)} |")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("build", type=pathlib.Path, nargs="?", default=ROOT / "build")
    arguments.add_argument("shared", type=pathlib.Path, nargs="?", default=ROOT.parent / "shared")
    arguments.add_argument("--stock", type=pathlib.Path)
    arguments.add_argument("--write", metavar="VERSIONS")
    given = arguments.parse_args()
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {"versions": "", "cycles": {}}
    print(f"Stock: {given.write or record['versions']}.\n")
    print("| core | model | no wait states: cycles, M | stock, M | of stock | weights in flash: cycles, M | of stock | cycles a MAC, int8 in and out |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for row in rows(given, record, pathlib.Path(folder)):
            print(row, flush=True)
    if given.write:
        record["versions"] = given.write
        RECORD.write_text(json.dumps(record, indent=1) + "\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
