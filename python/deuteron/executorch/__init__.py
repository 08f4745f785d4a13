# SPDX-License-Identifier: Apache-2.0
"""Deuteron in ExecuTorch's flow. torch, torchao and executorch are read where one of these names is
asked for."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .backend import DeuteronBackend
    from .partitioner import DeuteronPartitioner
    from .quantizer import DeuteronQuantizer, freeze_statistics

_HOME = {
    "DeuteronBackend": "backend",
    "DeuteronPartitioner": "partitioner",
    "DeuteronQuantizer": "quantizer",
    "freeze_statistics": "quantizer",
}

__all__ = ["DeuteronBackend", "DeuteronPartitioner", "DeuteronQuantizer", "freeze_statistics"]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
