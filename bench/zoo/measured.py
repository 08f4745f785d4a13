# SPDX-License-Identifier: Apache-2.0
"""Runs a command under limits and writes what it took: measured.py SECONDS BYTES RESULT.json COMMAND..

A process of its own, because Linux counts the memory of the process that starts a command as that command's.
"""
import json
import os
import resource
import subprocess
import sys
import time

GRACE = 4  # wall seconds for each second of the limit: the machine may be busy


def main():
    seconds, space, result, *command = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
    resource.setrlimit(resource.RLIMIT_AS, (int(space), int(space)))
    began = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=GRACE * int(seconds))
        status, text = done.returncode, done.stderr
    except subprocess.TimeoutExpired:
        status, text = -24, "no end"
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(result, "w") as out:
        json.dump({"status": status, "stderr": text[-20000:], "seconds": used.ru_utime + used.ru_stime, "wall": time.monotonic() - began,
                   "bytes": used.ru_maxrss * 1024}, out)
    return 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
