# SPDX-License-Identifier: Apache-2.0
"""Instructions and bytes on the chip, beside those of a peer. Prints its tables for docs/results.md.

    python3 bench/kernels.py [build/deuteron] [../shared]

Instructions are those of one inference with a float input and output, counted under emulation: they repeat to the last digit. The peer is
ExecuTorch 1.5's runtime with CMSIS-NN and the file of its own flow, counted on the same boards (on Cortex-M3, which that flow does not serve,
CMSIS-NN's kernels alone; on Cortex-M0+ with the file for a Cortex-M3). Needs the cross compiler for what an image takes. The sample that runs is none that the program was calibrated on. Standard library only; a bar that does not hold is marked with
`!`, and the exit code is then 1.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import spine
from spine import bar, tool

sys.path.insert(0, str(spine.ROOT / "tests"))
from cross_build import build_environment

BOARDS = {core: name for name, core in spine.BOARDS.items()}
# core: {model: (the peer's instructions, at most so much of them, at most with --dialect stock)}. gcc 12.2, CMSIS-NN 99f736a; on Cortex-M0+
# dbf45dbf (-DDEUTERON_STOCK_SOURCES, the image stock/board/mps2-an511/stock.elf, with fixtures/stock/MODEL.cortex-m3.pte).
PEER = {
    "cortex-m55": {"resnet8": (4_842_100, 0.43, 0.55), "dscnn_kws": (1_812_500, 0.41, 0.55), "mobilenet_v1_025_vww": (6_581_550, 0.32, 0.55),
                   "autoencoder_ad": (155_450, 0.33, 0.55), "mobilenet_v2": (166_626_850, 0.37, 0.55)},
    "cortex-m4": {"resnet8": (30_011_840, 0.40, 0.50), "dscnn_kws": (8_486_560, 0.38, 0.50), "mobilenet_v1_025_vww": (26_092_360, 0.36, 0.50),
                  "autoencoder_ad": (632_200, 0.47, 0.50), "mobilenet_v2": (804_997_720, 0.40, 0.50)},
    "cortex-m0+": {"resnet8": (98_664_680, 0.62, None), "dscnn_kws": (29_498_720, 0.62, None), "mobilenet_v1_025_vww": (96_797_360, 0.62, None)},
    "cortex-m3": {"resnet8": (43_000_000, 0.62, None), "dscnn_kws": (11_100_000, 0.62, None), "mobilenet_v1_025_vww": (43_300_000, 0.62, None)},
}
PEER["cortex-m33"] = PEER["cortex-m4"]  # the peer has one file and one set of kernels for both
MOST_STACK = 2048


def samples_of(model):
    return sorted((spine.MODELS / model / "inputs").glob("*.bin"))


def compiled(model, core, program, *options, calibration=None):
    """Without `calibration`: on all samples but the first, which is the one that runs."""
    with tempfile.TemporaryDirectory() as folder:
        for sample in calibration or samples_of(model)[1:]:
            shutil.copy(sample, folder)
        tool("compile", spine.MODELS / model / "float.pt2", "--calibrate", folder, "--target", core, "-o", program, *options)


def on_board(model, core, program, where, sample=None):
    sample = sample or samples_of(model)[0]
    tool("run", program, "--input", sample, "--output-dir", where / "out", "--on", f"qemu:{BOARDS[core]}", "--json", where / "run.json")
    return json.loads((where / "run.json").read_text())


def instructions(where):
    print("| core | model | peer, M | ours, M | of the peer | bar | --dialect stock, M | of the peer | bar |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for core, models in PEER.items():
        for model, (peer, most, most_stock) in models.items():
            cells = []
            for options, limit in (((), most), (("--dialect", "stock"), most_stock)):
                compiled(model, core, where / "p.pte", *options)
                count = on_board(model, core, where / "p.pte", where)["instructions"]
                share = f"{count / peer:.3f}"
                cells += [f"{count / 1e6:.3f}", bar(share, limit is None or count <= limit * peer), f"{limit:.2f}" if limit else ""]
            print(f"| {core} | {model} | {peer / 1e6:.3f} | {' | '.join(cells)} |", flush=True)
    print()


def zeros(where):
    """What is left out behind relu depends on the data: units are put in order on one half of the samples, the other half runs."""
    model = "autoencoder_ad"
    samples = samples_of(model)
    print("| core, autoencoder_ad | dialect | as the units stood, M | of the peer | in order, mean, M | least | most | mean of the peer |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for core in ("cortex-m55", "cortex-m4", "cortex-m33"):
        peer = PEER[core][model][0]
        for dialect in ("deuteron", "stock"):
            compiled(model, core, where / "p.pte", "--dialect", dialect, "--skip-pass", "order-units", calibration=samples[::2])
            before = on_board(model, core, where / "p.pte", where, samples[1])["instructions"]
            compiled(model, core, where / "p.pte", "--dialect", dialect, calibration=samples[::2])
            counts = [on_board(model, core, where / "p.pte", where, sample)["instructions"] for sample in samples[1::2]]
            mean = sum(counts) / len(counts)
            cells = [f"{before / 1e6:.4f}", f"{before / peer:.3f}", f"{mean / 1e6:.4f}", f"{min(counts) / 1e6:.4f}", f"{max(counts) / 1e6:.4f}"]
            print(f"| {core} | {dialect} | {' | '.join(cells)} | {mean / peer:.3f} |", flush=True)
    print()


def originals(where):
    """The same architecture as the .tflite that TFLite quantized, whose rounding costs a shift, and as a float .pt2 that we quantize."""
    print("| core | model | the .tflite original, M | from the float .pt2, M | ratio |")
    print("|---|---|---:|---:|---:|")
    for core in ("cortex-m55", "cortex-m4"):
        for model in ("resnet8", "dscnn_kws", "mobilenet_v1_025_vww", "autoencoder_ad"):
            counts = []
            for name, axes in (("original_int8.tflite", (0, 2, 3, 1)), ("float.pt2", (0, 1, 2, 3))):
                calibration = ("--calibrate", spine.MODELS / model / "inputs") if name == "float.pt2" else ()
                tool("compile", spine.MODELS / model / name, *calibration, "--target", core, "--io", "int8", "-o", where / "p.pte")
                shape = spine.input_shape(model)
                x = spine.random_steps(where / "x.npy", [shape[k] for k in axes] if len(shape) == 4 else shape, model)
                tool("run", where / "p.pte", "--input", x, "--output-dir", where / "out", "--on", f"qemu:{BOARDS[core]}", "--json", where / "run.json")
                counts.append(json.loads((where / "run.json").read_text())["instructions"])
            print(f"| {core} | {model} | {counts[0] / 1e6:.3f} | {counts[1] / 1e6:.3f} | {counts[0] / counts[1]:.2f} |", flush=True)
    print()


def image_of(program, board, where):
    """What the build of a firmware project says of flash and stack: {line's name: bytes}."""
    environment, said = build_environment(where), ""
    for command in ((spine.TOOL, "firmware", program, "--board", board, "-o", where / "fw", "--force"),
                    ("cmake", "-S", where / "fw", "-B", where / "b", "-G", "Ninja"), ("cmake", "--build", where / "b")):
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, stdin=subprocess.DEVNULL, env=environment)
        said += done.stdout
        if done.returncode:
            sys.exit(f"{command[0]}: {done.stdout[-600:]}{done.stderr}")
    shutil.rmtree(where / "b")
    return {name.strip(): int(count) for name, count in re.findall(r"^(\S[^\n]*?) {2,}(\d+)\b", said, re.M)}


def footprint(where):
    """Of firmware with the loader; C output, which has none, is in tests/c_output/sizes.json."""
    print("| core, resnet8 | instructions to load | flash beside the model | the same, int8 in and out | tables in RAM | stack of load, at most | of run |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for core in ("cortex-m55", "cortex-m4", "cortex-m33", "cortex-m3", "cortex-m0+"):
        flash = {}
        for io in ("int8", "float"):
            compiled("resnet8", core, where / "p.pte", "--io", io)
            image = image_of(where / "p.pte", BOARDS[core], where)
            flash[io] = image["product, beside the model"]
        run = on_board("resnet8", core, where / "p.pte", where)
        print(f"| {core} | {run['load_instructions']} | {flash['float']} | {flash['int8']} | {run['tables_bytes']} | {image['load']} | "
              f"{bar(str(image['run']), image['run'] <= MOST_STACK)} |", flush=True)
    print()


def main():
    if not spine.MODELS.is_dir():
        sys.exit(f"{spine.MODELS} is not there: the reference models are needed")
    with tempfile.TemporaryDirectory() as folder:
        instructions(pathlib.Path(folder))
        zeros(pathlib.Path(folder))
        originals(pathlib.Path(folder))
        footprint(pathlib.Path(folder))
    print(f"{spine.missed} bars missed (marked with !)")
    return 1 if spine.missed else 0


if __name__ == "__main__":
    sys.exit(main())
