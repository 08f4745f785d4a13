# SPDX-License-Identifier: Apache-2.0
"""Counts what a test checks and names what fails."""
import shutil
import sys
import threading
import time

count = failed = 0


def check(condition, what):
    global count, failed
    count += 1
    if not condition:
        failed += 1
        print("FAILED", what)
    return condition


def verdict():
    return f"{count - failed} of {count} checks hold"


def those_there(models, names):
    """Of `names` those that have a folder in `models`; the others are named as left out. None at all is a failure."""
    there = [name for name in names if (models / name).is_dir()]
    if len(there) < len(names):
        print(f"left out: {', '.join(sorted(set(names) - set(there)))}, not in {models}")
    check(there, f"one of {', '.join(names)} is in {models}")
    return there


def leave(code, folder):
    """Ends the test; of one that failed the folder of its files is kept."""
    if code == 0:
        shutil.rmtree(folder)
    else:
        print(f"kept: {folder}")
    sys.exit(code)


def device_of(process):
    """The terminal of QEMU's `-serial pty`, with `-qmp stdio`."""
    device = None
    for line in process.stdout:
        if "redirected to" in line:
            device = line.split("redirected to ")[1].split()[0]
        if device and "QMP" in line:
            return device
    return None


def keep_awake(process):
    """Lets QEMU begin. Its main loop may sleep on without looking at a UART: a command on its stdin, twice a second, wakes it."""
    def ask():
        try:
            process.stdin.write('{"execute": "qmp_capabilities"}\n{"execute": "cont"}\n')
            while process.poll() is None:
                process.stdin.write('{"execute": "query-status"}\n')
                process.stdin.flush()
                time.sleep(0.5)
        except (OSError, ValueError):
            pass  # it has ended

    def drain():
        for _ in process.stdout:
            pass

    for work in (ask, drain):
        threading.Thread(target=work, daemon=True).start()
