# SPDX-License-Identifier: Apache-2.0
"""Every verb on the models of the golden texts, for several targets and with options: whatever becomes of them, nothing ends with an internal
fault or a signal, and nothing hangs.

    every_verb.py [--deuteron build/deuteron] [--seed S] [--part N] [NAME ...]      NAME: golden files whose names contain it

Of every N-th golden file (1: all of them), each model is analyzed, diagnosed, compiled for three targets with one of the option sets below each,
and what compiles is looked at, compared and run. Which targets and options follows from the seed and the file's name. Exit codes of refusals are
as good as success here: what is said has tests of its own.
"""
import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import checks  # noqa: E402
import golden  # noqa: E402
from checks import check  # noqa: E402

TARGETS = ["cortex-m55", "cortex-m33", "cortex-m3", "imxrt700", "imxrt700cm"]
OPTIONS = [[], ["--io", "int8"], ["--dialect", "stock"], ["--max-ram", "least"], ["--precision", "int16"], ["--profile"], ["--emit", "c"],
           ["--precision", "mixed:cost=10%"], ["--dialect", "plain"], ["--io", "contiguous"], ["--prefer", "fastest"],
           ["--observer", "minmax"], ["--explain"], ["--layer", "add=cpu"]]
TOLD = ("--precision", "--observer", "--layer")  # what compare has to be told again
ORDERLY = (0, 1, 2)  # success, refusal, wrong command line
MOST_ELEMENTS = 100_000


def samples_of(said, folder):
    """--calibrate for each input that `analyze` asks data of: seeded random numbers."""
    found = []
    for k, shape in enumerate(re.findall(r"`[^`]*` \[([\d,]*)\]", said) if "--calibrate" in said else []):
        sizes = [3] + [int(n) for n in shape.split(",") if n]
        elements = 1
        for n in sizes:
            elements *= n
        if elements > MOST_ELEMENTS:
            return []
        r = random.Random(k)
        (folder / f"sample{k}.npy").write_bytes(golden.npy(f"f32[{','.join(map(str, sizes))}] {','.join(f'{r.gauss(0, 1):.4f}' for _ in range(elements))}"))
        found.append(f"sample{k}.npy")
    return found


class Verbs:
    def __init__(self, tool, seed):
        self.tool, self.seed, self.count = tool, seed, 0

    def run(self, folder, *arguments):
        self.count += 1
        try:
            done = subprocess.run([self.tool, *arguments], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=golden.TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            check(False, f"{' '.join(arguments)}: does not end")
            return 1, ""
        said = done.stdout.decode("utf-8", "replace")
        check(done.returncode in ORDERLY, f"{folder.name}: {' '.join(arguments)}: exit code {done.returncode}: {said[-400:]}")
        return done.returncode, said

    def try_model(self, folder, model, options, choose):
        _, said = self.run(folder, "analyze", model, "--target", "cortex-m55", *options)
        samples = samples_of(said, folder)
        given = {verb: [w for s in samples for w in (verb, s)] for verb in ("--calibrate", "--inputs", "--input")}
        self.run(folder, "doctor", model, "--target", "imxrt700cm", *given["--calibrate"])
        for target in choose.sample(TARGETS, 3):
            chosen = choose.choice(OPTIONS)
            code, _ = self.run(folder, "compile", model, "--target", target, *given["--calibrate"], *options, *chosen, "-o", "o.pte")
            if code or chosen[:1] == ["--emit"]:
                continue
            told = chosen if chosen[:1] and chosen[0] in TOLD else []
            self.run(folder, "inspect", "o.pte")
            self.run(folder, "compare", model, "o.pte", *given["--inputs"], *options, *told)
            self.run(folder, "run", "o.pte", *given["--input"], "--output-dir", "out")

    def try_golden(self, path):
        test, choose = golden.Golden(path), random.Random(f"{self.seed} {path.name}")
        with tempfile.TemporaryDirectory(prefix=path.stem + ".") as name:
            folder, models = pathlib.Path(name), []
            for file, data in test.files():
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                (folder / file).write_bytes(data)
                if file.endswith((".pt2", ".tflite", ".onnx")) or (file == path.name and re.search(rb"^(input|output) ", data, re.M)):
                    models.append(file)
            options = sorted({o for c in test.commands for o in re.findall(r"--(?:state|input-shape|stream) \S+", c)})
            for model in models:
                self.try_model(folder, model, [w for o in options for w in o.split()], choose)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--deuteron", default=str(golden.ROOT / "build" / "deuteron"))
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--part", type=int, default=1)
    p.add_argument("names", nargs="*")
    given = p.parse_args()
    paths = [f for f in sorted(golden.FOLDER.glob("*.txt")) if f != golden.NOT_REACHED and (not given.names or any(n in f.stem for n in given.names))]
    verbs = Verbs(str(pathlib.Path(given.deuteron).resolve()), given.seed)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(verbs.try_golden, paths[given.seed % given.part::given.part]))
    print(f"{verbs.count} commands, seed {given.seed}: {checks.verdict()}")
    return 1 if checks.failed or not verbs.count else 0


if __name__ == "__main__":
    sys.exit(main())
