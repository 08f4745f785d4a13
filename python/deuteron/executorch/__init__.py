# SPDX-License-Identifier: Apache-2.0
"""Deuteron in ExecuTorch's flow.

torch, torchao and executorch are read where one of these names is asked for.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .backend import DeuteronBackend
    from .gap import DeuteronComparator
    from .partitioner import DeuteronPartitioner
    from .quantizer import DeuteronQuantizer, freeze_statistics
    from .recipes import DeuteronRecipeType, get_imxrt700cm_recipe
    from .whole import Compiled, compile

_HOME = {
    "Compiled": "whole",
    "DeuteronBackend": "backend",
    "DeuteronComparator": "gap",
    "DeuteronPartitioner": "partitioner",
    "DeuteronQuantizer": "quantizer",
    "DeuteronRecipeType": "recipes",
    "compile": "whole",
    "freeze_statistics": "quantizer",
    "get_imxrt700cm_recipe": "recipes",
}

__all__ = [
    "Compiled",
    "DeuteronBackend",
    "DeuteronComparator",
    "DeuteronPartitioner",
    "DeuteronQuantizer",
    "DeuteronRecipeType",
    "compile",
    "freeze_statistics",
    "get_imxrt700cm_recipe",
]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if _HOME[name] != "quantizer":
        from .version import check_version

        check_version()
    return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
