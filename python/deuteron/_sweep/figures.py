# SPDX-License-Identifier: Apache-2.0
"""What an evaluation counts and adds up. Figures of shards merge to those of the whole, to the last bit."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any, Optional

import numpy as np

from .._data import Array
from .exact_sum import ExactSum


@dataclass(frozen=True)
class Figures:
    """Accuracy of a program on samples. Counts are whole numbers; sums are exact over squares that are each rounded once to a double.

    >>> outputs, expected = np.array([[1.0, 3.0], [2.5, 0.0]]), np.array([[1.0, 2.0], [2.0, 0.0]])
    >>> whole = Figures.of(outputs, labels=np.array([1, 1]), expected=expected)
    >>> whole.top1, whole.agreement, whole.max_abs_error, whole.histogram
    (0.5, 1.0, 1.0, {-1: 1, 0: 1})
    >>> whole == Figures.of(outputs[:1], np.array([1]), expected[:1]) + Figures.of(outputs[1:], np.array([1]), expected[1:])
    True
    """

    samples: int = 0
    labelled: int = 0  #: samples that have a label
    right: int = 0  #: of them, those whose largest output (the first of equal ones) is the label
    expected: int = 0  #: samples whose expected output is known
    agreeing: int = 0  #: of them, those whose largest output is at the same place
    not_finite: int = 0  #: values that are no numbers, here or in what was expected; left out below
    signal: ExactSum = field(default_factory=ExactSum)  #: of the squares of what was expected
    noise: ExactSum = field(default_factory=ExactSum)  #: of the squares of errors
    max_abs_error: Optional[float] = None
    histogram: dict[int, int] = field(default_factory=dict)  #: k: errors with 2^k <= |error| < 2^(k+1); errors of zero are not in it

    @staticmethod
    def of(outputs: Array, labels: Optional[Array] = None, expected: Optional[Array] = None) -> Figures:
        """outputs and expected [samples, ...], labels [samples]."""
        outputs = outputs.reshape(len(outputs), -1)
        best = outputs.argmax(axis=1)
        right = agreeing = 0
        known: dict[str, Any] = {}
        if labels is not None:
            right = int((best == labels.reshape(-1)).sum())
        if expected is not None:
            expected = expected.reshape(len(outputs), -1)
            agreeing = int((best == expected.argmax(axis=1)).sum())
            if outputs.dtype.kind == "f":  # an int8 output has steps of its own
                known = errors_of(outputs, expected)
        labelled, compared = len(outputs) * (labels is not None), len(outputs) * (expected is not None)
        return Figures(len(outputs), labelled, right, compared, agreeing, **known)

    def __add__(self, other: Figures) -> Figures:
        def merged(name: str, a: Any, b: Any) -> Any:
            if name == "histogram":
                return {k: a.get(k, 0) + b.get(k, 0) for k in sorted(a.keys() | b.keys())}
            if name == "max_abs_error":
                return max((v for v in (a, b) if v is not None), default=None)
            return a + b

        return Figures(**{f.name: merged(f.name, getattr(self, f.name), getattr(other, f.name)) for f in fields(self)})

    @property
    def top1(self) -> Optional[float]:
        return self.right / self.labelled if self.labelled else None

    @property
    def agreement(self) -> Optional[float]:
        return self.agreeing / self.expected if self.expected else None

    @property
    def sqnr_db(self) -> Optional[float]:
        """Signal to noise; None: not known, or equal."""
        if self.noise.integer == 0 or self.signal.integer == 0:
            return None
        return 10 * math.log10(self.signal.value / self.noise.value)

    def to_json(self) -> dict[str, Any]:
        sums = {"signal": self.signal.to_json(), "noise": self.noise.to_json()}
        return {**{f.name: getattr(self, f.name) for f in fields(self)}, **sums, "histogram": {str(k): v for k, v in self.histogram.items()}}

    @staticmethod
    def from_json(value: dict[str, Any]) -> Figures:
        sums = {name: ExactSum.from_json(value[name]) for name in ("signal", "noise")}
        return Figures(**{**value, **sums, "histogram": {int(k): v for k, v in value["histogram"].items()}})


def errors_of(outputs: Array, expected: Array) -> dict[str, Any]:
    wanted = expected.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        error = np.abs(outputs.astype(np.float64) - wanted)
        finite = np.isfinite(error * error) & np.isfinite(wanted * wanted)
    error, wanted = error[finite], wanted[finite]
    powers, counts = np.unique(np.frexp(error[error != 0])[1] - 1, return_counts=True)
    return {
        "not_finite": int(finite.size - finite.sum()),
        "signal": ExactSum.of(wanted * wanted),
        "noise": ExactSum.of(error * error),
        "max_abs_error": float(error.max()) if error.size else None,
        "histogram": dict(zip(powers.tolist(), counts.tolist())),
    }


def summary_of(figures: Figures) -> dict[str, Any]:
    return {
        "samples": figures.samples,
        "right": figures.right if figures.labelled else None,
        "top1": figures.top1,
        "agreement": figures.agreement,
        "test_sqnr_db": figures.sqnr_db,
        "test_max_abs_error": figures.max_abs_error,
        "figures": figures.to_json(),
    }
