# SPDX-License-Identifier: Apache-2.0
"""Models: a path, or an object of torch that becomes a file in memory. torch is never imported unless one of its objects is given."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from ._data import InputSpec, is_path, is_tensor
from ._diagnostics import error
from ._memory_file import MemoryFiles


def model_path(model: Any, example_inputs: Any, files: MemoryFiles, has_labels: bool = False, otherwise: Any = None) -> str:
    """Where the compiler reads the model. `otherwise`: the example inputs of an nn.Module that has none, a DataLoader or tensors."""
    if is_path(model):
        if example_inputs is not None:
            raise TypeError("example_inputs belong to an nn.Module; a file has its own")
        path = os.fsdecode(model)
        return os.path.join(".", path) if path.startswith("-") else path  # as a word of a command line it would be an option
    name = "<ExportedProgram>" if not hasattr(model, "named_modules") else f"<{type(model).__name__}>"
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(model, (torch.nn.Module, exported_program(torch))):
        raise TypeError(f"model is a path, a torch.export.ExportedProgram or an nn.Module, not {type(model).__name__}")
    if isinstance(model, torch.nn.Module):
        if example_inputs is None and isinstance(otherwise, (torch.utils.data.DataLoader, Example)):
            example_inputs = otherwise.tensors(torch) if isinstance(otherwise, Example) else otherwise
        model = export(torch, model, example_of(torch, example_inputs, has_labels))
    elif example_inputs is not None:
        raise TypeError("example_inputs belong to an nn.Module; an ExportedProgram has its own")
    file = files.add(name)
    with file.opened() as stream:
        torch.export.save(model, stream)
    return file.path


class Example(NamedTuple):
    """Inputs of a program's shapes; int8 and int16 stand for floats of the model."""

    inputs: list[InputSpec]

    def tensors(self, torch: Any) -> Any:
        dtypes = ["float32" if s.dtype in ("int8", "uint8", "int16") else s.dtype for s in self.inputs]
        return tuple(torch.zeros(s.shape, dtype=getattr(torch, dtype)) for s, dtype in zip(self.inputs, dtypes))


def exported_program(torch: Any) -> Any:
    import torch.export as torch_export

    return torch_export.ExportedProgram


def example_of(torch: Any, inputs: Any, has_labels: bool) -> Any:
    """Of a DataLoader the first sample of its first batch, without the label; anything else as it is."""
    if not isinstance(inputs, torch.utils.data.DataLoader):
        return inputs
    batch = next(iter(inputs), None)
    if isinstance(batch, Mapping):
        return {name: value[:1] for name, value in batch.items()}
    parts = (batch,) if is_tensor(batch) else tuple(batch or ())
    parts = parts[:-1] if has_labels else parts
    return tuple(part[:1] for part in parts) or None


def export(torch: Any, module: Any, example_inputs: Any) -> Any:
    name = type(module).__name__
    if example_inputs is None:
        raise error(
            name,
            "an nn.Module is exported with example inputs, and none are given",
            "model.example_inputs",
            "give example_inputs=(x,): a tuple of tensors of the shapes that the program will take, or a DataLoader",
        )
    check_prepared(name, module)
    check_evaluated(torch, name, module)
    if is_tensor(example_inputs):
        example_inputs = (example_inputs,)
    named = dict(example_inputs) if isinstance(example_inputs, Mapping) else None
    try:
        inspect.signature(module.forward).bind(*(() if named is not None else example_inputs), **(named or {}))
    except TypeError as e:
        raise error(
            name,
            f"forward() does not take the {len(example_inputs)} example inputs: {e}",
            "model.example_inputs",
            "give one for each argument of forward(); if the last member of each batch is a label, say so: has_labels=True",
        ) from None
    return torch.export.export(module, () if named is not None else tuple(example_inputs), named)


def check_evaluated(torch: Any, name: str, module: Any) -> None:
    # The operators of a graph say for themselves whether they train; its modules have a flag that says nothing, and no eval().
    is_graph = isinstance(module, torch.fx.GraphModule) and all(node.op != "call_module" or not node.users for node in module.graph.nodes)
    training = [] if is_graph else [path or name for path, part in module.named_modules() if part.training]
    if training:
        raise error(
            name,
            f"is in training mode: `{training[0]}`" + (f" and {len(training) - 1} more modules" if len(training) > 1 else ""),
            "model.training",
            "call model.eval() first: dropout and batch norm compute something else in training",
        )


def check_prepared(name: str, module: Any) -> None:
    """A model between prepare_pt2e and convert_pt2e measures; its numbers are not rounded by scales yet."""
    for path, part in module.named_modules():
        if type(part).__module__.startswith("torchao.quantization.pt2e"):
            what = f"is prepared for PT2E, but not converted: `{path}` observes its values"
            raise error(name, what, "model.prepared", "call convert_pt2e(model) first")
