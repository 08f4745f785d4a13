# SPDX-License-Identifier: Apache-2.0
"""Samples of a sweep: what calibrates a model and what its programs are evaluated on, as contents with a hash."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from .. import _core
from .._data import Array, is_path, is_tensor, path_bytes, read_samples, specs_of, to_numpy
from .._diagnostics import error, tell
from .._memory_file import MemoryFiles


@dataclass(frozen=True)
class Data:
    """What belongs to a model. `calibration` as in `deuteron.compile`; no folder, whose content nobody could name by a hash.

    `inputs` are samples to evaluate on, [samples, ...] for one input or a tuple of such arrays; `labels` class numbers; `expected` the
    first output of the float model. Each is an array, a tensor or the path of a `.npy`, which is read in pieces.
    """

    calibration: Any = None
    inputs: Any = None
    labels: Any = None
    expected: Any = None
    has_labels: bool = False  #: of the calibration: the last member of each tuple is a label and is left out


def calibration_contents(data: Data, model: str) -> list[bytes]:
    """The files that `--calibrate` takes. `model`: the path of what they calibrate."""
    given = data.calibration
    if given is None:
        return []
    paths = [given] if is_path(given) else given if isinstance(given, (list, tuple)) and given and all(is_path(g) for g in given) else []
    if paths:
        return [read_whole(os.fspath(path)) for path in paths]
    with MemoryFiles() as files:
        found, _ = read_samples(given, input_specs(model), data.has_labels, "calibration", files)
        return [read_whole(path) for path in found]


def input_specs(model: str) -> list[Any]:
    raw, _, diagnostics = _core.model_inputs(path_bytes(model))
    tell(diagnostics)
    return specs_of(raw)


def read_whole(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except IsADirectoryError:
        hint = "give the samples as an array or a .npy"
        raise error(path, "is a folder, and a sweep takes files and arrays", "sweep.folder", hint) from None
    except OSError as e:
        raise error(path, f"cannot be read: {e.strerror}", "file.unreadable") from e


@dataclass(frozen=True)
class Shard:
    """Samples as `.npy` files."""

    inputs: list[bytes]
    labels: Optional[bytes]
    expected: Optional[bytes]


class TestSamples:
    """The samples that programs are evaluated on. `key` does not depend on how they are divided."""

    def __init__(self, data: Data) -> None:
        inputs = data.inputs if isinstance(data.inputs, tuple) else (data.inputs,)
        self._inputs = [opened(one, f"inputs, {i}") for i, one in enumerate(inputs)]
        self._labels = None if data.labels is None else opened(data.labels, "labels").reshape(-1)
        self._expected = None if data.expected is None else opened(data.expected, "expected")
        self.samples = len(self._inputs[0])
        check_lengths([("inputs", a) for a in self._inputs] + [("labels", self._labels), ("expected", self._expected)], self.samples)
        self.key = hash_of_arrays([*self._inputs, self._labels, self._expected])

    def shards(self, most: int) -> Iterator[Shard]:
        """Of at most so many samples."""
        for first in range(0, self.samples, most):
            part = slice(first, first + most)
            labels, expected = (None if a is None else npy(a[part]) for a in (self._labels, self._expected))
            yield Shard([npy(a[part]) for a in self._inputs], labels, expected)


def check_lengths(arrays: Sequence[tuple[str, Optional[Array]]], samples: int) -> None:
    for name, array in arrays:
        if array is not None and len(array) != samples:
            raise error(name, "every sample needs one of each", "input.samples", measured=str(len(array)), limit=str(samples))
    if samples == 0:
        raise error("inputs", "has no samples", "input.samples")


def opened(value: Any, where: str) -> Array:
    if is_path(value):
        try:
            array: Array = np.load(value, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as e:
            raise error(os.fspath(value), f"cannot be read as .npy: {e}", "file.unreadable") from e
    else:
        array = to_numpy(value, where) if is_tensor(value) or isinstance(value, np.ndarray) else to_numpy(np.asarray(value), where)
    if array.ndim == 0 or array.dtype.kind not in "fiub":
        raise error(where, f"holds {array.dtype} {list(array.shape)}", "input.dtype", "give real numbers, [samples, ...]")
    return array


def npy(array: Array) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.ascontiguousarray(array), allow_pickle=False)
    return stream.getvalue()


def hash_of_arrays(arrays: Sequence[Optional[Array]]) -> str:
    total = hashlib.sha256()
    for array in arrays:
        if array is None:
            total.update(b"none;")
            continue
        total.update(f"{array.dtype.str}{array.shape};".encode())
        step = max(1, (1 << 24) // max(1, array[:1].nbytes))
        for first in range(0, len(array), step):
            total.update(np.ascontiguousarray(array[first : first + step]).data)
    return total.hexdigest()
