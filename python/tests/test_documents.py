# SPDX-License-Identifier: Apache-2.0
"""Examples of docstrings run. Those of pages: tests/documents.py."""
import doctest
import importlib
import pathlib
import pkgutil

import numpy as np
import pytest

import deuteron

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEFT_OUT = ("deuteron.__main__", "deuteron._core", "deuteron.libdeuteron")
MODULES = [m.name for m in pkgutil.walk_packages(deuteron.__path__, "deuteron.") if m.name not in LEFT_OUT]


def globs():
    return {"demo_model": str(ROOT / "models/digits_cnn/float.pt2"), "demo_images": np.load(ROOT / "models/digits_cnn/calibrate.npy")}


@pytest.mark.parametrize("name", ["deuteron", *MODULES])
def test_docstrings(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    module = importlib.import_module(name)
    result = doctest.testmod(module, extraglobs=globs(), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    with_examples = {t.name.split(".")[-1] for m in MODULES for t in finder.find(importlib.import_module(m)) if t.examples}
    assert {"compile", "load", "targets", "ops", "options", "Program", "Error", "sweep", "evaluate"} <= with_examples
