# SPDX-License-Identifier: Apache-2.0
"""Deuteron makes a trained PyTorch model run as int8 on a microcontroller.

>>> import deuteron
>>> program = deuteron.compile(demo_model, target="cortex-m55", calibration=demo_images)
>>> program.report.ram_bytes
2176
"""

from typing import TYPE_CHECKING, Any

from ._compile import analyze, compile, doctor, inspect, ops, targets
from ._core import __version__
from ._data import InputSpec
from ._diagnostics import DeuteronWarning, Diagnostic, Error, InternalError, UsageError
from ._options import Option, options
from ._program import Program, load
from ._report import Comparison, Evaluation, Finding, KernelTime, Report, Rows, Target, TargetOperator
from ._sweep.data import Data
from ._sweep.figures import Figures
from ._sweep.search import Candidate, Search, search
from ._sweep.sweep import evaluate, sweep
from ._sweep.row import Row
from ._sweep.table import Table

if TYPE_CHECKING:
    from .executorch.quantizer import DeuteronQuantizer as Quantizer

__all__ = [
    "Candidate",
    "Comparison",
    "Data",
    "DeuteronWarning",
    "Diagnostic",
    "Error",
    "Evaluation",
    "Figures",
    "Finding",
    "InputSpec",
    "InternalError",
    "KernelTime",
    "Option",
    "Program",
    "Quantizer",
    "Report",
    "Row",
    "Rows",
    "Search",
    "Table",
    "Target",
    "TargetOperator",
    "UsageError",
    "__version__",
    "analyze",
    "compile",
    "doctor",
    "evaluate",
    "inspect",
    "load",
    "ops",
    "options",
    "search",
    "sweep",
    "targets",
]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name == "Quantizer":  # torch and torchao are read where it is asked for
        from .executorch.quantizer import DeuteronQuantizer as Quantizer

        return Quantizer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
