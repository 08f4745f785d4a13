# SPDX-License-Identifier: Apache-2.0
"""A model becomes a program of ExecuTorch with parts of ours, in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Optional

import torch
from executorch.export import export as export_with
from torch.fx import GraphModule

from .._data import Path
from .._diagnostics import error
from .._model import check_evaluated, check_prepared
from .partitioner import Report, is_rounding
from .recipes import partitioners_of, recipe_for


class _Wrapped(torch.nn.Module):  # type: ignore[misc]
    """ExecuTorch takes every GraphModule for a quantized one; a float one goes as a module."""

    def __init__(self, graph: GraphModule) -> None:
        super().__init__()
        self.inner = graph

    def forward(self, *inputs: Any) -> Any:
        return self.inner(*inputs)


class Compiled(NamedTuple):
    """What `compile` makes."""

    program: Any  #: executorch.exir.ExecutorchProgramManager; its `buffer` is the file
    etrecord: Any  #: executorch.devtools.ETRecord, for Inspector
    report: Report  #: what is left to other backends and kernels, and why

    def save(self, path: Path) -> None:
        with open(path, "wb") as file:
            self.program.write_to_file(file)


def compile(
    model: Any,
    example_inputs: Any = None,
    *,
    target: Path,
    calibration: Optional[Iterable[Any]] = None,
    train_fn: Optional[Callable[[Any], None]] = None,
    **options: Any,
) -> Compiled:
    """Quantizes, exports and lowers `model` for `target` by ExecuTorch's own stages.

    `model` is an nn.Module in evaluation mode with `example_inputs`, a tuple of tensors, or a
    `torch.export.ExportedProgram`; one that is quantized stays as it is. `calibration` gives tuples
    of tensors,
    or tensors; without, the example inputs are the only sample. `train_fn` trains the prepared
    model (quantization-aware training). `options` are those of DeuteronPartitioner.

    >>> import torch, deuteron.executorch
    >>> layer = torch.nn.Linear(8, 4).eval()
    >>> made = deuteron.executorch.compile(layer, (torch.rand(1, 8),), target="cortex-m55")
    >>> print(made.report)
    nothing is left
    """
    if isinstance(model, torch.export.ExportedProgram):
        example_inputs = example_inputs or model.example_inputs[0]
        model = model.module(check_guards=False)
    example = as_tuple(example_inputs)
    check(model, example, is_trained=train_fn is not None)
    samples = None if calibration is None else lambda: (like(s, example) for s in calibration)
    recipe = recipe_for(
        str(target),
        name=f"{target}-int8",
        calibration_inputs_fn=samples,
        is_qat=train_fn is not None,
        train_fn=train_fn,
        **options,
    )
    if isinstance(model, GraphModule) and not any(map(is_rounding, model.graph.nodes)):
        model = _Wrapped(model)
    (partitioner,) = partitioners_of(recipe)
    partitioner.tells_unquantized = False  # an error says it, below
    session = export_with(model, [example], recipe, generate_etrecord=True)
    if not partitioner.parts:
        raise error(
            "the model",
            "has no operator that the target computes in int8",
            "executorch.nothing",
            f"{partitioner.report}",
        )
    manager = session.get_executorch_program_manager()
    return Compiled(manager, session.get_etrecord(), partitioner.report)


def check(model: Any, example: tuple[Any, ...], is_trained: bool) -> None:
    name = type(model).__name__
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"model is an nn.Module or a torch.export.ExportedProgram, not {name}")
    if not example:
        hint = "give example_inputs: a tuple of tensors of the shapes that the program will take"
        raise error(
            name,
            "is exported with example inputs, and none are given",
            "model.example_inputs",
            hint,
        )
    if is_trained and isinstance(model, GraphModule):
        hint = "give the nn.Module that it was exported from"
        raise error(name, "is a graph, which has no training mode", "executorch.graph", hint)
    check_prepared(name, model)
    if not is_trained:
        check_evaluated(torch, name, model)


def as_tuple(sample: Any) -> tuple[Any, ...]:
    if sample is None:
        return ()
    parts = sample if isinstance(sample, (tuple, list)) else (sample,)
    return tuple(
        part if isinstance(part, torch.Tensor) else torch.as_tensor(part) for part in parts
    )


def like(sample: Any, example: tuple[Any, ...]) -> tuple[Any, ...]:
    """A sample without the axis of the batch gets one."""
    parts = as_tuple(sample)
    return tuple(p[None] if p.dim() + 1 == e.dim() else p for p, e in zip(parts, example))
