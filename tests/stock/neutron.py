"""Programs with a Neutron delegate in our runtime and in the stock one: same bits.

    neutron.py DEUTERON PTE_SEEDS STOCK_RUNNER [UPSTREAM_RUNNER]

UPSTREAM_RUNNER has ExecuTorch's own NeutronBackend.cpp instead of ours (cmake -DEXECUTORCH_CHECKOUT=DIR). All run on the open machine model.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

tool, seeds, *runners = sys.argv[1:]
checks = failures = 0


def check(condition, what):
    global checks, failures
    checks += 1
    if not condition:
        failures += 1
        print("FAILED", what)
    return condition


def call(*arguments):
    result = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
    if result.returncode:
        print(" ".join(str(a) for a in arguments), "->", result.returncode, result.stdout[-2000:], result.stderr[-2000:])
    return result.returncode == 0


with tempfile.TemporaryDirectory() as scratch:
    where = pathlib.Path(scratch)
    check(call(seeds, where), "the programs are written")
    rng = np.random.default_rng(1)
    for name in ["neutron", "neutron_plain"]:
        for sample in range(5):
            x = rng.integers(-128, 128, (1, 3, 4, 2), dtype=np.int8)
            np.save(where / "x.npy", x)
            x.tofile(where / "x.bin")
            if not check(call(tool, "run", where / f"{name}.pte", "--input", where / "x.npy", "--output-dir", where / "ours"), name):
                continue
            expected = [np.transpose(np.load(where / "ours/output0.npy"), (0, 2, 3, 1)), np.load(where / "ours/output1.npy")]
            for runner in runners:
                if not check(call(runner, where / f"{name}.pte", where / "stock", where / "x.bin"), f"{name} in {runner}"):
                    continue
                for k in range(2):
                    check(np.fromfile(where / f"stock{k}.bin", np.int8).tobytes() == expected[k].tobytes(), f"{name}, output {k} in {runner}")
    # What the compiler makes: networks wholly and partly on the NPU.
    models = pathlib.Path(__file__).resolve().parents[3] / "shared" / "fixtures" / "models"
    if not models.is_dir():
        print("left out: ../shared/fixtures is not there")
    for name in ["cifarnet", "resnet8", "dscnn_kws", "autoencoder_ad", "digits_cnn", "digits_bmm"] if models.is_dir() else []:
        shape = json.loads((models / name / "model.json").read_text())["inputs"][0]["shape"]
        x = np.fromfile(models / name / "inputs" / "000.bin", "<f4").reshape(shape)
        (np.transpose(x, (0, 2, 3, 1)) if x.ndim == 4 else x).tofile(where / "x.bin")
        for extra in ([], ["--profile"], ["--neutron-exclude", "linear"]):
            if not check(call(tool, "compile", models / name / "qdq.pt2", "--target", "imxrt700cm", *extra, "-o", where / "m.pte"), f"{name} {extra}"):
                continue
            check(call(tool, "run", where / "m.pte", "--input", models / name / "inputs" / "000.bin", "--output-dir", where / "ours"), f"{name} {extra}")
            expected = np.load(where / "ours" / "output0.npy")
            for runner in runners:
                if check(call(runner, where / "m.pte", where / "stock", where / "x.bin"), f"{name} {extra} in {runner}"):
                    check(np.fromfile(where / "stock0.bin", np.float32).tobytes() == expected.tobytes(), f"{name} {extra}: the bits in {runner}")
print(f"{checks - failures} of {checks} checks hold; runners: {len(runners)}")
sys.exit(failures != 0)
