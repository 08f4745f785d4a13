# SPDX-License-Identifier: Apache-2.0
"""What runs jobs. An engine runs each once, as they come, and hands back what came of it."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from .isolate import run_isolated
from .job import Job, Outcome

#: Told of a finished job; gives the jobs that follow from it.
Done = Callable[[Job, Outcome], Iterable[Job]]


class Engine(Protocol):
    def run(self, jobs: Iterable[Job], done: Done) -> None: ...


def pump(jobs: Iterable[Job], done: Done, room: Callable[[], int], submit: Callable[[Job], None], take: Callable[[], tuple[Job, Outcome]]) -> None:
    """Keeps `room()` jobs on their way until none is left; jobs that follow from others go first."""
    source, following, running = iter(jobs), deque[Job](), 0
    while True:
        while running < room():
            job = following.popleft() if following else next(source, None)
            if job is None:
                break
            submit(job)
            running += 1
        if running == 0:
            return
        finished, outcome = take()
        running -= 1
        following.extend(done(finished, outcome))


class ThreadEngine:
    """This machine, without any package beside this one: a thread for each worker, whose jobs run in a process of its own."""

    def __init__(self, cache: str, workers: int, job_seconds: float) -> None:
        self._cache, self._workers, self._seconds = cache, workers, job_seconds

    def run(self, jobs: Iterable[Job], done: Done) -> None:
        finished: queue.Queue[tuple[Job, Outcome]] = queue.Queue()
        over = threading.Event()

        def work(job: Job) -> None:
            try:
                outcome = run_isolated(self._cache, job, self._seconds, over.is_set)
            except Exception as e:
                outcome = Outcome.failed("sweep.worker", f"{type(e).__name__}: {e}")
            finished.put((job, outcome))

        pool = ThreadPoolExecutor(self._workers)
        try:
            pump(jobs, done, lambda: self._workers, lambda job: void(pool.submit(work, job)), finished.get)
        finally:
            over.set()  # Ctrl-C: the processes end within a second
            pool.shutdown(wait=False, cancel_futures=True)


def void(_: object) -> None:
    pass
