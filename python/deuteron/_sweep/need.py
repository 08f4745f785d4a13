# SPDX-License-Identifier: Apache-2.0
"""Packages that only sweeps need: imported where they are used, with an error that says how to have them."""

from __future__ import annotations

import importlib
from typing import Any


def need(module: str, what: str) -> Any:
    """The module, or an ImportError with the command that installs it.

    >>> need("no_such_package.part", "a table in Parquet")
    Traceback (most recent call last):
        ...
    ImportError: a table in Parquet needs the package no_such_package: pip install 'deuteron[sweep]'
    """
    package = module.split(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as e:
        if e.name is None or e.name.split(".")[0] != package:
            raise  # the package is there and lacks something itself: that is what must be said
        raise ImportError(f"{what} needs the package {package}: pip install 'deuteron[sweep]'", name=package) from e
