# SPDX-License-Identifier: Apache-2.0
"""The size gate: bytes of the file, of planned RAM and of constants of every fixture model, and of code, data and zeroed memory of firmware
images, as recorded in tests/sizes.json. Float models are quantized by plain histograms: the search for ranges would take most of the time.

    python3 tests/sizes.py [build/deuteron] [../shared] [--write]

A change, of an image by more than 1 %, is a failure until the record is changed too, in a commit that says why (--write
does it, for the models that are there). So is a program with packed weights that is more than 3 % larger than with plain ones, or
whose plan is larger by more than scratch may add, whatever the record says. Models that are not there are left out; without the cross compiler the images are, too.
Standard library only.
"""
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from cross_build import build_environment

ROOT = pathlib.Path(__file__).resolve().parents[1]

paths = [a for a in sys.argv[1:] if not a.startswith("--")]
TOOL = pathlib.Path(paths[0] if paths else ROOT / "build" / "deuteron").resolve()
MODELS = pathlib.Path(paths[1] if len(paths) > 1 else ROOT.parent / "shared") / "fixtures" / "models"
RECORD = ROOT / "tests" / "sizes.json"
TARGETS = ["cortex-m55", "cortex-m33", "cortex-m3", "imxrt700", "imxrt700cm"]
# Of models whose code differs: convolutions and linear layers; attention; the kernels and the model of the NPU.
IMAGES = [("dscnn_kws", "mps3-an547", "cortex-m55"), ("resnet8", "mps3-an547", "cortex-m55"), ("resnet8", "mps2-an386", "cortex-m4"),
          ("dscnn_kws", "mps2-an505", "cortex-m33"), ("dscnn_kws", "mps2-an385", "cortex-m3"),
          ("digits_bmm", "mps3-an547", "cortex-m55"), ("cifarnet", "mps2-an505", "imxrt700cm"), ("digits_bmm", "mps2-an505", "imxrt700cm")]
CROSS = ("arm-none-eabi-g++", "arm-none-eabi-size", "cmake", "ninja")


def run(*command, **options):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=900, **options)


MOST_GROWTH = 1.03  # of a program, with packed weights
MOST_SCRATCH, FEW_BYTES = 0.02, 256  # that a plan grows by (compile/lower/fit_scratch.cpp)


def sizes(model, target, kind, weights=()):
    """File, planned RAM, scratch and constants of a model, float or quantized; None: there is none of that kind."""
    source = MODELS / model / f"{kind}.pt2"
    if not source.exists():
        return None
    with tempfile.TemporaryDirectory() as folder:
        where = pathlib.Path(folder)
        calibrate = ["--calibrate", MODELS / model / "inputs", "--observer", "histogram"] if kind == "float" else []
        done = run(TOOL, "compile", source, "--target", target, *calibrate, *weights, "-o", where / "m.pte", "--json", where / "m.json")
        if done.returncode:
            return "refused"
        j = json.loads((where / "m.json").read_text())
        return {k: j[k] for k in ("file_bytes", "ram_bytes", "scratch_bytes", "constants_bytes")}


def image_sizes(model, board, target):
    """.text, .data and .bss of the firmware project of a quantized model, which has no model in .text (it is a section of its own)."""
    with tempfile.TemporaryDirectory() as folder:
        where = pathlib.Path(folder)
        environment = build_environment(where)
        for command in ((TOOL, "compile", MODELS / model / "qdq.pt2", "--target", target, "-o", where / "m.pte"),
                        (TOOL, "firmware", where / "m.pte", "--board", board, "-o", where / "fw"),
                        ("cmake", "-S", where / "fw", "-B", where / "b", "-G", "Ninja"), ("cmake", "--build", where / "b")):
            done = run(*command, env=environment)
            if done.returncode:
                return f"{command[0]} failed: {(done.stdout + done.stderr)[-600:]}"
        rows = [line.split() for line in run("arm-none-eabi-size", "-A", where / "b" / "firmware.elf").stdout.splitlines()]
        return {r[0][1:] + "_bytes": int(r[1]) for r in rows if r and r[0] in (".text", ".data", ".bss")}


def main():
    if not MODELS.is_dir():
        print(f"left out: there is no {MODELS}")
        return 77
    known = json.loads(RECORD.read_text())
    there = sorted(m.name for m in MODELS.iterdir() if m.is_dir())
    absent = sorted(set(known["models"]) - set(there))
    if absent:
        print(f"left out: the sizes of {', '.join(absent)}, not in {MODELS}")
    cases = [(model, target, kind) for model in there for target in TARGETS for kind in ("float", "qdq")]
    images = [i for i in IMAGES if i[0] in there] if all(map(shutil.which, CROSS)) else []
    if not images:
        print(f"left out: the sizes of firmware images: no {' or '.join(CROSS)}")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(cases, pool.map(lambda case: sizes(*case), cases)))
        plain = dict(zip(cases, pool.map(lambda case: sizes(*case, ["--dialect", "plain"]), cases)))
        found_images = {" ".join(i): s for i, s in zip(images, pool.map(lambda i: image_sizes(*i), images))}
    record = {"models": {m: known["models"][m] for m in absent}, "images": {**known["images"], **found_images}}
    for (model, target, kind), size in found.items():
        if size is not None:
            record["models"].setdefault(model, {}).setdefault(target, {})[kind] = size
    record["models"] = dict(sorted(record["models"].items()))
    grown = 0
    for (model, target, kind), now in found.items():
        if isinstance(now, dict):
            was = plain[model, target, kind]
            if now["file_bytes"] > MOST_GROWTH * was["file_bytes"] or \
                    now["ram_bytes"] > was["ram_bytes"] + max(MOST_SCRATCH * was["ram_bytes"], FEW_BYTES):
                grown += 1
                print(f"FAILED {model} ({kind}) for {target}: {now}, with plain weights {was}")
    if "--write" in sys.argv and not grown:
        RECORD.write_text(json.dumps(record, indent=1) + "\n")
        return 0
    wrong = grown
    for (model, target, kind), now in found.items():
        was = known["models"].get(model, {}).get(target, {}).get(kind)
        if was != now:
            wrong += 1
            print(f"FAILED {model} ({kind}) for {target}: {now}, recorded {was}")
    for image, now in found_images.items():
        was = known["images"].get(image)
        if not isinstance(now, dict) or not was or any(abs(now[part] - was[part]) > 0.01 * was[part] for part in was):
            wrong += 1
            print(f"FAILED the image of {image}: {now}, recorded {was}")
    print(f"{len(there)} models for {len(TARGETS)} targets, {len(found_images)} images: "
          f"{'as recorded' if wrong == 0 else f'{wrong} differ from tests/sizes.json'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
