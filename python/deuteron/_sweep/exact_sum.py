# SPDX-License-Identifier: Apache-2.0
"""Sums of doubles without rounding, so that their order and their division into shards do not matter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._data import Array

_MANTISSA_BITS = 53
_LOW_BITS = 26  # the halves of 2^36 mantissas can be added in 64 bits


@dataclass(frozen=True)
class ExactSum:
    """integer * 2^exponent; the integer is odd or 0, so equal sums are equal objects.

    >>> ExactSum.of(np.array([1e300, 1.0, -1e300])).value
    1.0
    >>> ExactSum.of(np.array([0.1] * 10)) == ExactSum.of(np.array([0.1] * 7)) + ExactSum.of(np.array([0.1] * 3))
    True
    """

    integer: int = 0
    exponent: int = 0

    @staticmethod
    def of(values: Array) -> ExactSum:
        """The sum of finite numbers."""
        fractions, exponents = np.frexp(np.asarray(values, np.float64).reshape(-1))
        mantissas = np.ldexp(fractions, _MANTISSA_BITS).astype(np.int64)
        kinds, which = np.unique(exponents, return_inverse=True)
        high, low = np.zeros(len(kinds), np.int64), np.zeros(len(kinds), np.int64)
        np.add.at(high, which, mantissas >> _LOW_BITS)
        np.add.at(low, which, mantissas & ((1 << _LOW_BITS) - 1))
        total = ExactSum()
        for kind, h, l in zip(kinds.tolist(), high.tolist(), low.tolist()):
            total += ExactSum((h << _LOW_BITS) + l, kind - _MANTISSA_BITS)
        return total

    def __add__(self, other: ExactSum) -> ExactSum:
        exponent = min(self.exponent, other.exponent)
        integer = (self.integer << (self.exponent - exponent)) + (other.integer << (other.exponent - exponent))
        if integer == 0:
            return ExactSum()
        zeros = (integer & -integer).bit_length() - 1
        return ExactSum(integer >> zeros, exponent + zeros)

    @property
    def value(self) -> float:
        """Rounded once."""
        return float(self.integer << self.exponent) if self.exponent >= 0 else self.integer / (1 << -self.exponent)

    def to_json(self) -> list[str | int]:
        return [hex(self.integer), self.exponent]

    @staticmethod
    def from_json(value: list[str | int]) -> ExactSum:
        return ExactSum(int(str(value[0]), 16), int(value[1]))
