# SPDX-License-Identifier: Apache-2.0
"""Samples: arrays, tensors and iterables of them become what the compiler reads. The rules are those of files (docs/command-line.md)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np

from ._diagnostics import Error, error
from ._memory_file import ArrayFile, MemoryFiles

if TYPE_CHECKING:
    from ._core import RawSpec

Array = np.ndarray[Any, np.dtype[Any]]
Path = Union[str, "os.PathLike[str]"]


class InputSpec(NamedTuple):
    """What an input takes, or what an output gives."""

    name: str
    dtype: str
    shape: tuple[int, ...]


def specs_of(raw: Iterable[RawSpec]) -> list[InputSpec]:
    return [InputSpec(*one) for one in raw]


def is_path(value: object) -> bool:
    return isinstance(value, (str, os.PathLike))


def path_bytes(path: Path) -> bytes:
    """ValueError, as `open` raises it, for a path that would be cut at a NUL."""
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        raise ValueError(f"embedded null byte in {path!r}")
    return encoded


def is_tensor(value: object) -> bool:
    return type(value).__module__.split(".")[0] == "torch" and hasattr(value, "detach")


def to_numpy(value: Any, where: str) -> Array:
    """A dense array of real numbers in this machine's byte order; copied only where it is not one already."""
    if is_tensor(value):
        value = from_torch(value, where)
    elif hasattr(value, "__cuda_array_interface__"):
        raise error(where, "lies on a GPU", "input.device", "give a NumPy array or a tensor on the CPU")
    try:
        array = np.asarray(value)
    except Exception as e:
        raise error(where, f"is not an array: {e}", "input.dtype", "give a NumPy array or a tensor") from e
    if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
        raise error(where, f"holds {array.dtype}", "input.dtype", "give real numbers: float16 to float64, whole numbers or bool")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array if array.flags.c_contiguous else np.array(array, order="C")


def from_torch(tensor: Any, where: str) -> Any:
    if tensor.device.type != "cpu":
        raise error(where, f"lies on the device `{tensor.device}`", "input.device", "give a tensor on the CPU: tensor.cpu()")
    if tensor.layout is not sys_torch().strided or tensor.is_quantized:
        kind = "quantized" if tensor.is_quantized else str(tensor.layout)
        raise error(where, f"is a {kind} tensor", "input.dtype", "give a dense tensor: tensor.to_dense(), tensor.dequantize()")
    tensor = tensor.detach()
    if tensor.dtype is sys_torch().bfloat16:
        tensor = tensor.float()  # exact; NumPy has no bfloat16
    return tensor.resolve_conj().resolve_neg().numpy()


def sys_torch() -> Any:
    import torch

    return torch


def split(array: Array, spec: InputSpec, where: str) -> Array:
    """Samples of `spec` from one array: [n, *shape]. The first axis may hold several samples, or be left out where it is 1."""
    shape = spec.shape
    one = shape[1:]
    if array.shape == shape or (shape[:1] == (1,) and array.shape == one):
        return array.reshape(1, *shape)
    if array.shape[1:] == shape and array.ndim > 0:
        return array
    if shape and shape[0] >= 1 and array.ndim == len(shape) and array.shape[1:] == one and array.shape[0] % shape[0] == 0:
        return array.reshape(-1, *shape)
    is_rest = bool(shape) and array.ndim == len(shape) and array.shape[1:] == one
    raise error(
        where,
        f"the array does not have the shape of input `{spec.name}`",
        "input.shape",
        "the batch is not a whole number of samples: a DataLoader leaves a rest out with drop_last=True" if is_rest else "",
        measured=str(list(array.shape)),
        limit=f"{list(shape)}, or several of them along a first axis",
    )


def members_of(item: Any, specs: Sequence[InputSpec], has_labels: bool, where: str) -> tuple[list[Any], Any]:
    """The arrays of one item in the order of the inputs, and its label or None."""
    if isinstance(item, Mapping):
        missing = [s.name for s in specs if s.name not in item]
        known = f"the inputs are: {', '.join(s.name for s in specs)}"
        if missing:
            raise error(where, f"has no input `{missing[0]}`", "input.count", known)
        others = [str(k) for k in item if k not in {s.name for s in specs}]
        if len(others) > has_labels:
            raise error(where, f"has `{others[0]}`, which is not an input of the model", "input.count", known)
        return [item[s.name] for s in specs], item[others[0]] if others else None
    members = list(item) if isinstance(item, (tuple, list)) else [item]
    label = None
    if has_labels:
        if len(members) < 2:
            raise error(where, "has no label", "input.count", "leave has_labels out, or give (inputs, label)")
        label = members.pop()
        if len(members) == 1 and isinstance(members[0], (tuple, list, Mapping)) and len(specs) > 1:
            members = members_of(members[0], specs, False, where)[0]
    if len(members) != len(specs):
        hint = f"the inputs are: {', '.join(s.name for s in specs)}"
        if len(members) == len(specs) + 1:
            hint += "; if the last member is a label, say so: has_labels=True"
        raise error(where, "every input needs its data, in order", "input.count", hint, measured=str(len(members)), limit=str(len(specs)))
    return members, label


def items_of(data: Any) -> Iterator[Any]:
    """An array or a mapping is one item; everything else is asked for its items, and what it raises is raised."""
    if isinstance(data, (np.ndarray, np.generic, Mapping)) or is_tensor(data):
        yield data
    else:
        try:
            iterator = iter(data)
        except TypeError:
            raise TypeError(f"data is an array, a tensor, a path or an iterable of them, not {type(data).__name__}") from None
        yield from iterator


def read_samples(data: Any, specs: Sequence[InputSpec], has_labels: bool, what: str, files: MemoryFiles) -> tuple[list[str], Array | None]:
    """A path for each input, and the labels that came along."""
    if is_path(data):
        return [os.fspath(data)], None
    if isinstance(data, (list, tuple)) and data and all(is_path(one) for one in data):
        return [os.fspath(one) for one in data], None
    arrays: list[ArrayFile] = []
    labels: list[Array] = []
    for k, item in enumerate(items_of(data)):
        where = f"{what}, item {k}"
        members, label = members_of(item, specs, has_labels, where)
        if label is not None:
            labels.append(to_numpy(label, f"{where}, label").reshape(-1))
        counts = set()
        for i, (member, spec) in enumerate(zip(members, specs)):
            here = f"{where}, input `{spec.name}`"
            samples = split(to_numpy(member, here), spec, here)
            if len(arrays) == i:
                file = ArrayFile(f"{what}, input `{spec.name}`", samples.dtype, spec.shape)
                files.keep(file)
                arrays.append(file)
            if samples.dtype != arrays[i].dtype:
                raise error(here, f"holds {samples.dtype} after {arrays[i].dtype}", "input.dtype", "give all samples in one type")
            arrays[i].append(samples)
            counts.add(samples.shape[0])
        if len(counts) > 1:
            raise error(where, "the inputs have different numbers of samples", "input.samples", measured=str(sorted(counts)), limit="one number")
    if specs and (not arrays or arrays[0].count == 0):
        raise error(what, "has no samples", "input.samples", "a generator can be read only once: give a list, or make it anew")
    for file in arrays:
        file.finish()
    return [file.path for file in arrays], np.concatenate(labels) if labels else None


def run_inputs(inputs: Sequence[Any], specs: Sequence[InputSpec]) -> list[Array]:
    if len(inputs) == 1 and isinstance(inputs[0], Mapping):
        numbered = {f"input{i}": s.name for i, s in enumerate(specs)}
        named = {s.name for s in specs}
        item = {name if name in named else numbered.get(name, name): one for name, one in inputs[0].items()}
        inputs = members_of(item, specs, False, "run")[0]
    arrays = [to_numpy(one, f"run, input {i}") for i, one in enumerate(inputs)]
    for i, (array, spec) in enumerate(zip(arrays, specs)):
        if spec.shape[:1] == (1,) and array.shape == spec.shape[1:]:  # one sample without its first axis
            arrays[i] = array.reshape(spec.shape)
    return arrays


__all__ = ["Array", "Error", "InputSpec", "Path", "read_samples", "run_inputs", "specs_of", "to_numpy"]
