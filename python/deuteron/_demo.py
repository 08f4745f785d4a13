# SPDX-License-Identifier: Apache-2.0
"""deuteron demo: a trained digits network is compiled, run and compared on this machine, from files that the package carries."""

from __future__ import annotations

import argparse
import pathlib
import time

import numpy as np

from . import compile
from ._program import Program

CARRIED = pathlib.Path(__file__).parent / "models" / "digits_cnn"


def demo(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="deuteron demo", description="Compile, run and compare a trained digits network.")
    parser.add_argument("--target", default="cortex-m55", help="what to compile for; default cortex-m55")
    target = parser.parse_args(arguments).target
    began = time.monotonic()
    files = CARRIED
    images, labels = np.load(files / "test_inputs.npy"), np.load(files / "test_labels.npy")

    print(f"== compile: a trained float network (8x8 digits) -> int8 for {target}")
    program = compile(files / "float.pt2", target=target, calibration=np.load(files / "calibrate.npy"))
    print_memory(program)
    print("\n== run: 719 new images, on this machine, with exactly the chip's results")
    outputs = program.run(images)
    print(f"first image: digit {int(np.argmax(outputs[0]))}, label {labels[0]}")
    accuracy = program.evaluate(images, labels, model=files / "float.pt2")
    for who, share, right in (("program", accuracy.program_top1, accuracy.program_right), ("float", accuracy.model_top1, accuracy.model_right)):
        print(f"top-1 {who:<8} {100 * (share or 0):6.2f} %  ({right} of {accuracy.samples})")
    print("\n== compare: the operators that lose most accuracy")
    for row in program.compare(files / "float.pt2", np.load(files / "calibrate.npy")).operators[:3]:
        print(f"{row.sqnr_db or 0:8.2f} dB  {row.name} ({row.op})")
    print_time(program)
    print(f"\n{time.monotonic() - began:.1f} s. Next: deuteron compile model.pt2 --target cortex-m55 --calibrate samples.npy -o model.pte")
    return 0


def print_memory(program: Program) -> None:
    r = program.report
    print(f"RAM   {r.ram_bytes} bytes planned, lower bound {r.ram_lower_bound_bytes}; flash {r.file_bytes} bytes, constants {r.flash.constants}")
    print("alive at the peak: " + ", ".join(f"{t.name} {t.bytes}" for t in r.peak.tensors) if r.peak else "")


def print_time(program: Program) -> None:
    total = program.report.cycles.total
    print(f"\n== profile: where the time goes; on the target {total} cycles are predicted for an inference" if total else "\n== profile")
    print(f"{'share':>7} {'median':>8}  kernel on this machine, ns")
    for row in sorted(program.profile(), key=lambda k: -k.total)[:5]:
        print(f"{100 * row.share:6.1f}% {row.median:8}  {row.name}: {row.operators_text}")
