# SPDX-License-Identifier: Apache-2.0
"""Which ExecuTorch this package is known to work with."""

from __future__ import annotations

import functools
import importlib.metadata
import warnings

from .._diagnostics import DeuteronWarning, Diagnostic, error

KNOWN = "1.5"  # pyproject.toml has the same


@functools.cache
def check_version() -> None:
    hint = 'pip install "deuteron[executorch]"'
    try:
        found = importlib.metadata.version("executorch")
    except importlib.metadata.PackageNotFoundError:
        raise error("executorch", "is not installed", "executorch.missing", hint) from None
    if found != KNOWN and not found.startswith(KNOWN + "."):
        what = f"version {found} is not known here; what is known to work is {KNOWN}"
        said = Diagnostic("warning", "executorch", what, rule="executorch.version", hint=hint)
        warnings.warn(DeuteronWarning(str(said)), stacklevel=3)
