# SPDX-License-Identifier: Apache-2.0
"""Cycles of MLPerf Tiny on chips, as published, beside our estimate of the same kind of code with the flash's wait states.

    python3 bench/published.py [BUILD] [SHARED]

The code is CMSIS-NN in an open framework; ours is the estimate of ExecuTorch's file with CMSIS-NN (bench/stock_cycles.json), and what it waits for
weights: docs/cpu-cost.md. Rows: bench/published_cycles.json. Where nobody says a chip's wait states, one number, stall cycles a byte, is
fitted to its anomaly detection, which reads each weight once: that cell is marked `fit` and not counted. A factor that is off by more than 20 %
is marked with `!`. "ram": wait states of each load of tensors, by the chip's maker; words that the stock program loads are counted, less the weights'.
Standard library only."""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODELS = {"ic": "resnet8", "kws": "dscnn_kws", "vww": "mobilenet_v1_025_vww", "ad": "autoencoder_ad"}
RECORD = json.loads((ROOT / "bench" / "stock_cycles.json").read_text())
LINE_CYCLES = 3  # of bus and buffer, for each line: targets/read_target.cpp


def bytes_read(folders, model, core, cache, dialect, where):
    """Of weights, in an inference, from behind the cache: the wait where a byte takes a cycle."""
    build, shared = folders
    target, report = where / "flash.toml", where / "p.json"
    target.write_text(f'format = 1\nname = "flash"\ndescription = "a byte a cycle"\nextends = ["{core}"]\n[[memory]]\nname = "flash"\n'
                      f'holds = ["constants"]\nbytes_per_cycle_q8 = 256\ncache_bytes = {cache}\n')
    done = subprocess.run([build / "deuteron", "compile", shared / "fixtures" / "models" / model / "qdq.pt2", "--target", target, "--dialect", dialect,
                           "-o", where / "p.pte", "--json", report], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(report.read_text())["cycles"]["wait_for_constants"]


def waits(folders, model, row, dialect, where):
    """M cycles. `row`: "waits", states, bytes of a line and of the cache; or "stall" and "cache"; "ram"."""
    stall, cache = row.get("stall"), row.get("cache")
    if stall is None:
        states, line, cache = row["waits"]
        stall = (states + LINE_CYCLES) / line
    once, all_ = (bytes_read(folders, model, row["core"], c, dialect, where) for c in (1 << 30, cache))
    if dialect != "stock":
        return stall * all_ / 1e6
    # CMSIS-NN reads its weights for 2 windows at once, our kernels for 4; what is read once is the same.
    read = 2 * all_ - once
    tensors = RECORD["loads"][f"{model} {row['core']}"] - read / 4 if "ram" in row else 0
    return (stall * read + row.get("ram", 0) * tensors) / 1e6


def stock_cycles(model, row, folders, where):
    """M cycles, with what it waits."""
    return RECORD["cycles"][f"{model} {row['core']}"] / 1e6 + waits(folders, model, row, "stock", where)


def main():
    given = sys.argv[1:] + [ROOT / "build", ROOT.parent / "shared"][len(sys.argv) - 1:]
    folders = [pathlib.Path(a).resolve() for a in given]
    factors, fitted = {"at once": [], "in flash": []}, []
    print("| chip, code: at once -> in flash | ic | kws | vww | ad |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for row in json.loads((ROOT / "bench" / "published_cycles.json").read_text())["rows"]:
            is_fitted, cells = "waits" not in row, []
            if is_fitted:
                row["stall"] = 0
                at_once, one = (stock_cycles("autoencoder_ad", row | {"stall": s}, folders, pathlib.Path(folder)) for s in (0, 1))
                row["stall"] = (row["cycles"][-1] - at_once) / (one - at_once)
                fitted.append(f"{row['chip']} {row['stall']:.2f}")
            for (name, model), published in zip(MODELS.items(), row["cycles"]):
                if not published:
                    cells.append("")
                    continue
                pair = RECORD["cycles"][f"{model} {row['core']}"] / 1e6 / published, stock_cycles(model, row, folders, pathlib.Path(folder)) / published
                is_fit = name == "ad" and is_fitted
                if not is_fit:
                    for kind, factor in zip(factors.values(), pair):
                        kind.append(factor)
                cells.append(f"{pair[0]:.2f} -> {pair[1]:.2f}" + (" fit" if is_fit else " !" if abs(pair[1] - 1) > 0.2 else ""))
            print(f"| {row['core']}, {row['chip']}, {row['code']} | {' | '.join(cells)} |")
    good = {kind: sum(abs(f - 1) <= 0.2 for f in list_) for kind, list_ in factors.items()}
    print(f"\nWithin 20 %: {good['at once']} of {len(factors['at once'])} at once, {good['in flash']} with the flash; half of these within "
          f"{100 * statistics.median(abs(f - 1) for f in factors['in flash']):.0f} %\nFitted, cycles a byte: {', '.join(fitted)}")
    return 0 if good["in flash"] == len(factors["in flash"]) else 1


if __name__ == "__main__":
    sys.exit(main())
