# SPDX-License-Identifier: Apache-2.0
"""How the compiler quantizes a model for a target, by the names of the model's graph. Needs
torch."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple, Optional

import torch
from torch.fx import GraphModule, Node

from .. import _core
from .._diagnostics import InternalError, error, tell
from .._memory_file import MemoryFiles
from .._model import model_path

_TRAINING = ("training", "train")  # arguments of operators that compute something else in training


class Value(NamedTuple):
    """A value of the model that becomes integers. Values of one cluster have the same
    parameters."""

    name: str
    cluster: int
    dtype: str
    symmetric: bool
    fixed: Optional[tuple[float, int]]  #: scale and zero point that the operator says


class Constant(NamedTuple):
    """A weight, or a constant operand, with integers of its own."""

    name: str
    reader: str
    dtype: str
    low: int
    high: int
    axis: int  #: one scale for each slice of it; -1: one for all
    symmetric: bool


class Plan(NamedTuple):
    """How the compiler quantizes a model for a target, by the names of the model's graph."""

    values: dict[str, Value]
    constants: dict[str, Constant]  #: by the name of the parameter or buffer
    in_parts: list[str]  #: operators that the target has no int8 form of, only of their parts
    in_float: dict[str, str]  #: operators that stay in float, and what to call them


def as_evaluated(model: GraphModule) -> GraphModule:
    """A copy in evaluation mode whose operators have the same names."""
    model = copy.deepcopy(model)
    for node in reversed(model.graph.nodes):
        set_in_training(node, False)
        is_called = node.op in ("call_function", "call_module")
        if is_called and not node.users and not writes_state(node):  # guards, counters of batches
            model.graph.erase_node(node)
    model.recompile()
    return model


def writes_state(node: Node) -> bool:
    """In place, and numbers that another run reads."""
    schema = getattr(node.target, "_schema", None)
    value = node.meta.get("val")
    return (
        schema is not None
        and schema.is_mutable
        and isinstance(value, torch.Tensor)
        and value.is_floating_point()
    )


def plan_of(model: GraphModule, target: str) -> Plan:
    evaluated = as_evaluated(model)
    inputs = [n.meta["val"] for n in evaluated.graph.nodes if n.op == "placeholder"]
    program = torch.export.export(evaluated, tuple(one_sample(x) for x in inputs))
    own = original_names(evaluated, program)
    with MemoryFiles() as files:
        raw, diagnostics = _core.annotations(model_path(program, None, files).encode(), target)
        tell(diagnostics, files.names)
    values, constants, identities, in_parts, in_float, was_quantized = raw
    if was_quantized:
        raise quantized_already("the model")
    rows = {own[v[0]]: Value(own[v[0]], *v[1:]) for v in values if v[0] in own}
    names = set(map(own.get, identities))
    for node in evaluated.graph.nodes:
        read = node.all_input_nodes  # an operand may be the one item of a list
        if node.name in names and read and (operand := rows.get(read[0].name)):
            rows.setdefault(node.name, operand._replace(name=node.name))
    parameters = {
        **program.graph_signature.inputs_to_parameters,
        **program.graph_signature.inputs_to_buffers,
    }
    parameters |= program.graph_signature.inputs_to_lifted_tensor_constants
    weights: dict[str, Constant] = {}
    for row in (Constant(*c) for c in constants if c[0] in parameters):
        other = weights.setdefault(parameters[row.name], row)
        if other[2:] != row[2:]:
            raise error(
                "the model",
                f"reads `{parameters[row.name]}` in two ways",
                "quantizer.shared",
                "give each layer a parameter of its own",
            )
    floats = {
        own.get(name, name): f"{op} `{module or own.get(name, name)}`"
        for name, op, module in in_float
    }
    parts = [own[name] for name in in_parts if name in own]  # what writes a state is none
    return Plan(rows, weights, parts, floats)


def one_sample(x: Any) -> Any:
    """Zeros like the input, with its order of axes; where a size is open, that of the example, and
    of a batch 1."""
    shape = [
        size if isinstance(size, int) else size.node.hint if axis else 1
        for axis, size in enumerate(x.shape)
    ]
    order = list(range(x.dim()))
    if all(isinstance(stride, int) for stride in x.stride()):
        order.sort(key=lambda k: (-x.stride(k), k))
    return torch.zeros([shape[k] for k in order], dtype=x.dtype).permute(
        [order.index(k) for k in range(x.dim())]
    )


def makes_tensor(node: Node) -> bool:
    value = node.meta.get("val")
    return node.op == "call_function" and isinstance(
        value[0] if isinstance(value, (tuple, list)) else value, torch.Tensor
    )


def original_names(model: GraphModule, program: Any) -> dict[str, str]:
    """The names of inputs and operators in `model` by those of its export."""
    lists = []
    lifted = {s.arg.name for s in program.graph_signature.input_specs if s.target is not None}
    for graph in (model.graph, program.graph):
        lists.append(
            [
                n
                for n in graph.nodes
                if (makes_tensor(n) and n.users) or (n.op == "placeholder" and n.name not in lifted)
            ]
        )
    pairs = list(zip(*lists))
    if len(lists[0]) != len(lists[1]) or any(
        a.op != b.op or (a.op == "call_function" and a.target != b.target) for a, b in pairs
    ):
        raise InternalError("the export of the model has other operators than the model")
    return {b.name: a.name for a, b in pairs}


def quantized_already(where: str) -> Exception:
    return error(where, "is quantized already", "quantizer.quantized", "annotate the float model")


def describe(node: Node) -> str:
    return f"{str(node.target).removesuffix('.default')} `{node.name}`"


def training_arguments(node: Node) -> list[int]:
    schema = getattr(node.target, "_schema", None) if node.op == "call_function" else None
    return (
        [] if schema is None else [k for k, a in enumerate(schema.arguments) if a.name in _TRAINING]
    )


def node_argument(node: Node, at: int) -> object:
    name = node.target._schema.arguments[at].name
    return node.args[at] if at < len(node.args) else node.kwargs.get(name)


def set_in_training(node: Node, value: bool) -> None:
    for at in training_arguments(node):
        if at < len(node.args):
            node.args = (*node.args[:at], value, *node.args[at + 1 :])
