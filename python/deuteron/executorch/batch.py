# SPDX-License-Identifier: Apache-2.0
"""Programs that leave open how many samples they take: a part is for one of them, and the backend
takes them one by one. Needs torch and executorch."""

from __future__ import annotations

from typing import Any, Optional

import torch
from torch.export import ExportedProgram
from torch.fx import Node
from torch.utils import _pytree as pytree

_TAKES_SIZES = ("view", "reshape", "expand", "full")


def is_open(program: ExportedProgram) -> bool:
    return any(map(symbols_of, program.graph.nodes))


def mixes_samples(program: ExportedProgram) -> Optional[Node]:
    """The first node that may have more than one sample in a value; None where none has."""
    if program.graph_signature.buffers_to_mutate:
        return next(n for n in program.graph.nodes if n.name in states_of(program))
    inputs = set(program.graph_signature.user_inputs)
    symbols: set[str] = set()
    for node in program.graph.nodes:
        if node.op == "output":
            continue
        found = tensors_of(node)
        sizes = [tuple(map(str, t.shape[:1])) for t in found]
        symbols |= {s for (s,) in filter(None, sizes)} if node.name in inputs else set()
        batched = any(map(symbols_of, node.all_input_nodes)) or node.name in inputs
        if not found and symbols_of(node):
            if not all(any(word in str(u.target) for word in _TAKES_SIZES) for u in node.users):
                return node
        elif batched and (
            len(symbols) != 1
            or any(not t.dim() or str(t.shape[0]) not in symbols for t in found)
            or any(isinstance(n, torch.SymInt) for t in found for n in t.shape[1:])
            or works_on_samples(node)
        ):
            return node
    return None


def states_of(program: ExportedProgram) -> set[str]:
    signature = program.graph_signature
    written = signature.buffers_to_mutate.values()
    return {name for name, state in signature.inputs_to_buffers.items() if state in written}


def tensors_of(node: Node) -> list[torch.Tensor]:
    return [v for v in pytree.tree_leaves(node.meta.get("val")) if isinstance(v, torch.Tensor)]


def symbols_of(node: Node) -> bool:
    values = pytree.tree_leaves(node.meta.get("val"))
    sizes = [n for v in values for n in (v.shape if isinstance(v, torch.Tensor) else (v,))]
    return any(isinstance(n, torch.SymInt) for n in sizes)


def works_on_samples(node: Node) -> bool:
    """Whether it works along the first axis."""
    schema = getattr(node.target, "_schema", None)
    ranks = [t.dim() for n in node.all_input_nodes for t in tensors_of(n) if symbols_of(n)]
    if schema is None or not ranks:
        return False
    for k, argument in enumerate(schema.arguments):
        value: Any = node.args[k] if k < len(node.args) else node.kwargs.get(argument.name)
        value = argument.default_value if value is None else value
        if argument.name == "indices" and value and value[0] is not None:
            return True
        if argument.name in ("dim", "dims", "axis"):
            axes = [axis % max(ranks) for axis in pytree.tree_leaves(value) if axis is not None]
            if "permute" in schema.name:
                axes = axes[1:] if axes[:1] == [0] else axes
            if 0 in axes:
                return True
    return False
