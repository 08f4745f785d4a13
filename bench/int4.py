# SPDX-License-Identifier: Apache-2.0
"""What weights of four bits save and cost: bytes of weights and of the file, planned RAM, instructions on emulated boards, and accuracy on samples that calibration has not seen.

    build/venv/bin/python bench/int4.py [--tool build/deuteron] [--shared ../shared] [--orders 1] [--models A,B] [--max-loss 1] [--no-boards]

A row for each network and each of --precision int8, int4, and int4:loss=X. Held out: signal to noise against the float model in dB, mean over the splits of bench/held_out.py, each
third of a random order held out once; the loss is against 8 bits on the same splits. Bytes, RAM and instructions are of a program that all samples calibrated.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np

from held_out import MODELS, ROOT, Model, ours

BOARDS = {"cortex-m55": "mps3-an547", "cortex-m4": "mps2-an386"}


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def program(arguments, model, target, options, boards):
    """Bytes of constants and of the file, planned RAM, layers with four bits, and instructions of a run."""
    with tempfile.TemporaryDirectory() as where:
        where = pathlib.Path(where)
        np.save(where / "calibrate.npy", model.x)
        np.save(where / "one.npy", model.x[:1])
        run(arguments.tool, "compile", model.folder / "float.pt2", "--target", target, "--calibrate", where / "calibrate.npy", "-o", where / "m.pte", "--json", where / "m.json", *options)
        report = json.loads((where / "m.json").read_text())
        instructions = None
        if boards:
            run(arguments.tool, "profile", where / "m.pte", "--input", where / "one.npy", "--on", f"qemu:{BOARDS[target]}", "-o", where / "t.etdp")
            run(arguments.tool, "inspect", where / "t.etdp", "--rows", "0", "--json", where / "t.json")
            instructions = sum(k["median"] for k in json.loads((where / "t.json").read_text())["kernels"] if "::" in k["name"])
        return report["flash"]["constants"], report["flash"]["file"], report["ram_bytes"], len(report.get("int4_weights", {}).get("layers", [])), instructions


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=ROOT / "build" / "deuteron")
    parser.add_argument("--shared", type=pathlib.Path, default=ROOT.parent / "shared")
    parser.add_argument("--orders", type=int, default=1)
    parser.add_argument("--models", default=",".join(MODELS[:4]))
    parser.add_argument("--max-loss", default="1")
    parser.add_argument("--no-boards", action="store_true")
    arguments = parser.parse_args()
    kinds = {"8": [], "4": ["--precision", "int4"], f"mixed, {arguments.max_loss} dB": ["--precision", f"int4:loss={arguments.max_loss}"]}
    print("| model | weights | layers of 4 bits | constants, bytes | file, bytes | RAM, bytes | held out, dB | loss | Cortex-M55 | Cortex-M4 |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in arguments.models.split(","):
        model = Model(arguments.shared / "fixtures" / "models" / name)
        splits = [split for seed in range(arguments.orders) for split in model.thirds(seed)]
        first, before = None, {}
        for kind, options in kinds.items():
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                held = np.array(list(pool.map(lambda s: ours(arguments.tool, model, s, options)[0], splits)))
            first = held if first is None else first
            constants, file, ram, layers, _ = program(arguments, model, "cortex-m55", options, False)
            counts = []
            for target in BOARDS:
                now = None if arguments.no_boards else program(arguments, model, target, options, True)[4]
                before.setdefault(target, now)
                counts.append("" if now is None else f"{now:,} ({now / before[target]:.2f}x)".replace(",", " "))
            texts = [name, kind, layers, *(f"{v:,}".replace(",", " ") for v in (constants, file, ram)), f"{held.mean():.1f}", f"{(first - held).mean():+.1f}", *counts]
            print("| " + " | ".join(map(str, texts)) + " |", flush=True)


if __name__ == "__main__":
    main()
