# SPDX-License-Identifier: Apache-2.0
"""Runs jobs by Dask: on workers of this process, or on those of any cluster whose Client is given."""

from __future__ import annotations

import dataclasses
import itertools
import queue
import time
from collections.abc import Iterable
from typing import Any

from .._diagnostics import Error, error
from .engine import Done, pump
from .isolate import run_isolated
from .job import Job, Outcome
from .need import need
from .probe import Probe

_TRIES = 10  # of a job whose worker is lost
_TASKS_FOR_EACH_THREAD = 3  # one computes, two are on their way
_LOOK_SECONDS = 2.0
# Threads of this process, without pages that others on the machine could read.
_HERE = {"processes": False, "memory_limit": 0, "dashboard_address": None, "worker_dashboard_address": None}
_numbers = itertools.count()


def run_on_worker(cache: str, job: dict[str, Any], seconds: float) -> dict[str, Any]:
    """The task. Its worker may be a thread of the user's process, which is why the job runs in another one."""
    worker = need("distributed", "a worker").get_worker()
    outcome = run_isolated(cache, Job(**job), seconds, lambda: worker.status.name in ("closing", "closed", "failed"))
    return dataclasses.asdict(outcome)


class DaskEngine:
    """`client` None: a LocalCluster of `workers` threads, from the first job to the last."""

    def __init__(self, cache: str, workers: int, job_seconds: float, client: Any = None) -> None:
        self._cache, self._workers, self._seconds, self._given = cache, workers, job_seconds, client

    def run(self, jobs: Iterable[Job], done: Done) -> None:
        distributed = need("distributed", 'engine="dask"')
        if self._given is not None:
            return Run(self._given, self._cache, self._seconds).run(jobs, done)
        with (
            distributed.LocalCluster(n_workers=1, threads_per_worker=self._workers, **_HERE) as cluster,
            distributed.Client(cluster) as client,
        ):
            Run(client, self._cache, self._seconds).run(jobs, done)


class Run:
    """One run. A lost worker's jobs are given to others, and a worker that cannot work is passed over."""

    def __init__(self, client: Any, cache: str, seconds: float) -> None:
        self._client, self._cache, self._seconds = client, cache, seconds
        self._finished: queue.Queue[Any] = queue.Queue()
        self._running: dict[Any, tuple[Job, int, list[str]]] = {}  # by future: the job, its try, the only workers that may have it (empty: all)
        self._probe = Probe(client, cache)
        self._looked = 0.0
        self._known: dict[str, int] = {}
        self._only: list[str] = []

    def run(self, jobs: Iterable[Job], done: Done) -> None:
        self._look()
        try:
            pump(jobs, done, self._room, lambda job: self._submit(job, 1), self._take)
        except Exception as e:
            if self._client.status == "running" or isinstance(e, Error):
                raise
            raise scheduler_lost() from e
        finally:
            if self._running:
                try:
                    self._client.cancel(list(self._running))
                except Exception:  # the scheduler has gone
                    pass

    def _room(self) -> int:
        return max(1, _TASKS_FOR_EACH_THREAD * sum(n for address, n in self._known.items() if not self._only or address in self._only))

    def _submit(self, job: Job, attempt: int) -> None:
        key = f"deuteron-{job.kind}-{job.key[:16]}-{next(_numbers)}"
        where = {"workers": self._only} if self._only else {}
        future = self._client.submit(run_on_worker, self._cache, dataclasses.asdict(job), self._seconds, key=key, pure=False, **where)
        self._running[future] = (job, attempt, list(self._only))
        future.add_done_callback(self._finished.put)

    def _take(self) -> tuple[Job, Outcome]:
        while True:
            if time.monotonic() - self._looked > _LOOK_SECONDS:
                self._look()
            try:
                future = self._finished.get(timeout=_LOOK_SECONDS)
            except queue.Empty:
                continue
            if future not in self._running:
                continue
            job, attempt, _ = self._running.pop(future)
            try:
                outcome = future.result()
                return job, Outcome(**{**outcome, "warnings": tuple(outcome["warnings"])})
            except Exception as e:  # the task, or its result on the way here, was lost: nothing that a job does raises
                failure = e
            while self._client.status == "connecting":  # it tries for as long as the client's `timeout`
                time.sleep(0.1)
            self._look()  # a worker that cannot even load the task is found out here
            if attempt == _TRIES:
                return job, Outcome.failed("sweep.worker", f"no worker has finished it in {_TRIES} tries; the last: {failure!r}")
            self._submit(job, attempt + 1)

    def _look(self) -> None:
        """Who is there, and who of them can work."""
        if self._client.status not in ("running", "connecting"):
            raise scheduler_lost()
        self._looked = time.monotonic()
        if self._client.status == "connecting":
            return
        try:
            there = {address: w["nthreads"] for address, w in self._client.scheduler_info(n_workers=-1).get("workers", {}).items()}
            if there.keys() == self._known.keys():
                return
            able = self._probe.able(there)
        except (OSError, TimeoutError) as e:
            raise scheduler_lost() from e
        if there and not able and all(address in self._probe.asked for address in there):
            raise self._probe.unable()
        self._known = {a: n for a, n in there.items() if a in able} if able else there
        self._only = able if len(able) < len(there) else []
        for future, (job, attempt, only) in list(self._running.items()):
            if only and not set(only) & there.keys():  # all of them have gone: nobody else may take it
                del self._running[future]
                self._client.cancel([future])
                self._submit(job, attempt)


def scheduler_lost() -> Exception:
    return error("deuteron.sweep", "the scheduler is gone", "sweep.scheduler", "what was finished is in the cache: call sweep again")
