"""Images a second of one thread of this host: our programs on our runtime, beside TFLite with XNNPACK in the same run.

    build/venv/bin/python bench/host.py [--tool build/deuteron] [--shared ../shared] [--seconds 2]

Ours are the float models compiled for each core, TFLite's the int8 originals of the same networks. Both get random inputs; the best of
five runs counts. Ours includes the quantization of the input.
"""
import argparse
import json
import pathlib
import re
import subprocess
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODELS = ["resnet8", "dscnn_kws", "mobilenet_v1_025_vww"]
CORES = ["cortex-m55", "cortex-m33"]
RUNS = 5


def ours(tool, folder, core, samples):
    with tempfile.TemporaryDirectory() as where:
        where = pathlib.Path(where)
        shape = json.loads((folder / "model.json").read_text())["inputs"][0]["shape"]
        np.save(where / "x.npy", np.random.default_rng(0).normal(size=[samples, *shape[1:]]).astype(np.float32))
        subprocess.run([tool, "compile", folder / "float.pt2", "--target", core, "--calibrate", folder / "inputs", "-o", where / "m.pte"], check=True,
                       capture_output=True)
        best = 0
        for _ in range(RUNS):
            said = subprocess.run([tool, "run", where / "m.pte", "--input", where / "x.npy", "--output-dir", where / "y"], check=True,
                                  capture_output=True, text=True).stdout
            best = max(best, samples / float(re.search(r"on the host in ([\d.]+) s", said)[1]))
    return best


def xnnpack(folder, seconds):
    from ai_edge_litert.interpreter import Interpreter
    interpreter = Interpreter(str(folder / "original_int8.tflite"), num_threads=1)
    interpreter.allocate_tensors()
    entry = interpreter.get_input_details()[0]
    interpreter.set_tensor(entry["index"], np.random.default_rng(0).integers(-128, 128, entry["shape"]).astype(entry["dtype"]))
    best, count = 0, 10
    for _ in range(RUNS):
        begin, done = time.perf_counter(), 0
        while time.perf_counter() - begin < seconds / RUNS:
            for _ in range(count):
                interpreter.invoke()
            done += count
        best = max(best, done / (time.perf_counter() - begin))
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=ROOT / "build" / "deuteron")
    parser.add_argument("--shared", type=pathlib.Path, default=ROOT.parent / "shared")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--samples", type=int, default=1000)
    arguments = parser.parse_args()
    print(f"| images a second | {' | '.join(f'ours, {c}' for c in CORES)} | TFLite, XNNPACK | ratio |\n| --- |{' ---: |' * (len(CORES) + 2)}")
    for name in MODELS:
        folder = arguments.shared / "fixtures" / "models" / name
        found = [ours(arguments.tool, folder, core, arguments.samples) for core in CORES]
        peer = xnnpack(folder, arguments.seconds)
        print(f"| {name} | {' | '.join(f'{f:.0f}' for f in found)} | {peer:.0f} | {found[0] / peer:.2f} |", flush=True)


if __name__ == "__main__":
    main()
