# SPDX-License-Identifier: Apache-2.0
"""Random networks, compiled in every way that must not change a bit of what they compute (tests/fuzz/same_bits.h says which).

    networks.py NETWORKS [--seeds N] [--from SEED] [--seconds S] [--boards EVERY] [--jobs N] [--keep DIR]
    networks.py NETWORKS --shrink SEED [--keep DIR]

NETWORKS is the program of tests/fuzz/networks.cpp. Without --from the seeds are new each time; they are printed. A network that fails is cut
down by delta debugging, and its text is left in --keep (build/failing_networks). Standard library only. The exit code is 1 when one fails."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

TARGETS = ["cortex-m55", "imxrt700cm", "cortex-m33", "cortex-m4", "cortex-m3", "cortex-m0+"]  # by number, as in same_bits.cpp
BATCH, LONGEST_SECONDS = 12, 600


def run(*command, seconds=LONGEST_SECONDS):
    try:
        return subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace", timeout=seconds)
    except subprocess.TimeoutExpired as e:
        return subprocess.CompletedProcess(command, 124, (e.stdout or b"").decode(errors="replace"), f"longer than {seconds} s")


def kind_of(done):
    """What a failure is of, so that a smaller network fails for the same reason; None: it does not fail."""
    if done.returncode == 0:
        return None
    fault = re.search(r"(?m)^fault (.*)$", done.stdout)
    if fault:
        return "fault " + re.sub(r"[-\d.e+]+", "#", fault[1]).split(" [")[0]
    for pattern in (r"SUMMARY: (.*)", r"(.*internal.*)", r"(.*check.*failed.*)", r"([^\n]+)"):
        said = re.search(pattern, done.stderr)
        if said:
            return re.sub(r"0x[0-9a-f]+|\d+|`[^`]*`", "#", said[1])[:200]
    return f"exit {done.returncode}"


def shrunk(tool, text, target, kind, folder):
    """The smallest network with this kind of failure that leaving things out leads to."""
    at = folder / "network.txt"
    at.write_text(text)
    progress = True
    while progress:
        progress = False
        for old in folder.glob("[0-9]" * 3):
            old.unlink()
        run(tool, "--smaller", at, folder)
        for smaller in sorted(folder.glob("[0-9]" * 3)):
            if kind_of(run(tool, "--check", smaller, target, seconds=120)) == kind:
                at.write_text(smaller.read_text())
                progress = True
                break
    return at.read_text()


def report(tool, seed, keep):
    """Cuts the network of this seed down; what is wrong with it, and where its text is."""
    target = seed % len(TARGETS)
    text = run(tool, "--print", seed).stdout
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "whole.txt").write_text(text)
        done = run(tool, "--check", folder / "whole.txt", target)
        kind = kind_of(done)
        if kind is None:
            return "its text alone does not fail (a board?)"
        text = shrunk(tool, text, target, kind, folder)
    keep.mkdir(parents=True, exist_ok=True)
    path = keep / f"network_{seed}.txt"
    path.write_text(f"# {TARGETS[target]}: {kind}\n# {tool} --check {path} {target}\n{text}")
    return f"{kind}\n  {path}:\n" + "\n".join(line if len(line) < 200 else line[:200] + "..." for line in text.splitlines())


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("networks", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--from", type=int, dest="first", default=None)
    parser.add_argument("--seconds", type=float, default=None)
    parser.add_argument("--boards", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--shrink", type=int)
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("build/failing_networks"))
    options = parser.parse_args()
    tool = options.networks.resolve()
    if options.shrink is not None:
        print(report(tool, options.shrink, options.keep))
        return 1
    first = options.first if options.first is not None else int(time.time()) % 100_000_000
    start, totals, failed = time.monotonic(), [0, 0, 0], []
    print(f"seeds from {first}", flush=True)

    def batch(seed):
        """The seeds of a batch; after one that fails the rest."""
        end = min(seed + BATCH, first + options.seeds)
        while seed < end and (options.seconds is None or time.monotonic() - start < options.seconds):
            done = run(tool, seed, end - seed, options.boards)
            at = [int(s) for s in re.findall(r"(?m)^seed (\d+)", done.stdout)]
            totals[0] += len(at)
            counts = re.search(r"(\d+) programs, (\d+) compared", done.stdout)
            if counts:
                totals[1] += int(counts[1])
                totals[2] += int(counts[2])
            if done.returncode == 0:
                return
            worst = at[-1] if at else seed
            failed.append(worst)
            print(f"seed {worst}: {report(tool, worst, options.keep)}\n  again: python3 tests/networks.py {tool} --from {worst} --seeds 1 --boards {options.boards}",
                  flush=True)
            seed = worst + 1

    batches = iter(range(first, first + options.seeds, BATCH))  # one for all workers: there may be millions

    def work():
        while (seed := next(batches, None)) is not None and (options.seconds is None or time.monotonic() - start < options.seconds):
            batch(seed)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for worker in [pool.submit(work) for _ in range(options.jobs)]:
            worker.result()
    print(f"{totals[0]} networks, {totals[1]} programs ran, {totals[2]} compared with another way to the same bits, {len(failed)} failed, "
          f"{time.monotonic() - start:.0f} s")
    # A network that the compiler refuses is compared with nothing; on average one gives four or five comparisons.
    return 1 if failed or totals[2] < totals[0] or not totals[0] else 0


if __name__ == "__main__":
    sys.exit(main())
