# SPDX-License-Identifier: Apache-2.0
"""The process of a sweep's jobs, with faults put in: what DEUTERON_TEST_FAULT names happens to jobs for the target cortex-m4.

Each job that begins is a line of DEUTERON_TEST_LOG.
"""
import errno
import os
import signal
import sys
import time

from deuteron._sweep import files
from deuteron._sweep.serve import serve
from deuteron._sweep.work import run_job


def crash():
    print("the reason of the crash", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGSEGV)


def disk_full(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


def crash_once():
    mark = os.environ["DEUTERON_TEST_LOG"] + ".crashed"
    if not os.path.exists(mark):
        open(mark, "w").close()
        crash()


FAULTS = {
    "crash": crash,
    "crash once": crash_once,
    "hang": lambda: time.sleep(3600),
    "slow": lambda: time.sleep(0.5),
    "": lambda: None,
}


def run(store, job):
    fault = os.environ.get("DEUTERON_TEST_FAULT", "")
    if log := os.environ.get("DEUTERON_TEST_LOG"):
        with open(log, "a") as file:
            file.write(f"{job.key}\n")
    if fault == "disk full":
        files.os.replace = disk_full
    elif fault == "slow" or job.what.get("target") == "cortex-m4":
        FAULTS[fault]()
    return run_job(store, job)


if __name__ == "__main__":
    serve(run)
