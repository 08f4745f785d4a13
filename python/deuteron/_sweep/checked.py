# SPDX-License-Identifier: Apache-2.0
"""What a result of each kind must hold. Anybody who writes to a cache can forge one, so every field is looked at before it is used."""

from __future__ import annotations

import math
import re
import typing
from typing import Any

from .figures import Figures, summary_of
from .row import Row

_MOST = 1 << 63
_MOST_DIGITS, _MOST_EXPONENT = 1200, 2400  # of an exact sum of squares of doubles
_SHA = re.compile(r"[0-9a-f]{64}")
_SUM = re.compile(r"-?0x[0-9a-f]+")

#: Columns of a row that a compilation fills. Those of the second line may be unknown.
_KNOWN = ("ram_bytes", "ram_lower_bound_bytes", "scratch_bytes", "constants_bytes", "program_bytes", "file_bytes", "macs", "npu_macs",
          "npu_operators", "cortex_m_operators", "portable_operators", "program")  # fmt: skip
_MAYBE = ("cycles", "cpu_cycles", "npu_cycles", "milliseconds", "sqnr_db", "held_out_sqnr_db", "exact")
_TYPES = {name: [t for t in typing.get_args(hint) if t is not type(None)][0] for name, hint in typing.get_type_hints(Row).items() if typing.get_args(hint)}


def is_of(kind: type, value: Any) -> bool:
    if kind is float:
        return is_of(int, value) or isinstance(value, float) and math.isfinite(value)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool) and -_MOST <= value < _MOST
    return isinstance(value, kind)


def is_error(value: dict[str, Any]) -> bool:
    return value.keys() == {"error", "rule"} and all(isinstance(v, str) and v for v in value.values())


def is_compiled(value: dict[str, Any]) -> bool:
    if is_error(value):
        return True
    if value.keys() != {*_KNOWN, *_MAYBE}:
        return False
    typed = all(is_of(_TYPES[name], v) or v is None and name in _MAYBE for name, v in value.items())
    return typed and _SHA.fullmatch(value["program"]) is not None


def is_sum(value: Any) -> bool:
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[0], str) or not is_of(int, value[1]):
        return False
    return len(value[0]) <= _MOST_DIGITS and _SUM.fullmatch(value[0]) is not None and abs(value[1]) <= _MOST_EXPONENT


def is_figures(value: Any) -> bool:
    counts = ("samples", "labelled", "right", "expected", "agreeing", "not_finite")
    if not isinstance(value, dict) or value.keys() != {*counts, "signal", "noise", "max_abs_error", "histogram"}:
        return False
    histogram, most = value["histogram"], value["max_abs_error"]
    if not isinstance(histogram, dict) or not all(re.fullmatch(r"0|-?[1-9][0-9]{0,3}", k) and is_of(int, v) and v > 0 for k, v in histogram.items()):
        return False
    if not all(is_of(int, value[name]) and value[name] >= 0 for name in counts) or not all(is_sum(value[name]) for name in ("signal", "noise")):
        return False
    return (most is None or is_of(float, most) and most >= 0) and value["right"] <= value["labelled"] and value["agreeing"] <= value["expected"]


def is_shard(value: dict[str, Any]) -> bool:
    return is_error(value) or is_figures(value)


def is_evaluation(value: dict[str, Any]) -> bool:
    return is_figures(value.get("figures")) and value == summary_of(Figures.from_json(value["figures"]))


#: By the kind of a job.
CHECKS = {"compile": is_compiled, "evaluate": is_shard}
