# SPDX-License-Identifier: Apache-2.0
"""Images a second of one thread of this host: our programs on our runtime, beside TFLite with XNNPACK in the same run.

    build/venv/bin/python bench/host.py [--tool build/deuteron] [--shared ../shared] [--rounds 10] [--samples 500]

Ours are the float models compiled for each core, TFLite's the int8 originals of the same networks. Both get random inputs. Each round runs
all of them in turn, `samples` inferences of each; the fastest single inference of all rounds counts, which others on the machine disturb
least. Ours includes the quantization of a float input and the softmax's way back to float, TFLite's begins and ends with int8.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODELS = ["resnet8", "dscnn_kws", "mobilenet_v1_025_vww"]
CORES = ["cortex-m55", "cortex-m33"]


class Ours:
    """A program in a folder of its own, with inputs."""

    def __init__(self, tool, folder, core, samples, where):
        self.tool, self.where = tool, where
        where.mkdir()
        shape = json.loads((folder / "model.json").read_text())["inputs"][0]["shape"]
        np.save(where / "x.npy", np.random.default_rng(0).normal(size=[samples, *shape[1:]]).astype(np.float32))
        subprocess.run([tool, "compile", folder / "float.pt2", "--target", core, "--calibrate", folder / "inputs", "-o", where / "m.pte"], check=True,
                       capture_output=True)

    def fastest(self):
        said = subprocess.run([self.tool, "run", self.where / "m.pte", "--input", self.where / "x.npy", "--output-dir", self.where / "y", "--json", "-"],
                              check=True, capture_output=True, text=True).stdout
        return json.loads(said)["fastest_inference_seconds"]


class Theirs:
    def __init__(self, folder, samples):
        from ai_edge_litert.interpreter import Interpreter
        self.samples = samples
        self.interpreter = Interpreter(str(folder / "original_int8.tflite"), num_threads=1)
        self.interpreter.allocate_tensors()
        entry = self.interpreter.get_input_details()[0]
        self.interpreter.set_tensor(entry["index"], np.random.default_rng(0).integers(-128, 128, entry["shape"]).astype(entry["dtype"]))

    def fastest(self):
        best = float("inf")
        for _ in range(self.samples):
            begin = time.perf_counter()
            self.interpreter.invoke()
            best = min(best, time.perf_counter() - begin)
        return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", type=pathlib.Path, default=ROOT / "build" / "deuteron")
    parser.add_argument("--shared", type=pathlib.Path, default=ROOT.parent / "shared")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--samples", type=int, default=500)
    arguments = parser.parse_args()
    print(f"| images a second | {' | '.join(f'ours, {c} | ratio' for c in CORES)} | TFLite, XNNPACK |\n| --- |{' ---: |' * (2 * len(CORES) + 1)}")
    for name in MODELS:
        folder = arguments.shared / "fixtures" / "models" / name
        with tempfile.TemporaryDirectory() as where:
            sides = [Ours(arguments.tool, folder, core, arguments.samples, pathlib.Path(where) / core) for core in CORES]
            sides.append(Theirs(folder, arguments.samples))
            rounds = [[side.fastest() for side in sides] for _ in range(arguments.rounds)]
        *ours, peer = [1 / min(times) for times in zip(*rounds)]
        print(f"| {name} | {' | '.join(f'{f:.0f} | {f / peer:.2f}' for f in ours)} | {peer:.0f} |", flush=True)


if __name__ == "__main__":
    main()
