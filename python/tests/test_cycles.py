# SPDX-License-Identifier: Apache-2.0
"""A process that compiles and runs again and again, in any language of the system."""
import os
import shutil
import subprocess
import sys

import pytest

# Beside work that keeps all cores busy, threads end in any order: what a library keeps for each then shows.
CYCLES = """
import os, subprocess, sys
import numpy as np
import deuteron

def megabytes():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024

images = np.load(sys.argv[2])[:8]
busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
try:
    for cycle in range(12):
        for target in "cortex-m55", "imxrt700cm":
            deuteron.compile(sys.argv[1], target=target, calibration=images).run(images[0])
        if cycle == 3:
            begin = megabytes()
    print(megabytes() - begin)
finally:
    for process in busy:
        process.kill()
"""

LANGUAGE = """
import locale, sys
import numpy as np
import deuteron

locale.setlocale(locale.LC_ALL, sys.argv[3])
images = np.load(sys.argv[2])[:8]
program = deuteron.compile(sys.argv[1], target="imxrt700cm", calibration=images)
program.save(sys.argv[4])
np.save(sys.argv[4] + ".npy", program.run(images[0]))
"""


def run(script, digits, *words, **more):
    command = [sys.executable, "-c", script, digits, digits.parent / "calibrate.npy", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def test_memory_settles(digits):
    assert float(run(CYCLES, digits)) < 5, "MB that 16 compilations left behind"


@pytest.mark.parametrize("language", ["de_DE", "tr_TR"])  # a comma divides decimals; i and I are no pair
def test_language_of_the_process_changes_nothing(digits, tmp_path, language):
    made = shutil.which("localedef") and subprocess.run(
        ["localedef", "-i", language, "-f", "UTF-8", tmp_path / f"{language}.UTF-8"], capture_output=True).returncode == 0
    if not made:
        pytest.skip("localedef cannot make the language")
    for name in "C", f"{language}.UTF-8":
        environment = {**os.environ, "LOCPATH": str(tmp_path), "LC_ALL": name}
        run(LANGUAGE, digits, name, tmp_path / f"{name}.pte", env=environment)
    for end in ".pte", ".pte.npy":
        assert (tmp_path / f"C{end}").read_bytes() == (tmp_path / f"{language}.UTF-8{end}").read_bytes()
