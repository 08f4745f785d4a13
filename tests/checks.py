# SPDX-License-Identifier: Apache-2.0
"""Counts what a test checks and names what fails."""
import shutil
import sys

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
