# SPDX-License-Identifier: Apache-2.0
"""A program of ExecuTorch's edge dialect in operators of torch, as the compiler reads them. Needs
torch and executorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Optional

import torch
from executorch.exir.dialects.edge._ops import EdgeOpOverload
from torch._export.verifier import TrainingIRVerifier
from torch._subclasses.fake_tensor import FakeTensor
from torch.export import ExportedProgram
from torch.export.exported_program import ModuleCallEntry, ModuleCallSignature
from torch.export.graph_signature import (
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from torch.fx import Graph, GraphModule, Node
from torch.utils import _pytree as pytree

from .._diagnostics import error

_META = ("val", "nn_module_stack", "stack_trace", "torch_fn", "source_fn_stack", "from_node")


#: Tensors of programs, by what one has of them that sees shapes alone.
Data = dict[tuple[str, torch.Size, torch.dtype], torch.Tensor]


def data_of(program: ExportedProgram) -> Data:
    named = {**program.state_dict, **program.constants}
    return {key_of(n, t): t for n, t in named.items() if isinstance(t, torch.Tensor)}


def key_of(name: str, value: torch.Tensor) -> tuple[str, torch.Size, torch.dtype]:
    return name, value.shape, value.dtype


class AtenProgram(NamedTuple):
    program: ExportedProgram
    nodes: dict[str, Node]  #: of the program that it was made of, by the names that they have here


def as_aten(
    program: ExportedProgram,
    foreign: Callable[[Node], bool] = lambda node: False,
    data: Optional[Data] = None,
) -> Optional[AtenProgram]:
    """`foreign` nodes are left out: what they make becomes inputs, what they read outputs. None
    where nothing is left.

    `data`: tensors for those of the program that have none.
    """
    builder = _Builder(program, foreign, data or {})
    outputs = builder.copy()
    if not outputs:
        return None
    return AtenProgram(builder.finished(outputs), builder.names)


class _Builder:
    def __init__(
        self, program: ExportedProgram, foreign: Callable[[Node], bool], data: Data
    ) -> None:
        self.old = program
        self.data = data
        self.graph = Graph()
        self.made: dict[Node, Node] = {}
        self.names: dict[str, Node] = {}
        self.left_out = {n for n in program.graph.nodes if n.op == "call_function" and foreign(n)}
        for node in program.graph.nodes:  # of several results
            if is_getitem(node) and node.args[0] in self.left_out:
                self.left_out.add(node)
        self.specs: list[InputSpec] = []

    def copy(self) -> list[tuple[OutputSpec, Node]]:
        nodes = list(self.old.graph.nodes)
        specs = iter(self.old.graph_signature.input_specs)
        for node in nodes:
            if node.op == "placeholder":
                self._add_input(node, next(specs))
        for node in self.left_out:
            if isinstance(node.meta.get("val"), torch.Tensor) and any(
                user not in self.left_out for user in node.users if user.op != "output"
            ):
                self._add_input(node, None)
        for node in nodes:
            if node.op in ("call_function", "get_attr") and node not in self.left_out:
                target, arguments, named = (
                    in_torch(node)
                    if node.op == "call_function"
                    else (node.target, node.args, node.kwargs)
                )
                arguments, named = torch.fx.node.map_arg((arguments, named), self.made.__getitem__)
                self._keep(
                    node, self.graph.create_node(node.op, target, arguments, named, node.name)
                )
        return self._outputs(nodes)

    def _keep(self, old: Node, new: Node) -> None:
        new.meta = {name: old.meta[name] for name in _META if name in old.meta}
        self.made[old] = new
        self.names[new.name] = old

    def _add_input(self, node: Node, spec: Optional[InputSpec]) -> None:
        new = self.graph.placeholder(node.name)
        self._keep(node, new)
        if spec is None or spec.kind == InputKind.USER_INPUT:
            self.specs.append(InputSpec(InputKind.USER_INPUT, TensorArgument(name=new.name), None))
        else:
            self.specs.append(
                InputSpec(spec.kind, TensorArgument(name=new.name), spec.target, spec.persistent)
            )

    def _outputs(self, nodes: list[Node]) -> list[tuple[OutputSpec, Node]]:
        found: dict[Node, OutputSpec] = {}
        for value, spec in zip(nodes[-1].args[0], self.old.graph_signature.output_specs):
            if isinstance(value, Node) and value in self.made and self._computed(value):
                found.setdefault(value, spec)
        for node in self.left_out:
            for value in node.all_input_nodes:
                if (
                    self._computed(value)
                    and value in self.made
                    and isinstance(value.meta.get("val"), torch.Tensor)
                ):
                    found.setdefault(
                        value,
                        OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(name=value.name), None),
                    )
        order = sorted(
            found, key=lambda value: found[value].kind == OutputKind.USER_OUTPUT
        )  # states come first
        return [
            (
                OutputSpec(
                    found[value].kind,
                    TensorArgument(name=self.made[value].name),
                    found[value].target,
                ),
                self.made[value],
            )
            for value in order
        ]

    def _computed(self, value: Node) -> bool:
        return value.op == "call_function" and value not in self.left_out

    def finished(self, outputs: list[tuple[OutputSpec, Node]]) -> ExportedProgram:
        self.graph.output(tuple(node for _, node in outputs))
        signature = ExportGraphSignature(self.specs, [spec for spec, _ in outputs])
        attributes = {n.target for n in self.graph.nodes if n.op == "get_attr"}
        root = {str(name): getattr(self.old.graph_module, str(name)) for name in attributes}
        module = GraphModule(root, self.graph)
        takes = pytree.tree_flatten((tuple(signature.user_inputs), {}))[1]
        gives = pytree.tree_flatten(tuple(signature.user_outputs))[1]
        return ExportedProgram(
            root=module,
            graph=module.graph,
            graph_signature=signature,
            state_dict=self._data(self.old.state_dict),
            range_constraints=dict(self.old.range_constraints),
            module_call_graph=[ModuleCallEntry("", ModuleCallSignature([], [], takes, gives))],
            constants=self._data(self.old.constants),
            verifiers=[TrainingIRVerifier],
        )

    def _data(self, tensors: Mapping[str, Any]) -> dict[str, Any]:
        read = {spec.target: spec.kind for spec in self.specs}
        found = {name: self._real(name, value) for name, value in tensors.items() if name in read}
        for name, value in found.items():
            if read[name] == InputKind.PARAMETER and not isinstance(value, torch.nn.Parameter):
                found[name] = torch.nn.Parameter(value, requires_grad=False)
        return found

    def _real(self, name: str, value: Any) -> Any:
        """A partitioner sees shapes without data. Where an operator can run depends on shapes and
        scales, so ones do where the data are not known."""
        if not isinstance(value, FakeTensor):
            return value
        if (known := self.data.get(key_of(name, value))) is not None:
            return known
        is_index = value.dim() > 0 and not value.dtype.is_floating_point
        return (torch.zeros if is_index else torch.ones)(value.shape, dtype=value.dtype)


def is_getitem(node: Node) -> bool:
    return node.op == "call_function" and "getitem" in str(node.target)


def in_torch(node: Node) -> tuple[Any, Any, dict[str, Any]]:
    """The operator of torch, positional and named arguments of a node of the edge dialect."""
    target = node.target._op if isinstance(node.target, EdgeOpOverload) else node.target
    named = dict(node.kwargs)
    name = getattr(getattr(target, "_schema", None), "name", "")
    if name.startswith("dim_order_ops::"):
        return in_memory_format(node, name.partition("::")[2], named)
    return without_copy(target, name), node.args, named


_FORMATS = {
    (0, 1, 2, 3): torch.contiguous_format,
    (0, 2, 3, 1): torch.channels_last,
    (0, 2, 3, 4, 1): torch.channels_last_3d,
}


def in_memory_format(
    node: Node, name: str, named: dict[str, Any]
) -> tuple[Any, Any, dict[str, Any]]:
    aten = torch.ops.aten
    order = named.pop("dim_order", None)
    if order is not None:
        order = tuple(order)
        if order != tuple(range(len(order))) and order not in _FORMATS:
            raise error(
                f"`{node.name}`",
                f"has its axes in the order {order}",
                "executorch.dim_order",
                "keep it contiguous or channels last",
            )
        named["memory_format"] = _FORMATS.get(order, torch.contiguous_format)
    target = {
        "_to_dim_order_copy": aten._to_copy.default,
        "_clone_dim_order": aten.clone.default,
        "_empty_dim_order": aten.empty.memory_format,
    }[name]
    if target is aten.clone.default:
        named.pop("non_blocking", None)
    return target, node.args, named


def without_copy(target: Any, name: str) -> Any:
    """The edge dialect has views as copies: `view_copy` for `view`."""
    if not name.startswith("aten::") or not name.endswith("_copy"):
        return target
    view = getattr(getattr(torch.ops.aten, name[6:-5], None), target._overloadname, None)
    return view if view is not None and any(r.alias_info for r in view._schema.returns) else target
