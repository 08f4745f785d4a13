# SPDX-License-Identifier: Apache-2.0
"""A sweep of the fixtures on two workers, one of which is killed twice, beside one worker; shards; and a sweep that is wholly cached.

    build/venv/bin/python bench/sweep.py [--models A,B] [--targets N] [--options N] [--shared ../shared] [--repeat 3]

11 models, 13 targets and 4 sets of options make 572 rows. Bars: both tables are equal; a kill costs no more than the one job that it hit; the
figures of 1, 2, 7 and 64 shards are identical; at least 2,000 rows a second from the cache. Exit code 1: one is missed. The last table has
what a job, a cached row and a worker cost. The calibration samples are those of the fixtures, the first eight at most.
"""
import argparse
import collections
import json
import os
import pathlib
import signal
import sys
import tempfile
import threading
import time

import cloudpickle
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "build" / "python"))
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "build" / "python"), *filter(None, [os.environ.get("PYTHONPATH")])])

import deuteron  # noqa: E402
import distributed  # noqa: E402
from deuteron._sweep import isolate  # noqa: E402

cloudpickle.register_pickle_by_value(sys.modules[__name__])
PLAIN = {"observer": "minmax"}
OPTIONS = {"packed": PLAIN, "plain": {**PLAIN, "dialect": "plain"}, "int8 ports": {**PLAIN, "io": "int8"},
           "stock": {**PLAIN, "dialect": "stock"}}  # fmt: skip
LEFT_OUT = "cortex-m0+"  # has the kernels and costs of cortex-m0
SAMPLES, KILLS, ROWS_A_SECOND, SHARDS = 8, 2, 2000, (1, 2, 7, 64)

# The process of the jobs, which writes the time at which each begins and ends.
CHILD = """
import time
from deuteron._sweep.serve import serve
from deuteron._sweep.work import run_job
def run(store, job):
    began = time.time()
    open({log!r}, "a").write(f"{{job.key}} began\\n")
    outcome = run_job(store, job)
    open({log!r}, "a").write(f"{{job.key}} {{'cached' if outcome.was_cached else time.time() - began}}\\n")
    return outcome
serve(run)
"""


class Logged(distributed.WorkerPlugin):
    def __init__(self, log):
        self.log = log

    def setup(self, worker):
        use_log(self.log)


def use_log(log):
    import sys

    from deuteron._sweep import isolate
    isolate.COMMAND = [sys.executable, "-c", CHILD.format(log=str(log))]


def read_log(log):
    """How often each job was computed, wholly or until a kill, and the seconds of those that were finished."""
    began, seconds = collections.Counter(), []
    for line in log.read_text().splitlines() if log.exists() else []:
        key, what = line.split()
        if what in ("began", "cached"):  # a result that was lost on its way to the client is fetched from the cache
            began[key] += 1 if what == "began" else -1
        else:
            seconds.append(float(what))
    return began, seconds


def fixtures(shared, wanted, scratch):
    models, data = {}, {}
    for folder in sorted((shared / "fixtures" / "models").iterdir()):
        if wanted and folder.name not in wanted:
            continue
        shape = json.loads((folder / "model.json").read_text())["inputs"][0]["shape"]
        samples = [np.fromfile(f, "<f4").reshape(shape[1:]) for f in sorted((folder / "inputs").glob("*.bin"))[:SAMPLES]]
        models[folder.name] = folder / "float.pt2"
        np.save(scratch / f"{folder.name}.npy", np.stack(samples))
        data[folder.name] = scratch / f"{folder.name}.npy"
    return models, data


def killed_twice(call, rows, log):
    """The table on two workers, the first of which is killed after a third and two thirds of the jobs, and the seconds that it took."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0) as cluster, \
            distributed.Client(cluster) as client:
        client.register_plugin(Logged(str(log)))
        kills = []

        def kill():
            for k in range(KILLS):
                while len(read_log(log)[1]) < (k + 1) * rows // (KILLS + 1):
                    time.sleep(0.1)
                os.kill(cluster.workers[0].process.pid, signal.SIGKILL)
                kills.append(cluster.workers[0].process.pid)

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        began = time.monotonic()
        table = call(client=client)
        return table, time.monotonic() - began, len(set(kills))


def shards_agree(shared):
    folder = shared / "fixtures" / "models" / "digits_cnn"
    carried = ROOT / "models" / "digits_cnn"
    program = deuteron.compile(carried / "float.pt2", target="cortex-m55", calibration=np.load(carried / "calibrate.npy"))
    inputs, labels = np.load(carried / "test_inputs.npy"), np.load(carried / "test_labels.npy")
    expected = np.fromfile(folder / "test_expected.bin", "<f4").reshape(len(inputs), -1)
    data = deuteron.Data(inputs=inputs, labels=labels, expected=expected)
    figures = [deuteron.evaluate(program, data, shards=n, engine="threads", workers=2) for n in SHARDS]
    began = time.monotonic()
    deuteron.Figures.of(program.run(inputs), labels, expected)
    return all(f == figures[0] for f in figures), figures[0], time.monotonic() - began


def seconds_of(call, repeat):
    """The least seconds of several calls, the least of processor time, and the result."""
    best, busy = float("inf"), float("inf")
    for _ in range(repeat):
        began, began_busy = time.monotonic(), time.process_time()
        result = call()
        best, busy = min(best, time.monotonic() - began), min(busy, time.process_time() - began_busy)
    return best, busy, result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="")
    parser.add_argument("--targets", type=int, default=13)
    parser.add_argument("--options", type=int, default=4)
    parser.add_argument("--shared", type=pathlib.Path, default=ROOT.parent / "shared")
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    targets = [t.name for t in deuteron.targets() if t.name != LEFT_OUT][-given.targets:]
    options = dict(list(OPTIONS.items())[:given.options])
    with tempfile.TemporaryDirectory(prefix="sweep") as folder:
        scratch = pathlib.Path(folder)
        models, data = fixtures(given.shared, set(filter(None, given.models.split(","))), scratch)
        rows = len(models) * len(targets) * len(options)
        two, seconds, kills = killed_twice(lambda **more: deuteron.sweep(models, targets, options, data, cache=scratch / "two", **more), rows,
                                           scratch / "two.log")  # fmt: skip
        began, _ = read_log(scratch / "two.log")
        use_log(scratch / "one.log")
        start = time.monotonic()
        one = deuteron.sweep(models, targets, options, data, cache=scratch / "one", engine="threads", workers=1)
        one_seconds = time.monotonic() - start
        jobs, each = read_log(scratch / "one.log")
        isolate.COMMAND = isolate.COMMAND[:1] + ["-m", "deuteron._sweep.serve"]
        cached_seconds, cached_busy, cached = seconds_of(lambda: deuteron.sweep(models, targets, options, data, cache=scratch / "one"), given.repeat)
        same, merged, figures_seconds = shards_agree(given.shared)
    again = sum(began.values()) - len(jobs)
    rate = rows / cached_seconds
    bars = [
        ("rows of two workers, one killed twice", f"{len(two)} of {rows}, {kills} kills", "all", len(two) == rows and kills == KILLS),
        ("and of one worker", "same" if two.rows == one.rows else "DIFFERENT", "same", two.rows == one.rows),
        ("jobs computed more often than on one worker", again, f"at most {KILLS}", again <= KILLS and began.keys() == jobs.keys()),
        ("rows with an error of a machine", sum((r.rule or "").startswith("sweep.") for r in two), "0",
         not any((r.rule or "").startswith("sweep.") for r in two)),
        (f"figures of {', '.join(map(str, SHARDS))} shards", "identical" if same else "DIFFERENT", "identical", same),
        ("rows a second, all cached", f"{rate:.0f}", f"{ROWS_A_SECOND}", rate >= ROWS_A_SECOND and cached.computed == 0),
    ]
    print("| what | measured | bar |\n| --- | ---: | ---: |")
    for what, measured, bar, is_met in bars:
        print(f"| {what} | {measured}{'' if is_met else ' !'} | {bar} |")
    print(f"\n| constant | |\n| --- | ---: |\n| models, targets, options | {len(models)}, {len(targets)}, {len(options)} |")
    print(f"| rows with an error of the compiler | {sum(r.error is not None for r in one)} |")
    print(f"| seconds on two workers, on one | {seconds:.0f}, {one_seconds:.0f} |")
    print(f"| seconds of a job: median, mean, longest | {np.median(each):.3f}, {np.mean(each):.3f}, {max(each):.2f} |")
    print(f"| seconds of one worker beside its jobs, for each row | {(one_seconds - sum(each)) / len(jobs):.4f} |")
    print(f"| milliseconds of a cached row, and of processor time | {1000 * cached_seconds / rows:.3f}, {1000 * cached_busy / rows:.3f} |")
    print(f"| microseconds of a digits image, run and counted | {1e6 * figures_seconds / merged.samples:.0f} |")
    return 0 if all(bar[3] for bar in bars) else 1


if __name__ == "__main__":
    sys.exit(main())
