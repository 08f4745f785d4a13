# SPDX-License-Identifier: Apache-2.0
"""A row of a sweep's table."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Optional


@dataclass(frozen=True)
class Row:
    """A compilation, and the evaluation of its program. None: not known, or there is no program. docs/reports.md says what the figures mean."""

    model: str
    target: str
    options: str
    error: Optional[str] = None  #: why there is no program, or no evaluation
    rule: Optional[str] = None  #: of that error; "sweep...." is a failure of a machine, which the next sweep tries again
    ram_bytes: Optional[int] = None
    ram_lower_bound_bytes: Optional[int] = None
    scratch_bytes: Optional[int] = None
    constants_bytes: Optional[int] = None
    program_bytes: Optional[int] = None
    file_bytes: Optional[int] = None
    macs: Optional[int] = None
    npu_macs: Optional[int] = None
    cycles: Optional[int] = None  #: predicted for one inference
    cpu_cycles: Optional[int] = None
    npu_cycles: Optional[int] = None
    milliseconds: Optional[float] = None
    npu_operators: Optional[int] = None
    cortex_m_operators: Optional[int] = None
    portable_operators: Optional[int] = None
    sqnr_db: Optional[float] = None  #: on the calibration samples
    held_out_sqnr_db: Optional[float] = None  #: estimated for other samples
    exact: Optional[bool] = None
    samples: Optional[int] = None  #: evaluated
    right: Optional[int] = None
    top1: Optional[float] = None
    agreement: Optional[float] = None
    test_sqnr_db: Optional[float] = None
    test_max_abs_error: Optional[float] = None
    program: Optional[str] = None  #: the SHA-256 of the program


COLUMNS = [f.name for f in fields(Row)]
