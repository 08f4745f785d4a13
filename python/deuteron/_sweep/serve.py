# SPDX-License-Identifier: Apache-2.0
"""The process that computes jobs, one after the other: a line of JSON in, a line out, after a line that says `ready`.

What crashes or hangs it stops nothing else (isolate.py).
"""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import signal
import sys
from collections.abc import Callable

from .job import Job, Outcome
from .store import Store
from .work import run_job

_PR_SET_PDEATHSIG = 1


def serve(run: Callable[[Store, Job], Outcome] = run_job) -> None:
    die_with_parent()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is no answer
    answers.write("ready\n")
    answers.flush()
    stores: dict[str, Store] = {}
    for line in sys.stdin:
        request = json.loads(line)
        path = request["cache"]
        if path not in stores:
            stores[path] = Store(path)
        outcome = run(stores[path], Job(**request["job"]))
        answers.write(json.dumps(dataclasses.asdict(outcome)) + "\n")
        answers.flush()


def die_with_parent() -> None:
    """However the worker ends, nobody is left who computes for it."""
    parent = os.getppid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent or parent == 1:
        sys.exit(1)


if __name__ == "__main__":
    serve()
