# SPDX-License-Identifier: Apache-2.0
"""Runs a job in a child process of the calling thread, with a time limit: a job that crashes or hangs becomes an outcome."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable

from .. import __file__ as package_file
from .job import Job, Outcome

#: Run by a child; a test puts another in its place.
COMMAND = [sys.executable, "-m", "deuteron._sweep.serve"]
_TICK_SECONDS = 0.25
_START_SECONDS = 300.0
_TRIES = 2  # a process may be killed because others have taken the memory
_here = threading.local()  # a child dies with its thread, so no other thread may use it


class Child:
    def __init__(self) -> None:
        package = str(pathlib.Path(package_file).parents[1])
        paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
        self._said = tempfile.TemporaryFile()
        self._is_ready = False
        # A session of its own: Ctrl-C is for the parent, whose end is the child's.
        self._process = subprocess.Popen(
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )  # fmt: skip

    def ask(self, request: str, seconds: float, is_over: Callable[[], bool]) -> str | None:
        """The answer; None: the time is over. EOFError: the process has ended; InterruptedError: nobody waits for the answer any more."""
        assert self._process.stdin
        if not self._is_ready:  # the time to begin is none of the job's
            self._is_ready = self._line(_START_SECONDS, is_over) is not None
            if not self._is_ready:
                raise EOFError
        try:
            self._process.stdin.write(request.encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise EOFError from None
        return self._line(seconds, is_over)

    def _line(self, seconds: float, is_over: Callable[[], bool]) -> str | None:
        assert self._process.stdout
        answer = b""
        end = time.monotonic() + seconds
        with selectors.DefaultSelector() as ready:
            ready.register(self._process.stdout, selectors.EVENT_READ)
            while not answer.endswith(b"\n"):
                left = end - time.monotonic()
                if left <= 0:
                    return None
                if is_over():
                    raise InterruptedError
                if not ready.select(min(left, _TICK_SECONDS)):
                    continue
                piece = os.read(self._process.stdout.fileno(), 1 << 16)
                if not piece:
                    raise EOFError
                answer += piece
        return answer.decode()

    def end(self) -> str:
        """Ends the process; how it ended, and the last that it said."""
        try:
            status = self._process.wait(0.2)  # it may be ending by itself
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe
            try:
                pipe.close()
            except BrokenPipeError:
                pass
        self._said.seek(0)
        lines = self._said.read()[-2000:].decode(errors="replace").strip().splitlines()
        self._said.close()
        how = f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"
        return f"{how}: {lines[-1]}" if lines else how

    def __del__(self) -> None:
        process: subprocess.Popen[bytes] | None = getattr(self, "_process", None)  # none where it could not start
        if process and process.poll() is None:
            process.kill()
            process.wait()
            self._said.close()


def run_isolated(cache: str, job: Job, seconds: float, is_over: Callable[[], bool] = lambda: False) -> Outcome:
    request = json.dumps({"cache": cache, "job": dataclasses.asdict(job)})
    ended = ""
    for _ in range(_TRIES):
        child: Child | None = getattr(_here, "child", None)
        if child is None:
            child = _here.child = Child()
        try:
            answer = child.ask(request, seconds, is_over)
        except EOFError:
            _here.child = None
            ended = child.end()
            continue
        except BaseException:
            _here.child = None
            child.end()
            raise
        if answer is not None:
            outcome = json.loads(answer)
            return Outcome(**{**outcome, "warnings": tuple(outcome["warnings"])})
        _here.child = None
        child.end()
        return Outcome.failed("sweep.hangs", f"took more than {seconds:g} s, which is the limit (job_seconds), and was ended")
    return Outcome.failed("sweep.crashed", f"the process that computed it ended {_TRIES} times, with {ended}; if that is no lack of memory, please report it")
