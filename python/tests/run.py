# SPDX-License-Identifier: Apache-2.0
"""The tests of the Python package: types, then pytest.

    run.py FOLDER PROGRAM [ARGUMENTS OF PYTEST]

FOLDER holds the built package `deuteron` (build/python), PROGRAM is the command line program of the same build. Exit code 77: skipped.
"""
import importlib.util
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEEDED = ("distributed", "fsspec", "mypy", "numpy", "optuna", "pyarrow", "pytest", "torch", "torchao")


def main():
    folder, program, *rest = sys.argv[1:]
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing or not list(pathlib.Path(folder, "deuteron").glob("_core*.so")):
        why = f"{sys.executable} lacks {', '.join(missing)}" if missing else f"{folder} has no module: build the target python_package"
        print(f"skipped: {why} (python/requirements.txt)")
        return 77
    environment = {**os.environ, "PYTHONPATH": folder, "DEUTERON_PROGRAM": program, "PYTHONDONTWRITEBYTECODE": "1"}
    cache = str(pathlib.Path(folder, "mypy_cache"))
    status = subprocess.call([sys.executable, "-m", "mypy", "--cache-dir", cache], cwd=ROOT, env=environment)
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib", "python/tests", *rest]
    return subprocess.call(pytest, cwd=ROOT, env=environment) or status


if __name__ == "__main__":
    sys.exit(main())
