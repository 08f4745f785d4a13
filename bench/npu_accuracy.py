# SPDX-License-Identifier: Apache-2.0
"""The NPU beside the CPU: accuracy on samples held out, and flash, of the trained fixtures and of the zoo.

    build/venv/bin/python bench/npu_accuracy.py [--tool build/deuteron] [--shared ../shared] [--cache DIR] [--only NAME,NAME]

Each network is compiled for an i.MX RT700 with its NPU, for a Cortex-M55 and for a Cortex-M33 with the same samples, and runs on
others: of a fixture each third of its samples is held out once, of a row of the zoo each third calibrates once; one that
misses the accuracy's bar by that is split by lot eight times more, and the mean of all counts. Rows of the zoo whose package is
not installed are left out, and counted. Accuracy is signal to noise against the float model; flash is the file.
Exit code 1: a bar is missed (`!`).
"""
import argparse
import json
import pathlib
import shutil
import statistics
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "bench" / "zoo"), str(ROOT / "bench")]
import held_out  # noqa: E402
import small_signals  # noqa: E402
import small_vision  # noqa: E402
import steps  # noqa: E402

TARGETS = ("imxrt700cm", "cortex-m55", "cortex-m33")
MEDIAN_DB, LEAST_DB, FLASH = -0.3, -1.0, 1.2


def fixtures(shared, cache, wanted):
    """(name, folders, more) of those with enough samples: a folder for each split, as a row of the zoo has one; there are no more."""
    for folder in sorted((shared / "fixtures" / "models").iterdir()):
        if not wanted(folder.name):
            continue
        model = held_out.Model(folder)
        folders = []
        for k, split in enumerate(model.thirds(0) if len(model.x) >= 6 else []):
            folders.append(where := cache / f"{folder.name}-{k}")
            where.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder / "float.pt2", where / "model.pt2")
            for name, rows in zip(("calibrate", "held"), split, strict=True):
                np.save(where / f"{name}0.npy", model.x[rows])
            np.save(where / "expected0.npy", model.y[split[1]])
        yield folder.name, folders, list


def zoo(cache, wanted):
    rows = [row for row in small_vision.ROWS + small_signals.ROWS if wanted(row.name)]
    try:
        import published
        rows += [row for row in published.ROWS if wanted(row.name)]
    except ImportError as error:
        print(f"left out: the rows of bench/zoo/published.py ({error})")
    for row in rows:
        folder = cache / row.name
        if not (folder / "calibrate_expected0.npy").exists():
            folder.mkdir(parents=True, exist_ok=True)
            _, why = steps.apart(steps.export, row, folder)
            if why:
                print(f"| {row.name} | not exported: {why} |", flush=True)
                continue
        yield row.name, thirds(folder), lambda folder=folder: more_splits(folder)


def thirds(folder):
    """Folders in which each third of a row's samples calibrates once: a single split says what chance makes of a few samples."""
    count = len(np.load(folder / "calibrate0.npy")) + len(np.load(folder / "held0.npy"))
    return split(folder, [[i for i in range(count) if i * 3 // count == k] for k in range(3)], "third")


def more_splits(folder):
    """Others, by lot: for a row whose thirds miss a bar. Of 147 rows some do by chance, and the mean of all splits counts."""
    count = len(np.load(folder / "calibrate0.npy")) + len(np.load(folder / "held0.npy"))
    return split(folder, [np.random.default_rng(k).permutation(count)[:count // 3] for k in range(8)], "lot")


def split(folder, parts, name):
    every = {name: [np.concatenate([np.load(path) for path in pair]) for pair in zip(steps.ports(folder, first), steps.ports(folder, second), strict=True)]
             for name, first, second in (("given", "calibrate", "held"), ("expected", "calibrate_expected", "expected"))}
    folders = []
    for k, chosen in enumerate(parts):
        folders.append(where := folder / f"{name}{k}")
        where.mkdir(exist_ok=True)
        shutil.copy(folder / "model.pt2", where / "model.pt2")
        others = np.setdiff1d(np.arange(len(every["given"][0])), chosen)
        for part, source, rows in (("calibrate", "given", chosen), ("held", "given", others), ("expected", "expected", others)):
            for port, x in enumerate(every[source]):
                np.save(where / f"{part}{port}.npy", x[rows])
    return folders


def measure(tool, folders):
    """By target: dB held out and bytes of each split; nothing where a target refuses the network or has no output in float."""
    figures = {}
    for target in TARGETS:
        done = [steps.compiled(tool, folder, target) for folder in folders]
        if any(d["status"] or d["run"] or d["db"] is None for d in done):
            return target, [d.get("said") or d.get("run") for d in done]
        figures[target] = [(d["db"], d["file_bytes"]) for d in done]
    return None, figures


def means(figures):
    return [tuple(statistics.mean(column) for column in zip(*figures[target], strict=True)) for target in TARGETS]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", type=pathlib.Path, default=ROOT / "build" / "deuteron")
    parser.add_argument("--shared", type=pathlib.Path, default=ROOT.parent / "shared")
    parser.add_argument("--cache", type=pathlib.Path, default=ROOT / "build" / "npu_accuracy")
    parser.add_argument("--only", default="", help="names, or parts of them")
    options = parser.parse_args()
    parts = [part for part in options.only.split(",") if part]
    wanted = lambda name: not parts or any(part in name for part in parts)
    steps.prepare(False)
    print("| network | imxrt700cm, dB | cortex-m55, dB | difference | flash, bytes | of the M33's |\n| --- |" + " ---: |" * 5)
    gains, flash, missed = [], [], 0
    for source in (fixtures(options.shared, options.cache, wanted), zoo(options.cache, wanted)):
        for name, folders, more in source:
            if not folders:
                continue
            refused, figures = measure(options.tool, folders)
            if refused:
                print(f"| {name} | not measured on {refused}: {json.dumps(figures)[:300]} |", flush=True)
                continue
            (npu, size), (cpu, _), (_, plain) = means(figures)
            if npu - cpu < LEAST_DB and (others := more()):
                print(f"| {name}, its thirds alone | {npu:.1f} | {cpu:.1f} | {npu - cpu:+.2f} | | |", flush=True)
                _, again = measure(options.tool, others)
                (npu, size), (cpu, _), (_, plain) = means({target: figures[target] + again[target] for target in TARGETS})
            gains.append(npu - cpu)
            flash.append(size / plain)
            marks = ["" if gains[-1] >= LEAST_DB else " !", "" if flash[-1] <= FLASH else " !"]
            missed += sum(map(bool, marks))
            print(f"| {name} | {npu:.1f} | {cpu:.1f} | {npu - cpu:+.2f}{marks[0]} | {size:.0f} | {flash[-1]:.2f}{marks[1]} |", flush=True)
    median = statistics.median(gains)
    missed += median < MEDIAN_DB
    print(f"| median of {len(gains)} | | | {median:+.2f} | | {statistics.median(flash):.2f} |\n| worst | | | {min(gains):+.2f} | | {max(flash):.2f} |")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
