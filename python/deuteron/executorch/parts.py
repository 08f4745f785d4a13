# SPDX-License-Identifier: Apache-2.0
"""Operators that a target may have only the parts of, taken apart in a graph of torch. Which ones
is for the compiler to say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import torch
from torch.fx import GraphModule, Node

Emit = Callable[..., Node]


def layer_norm_parts(
    emit: Emit,
    x: Node,
    shape: list[int],
    weight: Optional[Node] = None,
    bias: Optional[Node] = None,
    eps: float = 1e-5,
    _: bool = True,
) -> Node:
    aten = torch.ops.aten
    axes = list(range(-len(shape), 0))
    deviation = emit(aten.sub.Tensor, x, emit(aten.mean.dim, x, axes, True))
    variance = emit(aten.mean.dim, emit(aten.pow.Tensor_Scalar, deviation, 2), axes, True)
    y = emit(
        aten.mul.Tensor, deviation, emit(aten.rsqrt.default, emit(aten.add.Tensor, variance, eps))
    )
    if weight is not None:
        y = emit(aten.mul.Tensor, y, weight)
    return y if bias is None else emit(aten.add.Tensor, y, bias)


PARTS: dict[object, Callable[..., Node]] = {torch.ops.aten.layer_norm.default: layer_norm_parts}


def take_apart(model: GraphModule, node: Node) -> None:
    mode = node.meta["val"].fake_mode

    def value(argument: Any) -> Any:
        if not isinstance(argument, Node):
            return argument
        if argument.op == "get_attr":
            path, _, name = str(argument.target).rpartition(".")
            return mode.from_tensor(getattr(model.get_submodule(path), name))
        return argument.meta["val"]

    def emit(target: Any, *arguments: Any) -> Node:
        new = model.graph.call_function(target, arguments)
        new.meta = {k: v for k, v in node.meta.items() if k in ("nn_module_stack", "stack_trace")}
        with mode:
            new.meta["val"] = target(*map(value, arguments))
        return new

    with model.graph.inserting_before(node):
        node.replace_all_uses_with(PARTS[node.target](emit, *node.args, **node.kwargs))
    model.graph.erase_node(node)
