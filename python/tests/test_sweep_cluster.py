# SPDX-License-Identifier: Apache-2.0
"""Sweeps on a Dask cluster that loses workers, its scheduler or its user."""
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import warnings

import cloudpickle
import distributed
import numpy as np
import pytest

import deuteron


FAST = {"observer": "minmax"}
TARGETS = ["cortex-m3", "cortex-m4", "cortex-m33", "cortex-m52", "cortex-m55", "cortex-m85"]
CHILD = str(pathlib.Path(__file__).with_name("sweep_child.py"))
WAIT = 60


@pytest.fixture(scope="module")
def plain(digits, images, tmp_path_factory):
    """The table by one worker."""
    return deuteron.sweep({"digits": digits}, TARGETS, FAST, images, cache=tmp_path_factory.mktemp("cache"), engine="threads", workers=1)


def log_of(folder):
    path = folder / "jobs.log"
    return path.read_text().split() if path.exists() else []


def wait_for(condition):
    end = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


class SlowJobs(distributed.WorkerPlugin):
    def __init__(self, child, log):
        self.child, self.log = child, log

    def setup(self, worker):
        import os
        import sys

        from deuteron._sweep import isolate
        isolate.COMMAND = [sys.executable, self.child]
        os.environ.update(DEUTERON_TEST_LOG=self.log, DEUTERON_TEST_FAULT="slow")


cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers do not have this file


def test_lost_workers(digits, images, plain, tmp_path):
    kills = 2
    log = str(tmp_path / "jobs.log")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, \
            distributed.Client(cluster) as client:
        client.register_plugin(SlowJobs(CHILD, log))

        def kill():
            for k in range(kills):
                wait_for(lambda: len(log_of(tmp_path)) > 2 * k + 1)
                wait_for(lambda: cluster.workers[0].process and cluster.workers[0].process.pid)
                os.kill(cluster.workers[0].process.pid, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        table = deuteron.sweep({"digits": digits}, TARGETS, FAST, images, cache=tmp_path / "cache", client=client)
        killer.join()
    assert table.rows == plain.rows
    ran = log_of(tmp_path)
    assert len(set(ran)) == len(TARGETS) and len(ran) <= len(TARGETS) + kills  # a kill costs the one job that it hit


def test_worker_without_the_package(digits, images, plain, tmp_path):
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    if subprocess.run([sys.executable, "-c", "import deuteron"], env=environment, cwd=tmp_path, stderr=subprocess.DEVNULL).returncode == 0:
        pytest.skip("this interpreter has the package installed")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None, protocol="tcp") as cluster, \
            distributed.Client(cluster) as client:
        words = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler_address, "--no-nanny", "--nthreads", "2", "--no-dashboard"]
        other = subprocess.Popen(words, env=environment, cwd=tmp_path, stderr=subprocess.DEVNULL)
        try:
            client.wait_for_workers(2, timeout=WAIT)
            with pytest.warns(deuteron.DeuteronWarning, match="lacks the package deuteron") as said:
                table = deuteron.sweep({"digits": digits}, TARGETS, FAST, images, cache=tmp_path / "cache", client=client)
            assert table.rows == plain.rows and len([w for w in said if w.category is deuteron.DeuteronWarning]) == 1
            cluster.scale(0)
            wait_for(lambda: len(client.scheduler_info(n_workers=-1)["workers"]) == 1)
            with pytest.warns(deuteron.DeuteronWarning), pytest.raises(deuteron.Error) as caught:
                deuteron.sweep({"digits": digits}, TARGETS, FAST, images, cache=tmp_path / "second", client=client)
            assert caught.value.rule == "sweep.worker" and "wheel" in caught.value.hint
        finally:
            other.kill()
            other.wait()


@pytest.mark.parametrize("build, has_cache, said", [("another", True, "another build"), (None, False, "does not see the cache")])
def test_worker_that_is_otherwise(digits, images, tmp_path, monkeypatch, build, has_cache, said):
    from deuteron._sweep import job, probe
    monkeypatch.setattr(probe, "look", lambda *_: probe.Seen(build or job.build_id(), has_cache))
    with pytest.warns(deuteron.DeuteronWarning, match=said), pytest.raises(deuteron.Error, match="no worker can do the work"):
        deuteron.sweep({"digits": digits}, TARGETS, FAST, images, cache=tmp_path, workers=1)


def test_killed_scheduler(digits, images, plain, tmp_path):
    environment = {**os.environ, "DEUTERON_TEST_LOG": str(tmp_path / "jobs.log"), "DEUTERON_TEST_FAULT": "slow"}
    address = tmp_path / "scheduler.json"
    module = [sys.executable, "-m"]
    quiet = {"env": environment, "cwd": tmp_path, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen([*module, "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", address], **quiet)
    worker = subprocess.Popen([*module, "distributed.cli.dask_worker", "--scheduler-file", address, "--no-nanny", "--nthreads", "1", "--no-dashboard",
                               "--death-timeout", "5"], **quiet)
    try:
        wait_for(address.exists)
        with distributed.Client(scheduler_file=str(address), timeout=5) as client:
            client.wait_for_workers(1, timeout=WAIT)
            client.register_plugin(SlowJobs(CHILD, str(tmp_path / "jobs.log")))

            def kill():
                wait_for(lambda: len(log_of(tmp_path)) > 2)
                scheduler.kill()

            killer = threading.Thread(target=kill)
            killer.start()
            with pytest.raises(deuteron.Error) as caught:
                deuteron.sweep({"digits": digits}, TARGETS, FAST, images, cache=tmp_path / "cache", client=client)
            killer.join()
            assert caught.value.rule == "sweep.scheduler" and "call sweep again" in caught.value.hint
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()
    table = deuteron.sweep({"digits": digits}, TARGETS, FAST, images, cache=tmp_path / "cache", engine="threads")
    assert table.rows == plain.rows and table.cached >= 2


SCRIPT = """
import sys, numpy, deuteron
from deuteron._sweep import isolate
isolate.COMMAND = [sys.executable, sys.argv[4]]
deuteron.sweep({"digits": sys.argv[1]}, sys.argv[2].split(), %r, numpy.load(sys.argv[5]), cache=sys.argv[3], engine=sys.argv[6], workers=2)
""" % FAST


@pytest.mark.parametrize("engine", ["threads", "dask"])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_ended_by_its_user(digits, plain, images, tmp_path, engine, how):
    environment = {**os.environ, "DEUTERON_TEST_LOG": str(tmp_path / "jobs.log"), "DEUTERON_TEST_FAULT": "slow"}
    np.save(tmp_path / "x.npy", images)
    words = [sys.executable, "-c", SCRIPT, str(digits), " ".join(TARGETS), str(tmp_path / "cache"), CHILD, str(tmp_path / "x.npy"), engine]
    user = subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True)
    wait_for(lambda: len(log_of(tmp_path)) > 2)
    began = time.monotonic()
    os.killpg(user.pid, how)
    said = user.communicate(timeout=WAIT)[1]
    assert time.monotonic() - began < 20 and user.returncode != 0  # not the minute that it may wait
    assert how == signal.SIGKILL or "KeyboardInterrupt" in said
    count = len(log_of(tmp_path))
    time.sleep(1)
    assert len(log_of(tmp_path)) == count and not [p for p in pathlib.Path("/proc").glob("[0-9]*") if is_ours(p, tmp_path)]  # nobody computes on
    with warnings.catch_warnings():
        warnings.simplefilter("error", deuteron.DeuteronWarning)  # nothing is half-written
        table = deuteron.sweep({"digits": digits}, TARGETS, FAST, images, cache=tmp_path / "cache", engine="threads")
    assert table.rows == plain.rows and table.cached >= 1


def is_ours(process, folder):
    try:
        return str(folder).encode() in (process / "environ").read_bytes() and process.name != str(os.getpid())
    except OSError:
        return False
