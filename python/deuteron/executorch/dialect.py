# SPDX-License-Identifier: Apache-2.0
"""Parts as operators of ExecuTorch's `cortex_m::` dialect instead of delegates, with the same numbers: firmware then
needs ExecuTorch's own kernels and nothing of ours. Needs torch and executorch."""

from __future__ import annotations

import importlib
import math
from typing import Any

import torch
from executorch.backends.transforms.utils import create_constant_placeholder
from executorch.exir import EdgeProgramManager
from executorch.exir._serialize._program import deserialize_pte_binary
from executorch.exir.dialects._ops import ops as edge_ops
from executorch.exir.passes import make_alloc_node
from executorch.exir.schema import DelegateCall, Program, Tensor
from executorch.exir.tensor import get_scalar_type
from torch._subclasses.fake_tensor import FakeTensor
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.fx import GraphModule, Node

from .._diagnostics import error
from .backend import DeuteronBackend

_OWN = ("cortex_m", "aten")  # namespaces that stock firmware may have
_PERMUTE = edge_ops.edge.aten.permute_copy.default
_IMAGES = (
    "quantized_conv2d",
    "quantized_depthwise_conv2d",
    "quantized_transpose_conv2d",
    "quantized_avg_pool2d",
    "quantized_max_pool2d",
)
_ELEMENTWISE = (
    "quantize_per_tensor",
    "dequantize_per_tensor",
    "quantized_add",
    "quantized_mul",
    "quantized_div",
    "quantized_activation",
    "minimum",
    "maximum",
)


def inline_parts(manager: EdgeProgramManager) -> list[Any]:
    """A step of a recipe: `edge_manager_transform_passes`."""
    register_operators()
    for name in manager.methods:
        program = manager.exported_program(name)
        for k, call in enumerate(calls_of_ours(program.graph_module)):
            _Inlined(program, call, f"deuteron_{k}").replace()
        program.graph_module.recompile()
    return []


def register_operators() -> None:
    try:
        importlib.import_module("executorch.backends.cortex_m.passes")
    except ModuleNotFoundError as e:
        what = (
            f"needs ExecuTorch's operators for Cortex-M, and these {e.name}, which is not installed"
        )
        raise error(
            "the dialect form", what, "executorch.dialect", "pip install tosa-tools"
        ) from None


def part_of(module: GraphModule, node: Node) -> Any:
    return getattr(module, str(node.args[0].target))


def calls_of_ours(module: GraphModule) -> list[Node]:
    return [
        node
        for node in module.graph.nodes
        if "call_delegate" in str(node.target)
        and part_of(module, node).backend_id == DeuteronBackend.__name__
    ]


def in_memory(tensor: Tensor) -> list[int]:
    """Sizes in the order in which the axes lie."""
    return [tensor.sizes[axis] for axis in tensor.dim_order]


def is_plain(tensor: Tensor) -> bool:
    """Whether its axes lie in their own order; one of a single element lies anywhere."""
    order = [axis for axis in tensor.dim_order if tensor.sizes[axis] != 1]
    return order == sorted(order)


class _Inlined:
    """One call of a part, in the graph that calls it. Every value has its sizes in the order of memory: then what our
    programs read in place as something else is a view, which costs nothing, and images go to `_nhwc` operators."""

    def __init__(self, program: ExportedProgram, call: Node, prefix: str) -> None:
        self.outer, self.call, self.prefix = program, call, prefix
        part = part_of(program.graph_module, call)
        if any(spec.key == "batch" for spec in part.compile_specs):
            raise self.refused("a part is for one sample of a batch")
        self.inner: Program = deserialize_pte_binary(part.processed_bytes).program
        self.plan = self.inner.execution_plan[0]
        self.graph = program.graph_module.graph
        fakes = (n.meta.get("val") for n in self.graph.nodes)
        self.mode = next(f.fake_mode for f in fakes if isinstance(f, FakeTensor))
        self.written: dict[int, Node] = {}  # what lies at an offset of planned memory
        self.constants: dict[int, Node] = {}  # by the number of the value

    def replace(self) -> None:
        with self.graph.inserting_before(self.call):
            for index, node in zip(self.plan.inputs, self.call.args[1:]):
                self.take(index, node)
            for instruction in self.plan.chains[0].instructions:
                self.add_call(instruction.instr_args)
            self.connect()

    def refused(self, what: str) -> Exception:
        hint = 'leave dialect="stock" out: parts stay delegates'
        return error("the dialect form", what, "executorch.dialect", hint)

    def tensor(self, index: int) -> Tensor:
        tensor = self.plan.values[index].val
        if not isinstance(tensor, Tensor):
            raise self.refused(f"value {index} of a part is not a tensor")
        return tensor

    def place(self, tensor: Tensor) -> int:
        if tensor.allocation_info is None:
            raise self.refused("a part gives a constant")
        return int(tensor.allocation_info.memory_offset_low)

    def take(self, index: int, node: Node) -> None:
        tensor = self.tensor(index)
        self.check_order(node)
        if not is_plain(tensor):
            node = self.emit(_PERMUTE, tensor, node, list(tensor.dim_order))
        self.written[self.place(tensor)] = node

    def check_order(self, node: Node) -> None:
        value = node.meta["val"]
        order = [axis for axis in value.dim_order() if value.shape[axis] != 1]
        if order != sorted(order):
            raise self.refused(f"`{node.name}` lies channels last at the border of a part")

    def emit(self, target: Any, result: Tensor, *arguments: Any, **named: Any) -> Node:
        node = self.graph.call_function(target, arguments, named)
        kept = ("debug_handle", "nn_module_stack", "stack_trace")
        node.meta |= {k: self.call.meta[k] for k in kept if k in self.call.meta}
        node.meta["val"] = self.fake(result)
        return node

    def fake(self, tensor: Tensor) -> torch.Tensor:
        with self.mode:
            return torch.empty(in_memory(tensor), dtype=get_scalar_type(tensor.scalar_type))

    def add_call(self, call: Any) -> None:
        if isinstance(call, DelegateCall):
            raise self.refused("a part calls a delegate of its own")
        named = self.plan.operators[call.op_index]
        namespace, _, name = named.name.partition("::")
        if namespace not in _OWN:
            raise self.refused(f"a part calls {named.name}, which only our runtime has")
        tensors = [v for v in (self.plan.values[i].val for i in call.args) if isinstance(v, Tensor)]
        if name in _IMAGES:
            name += "_nhwc"
        elif name not in _ELEMENTWISE and not all(map(is_plain, tensors)):
            raise self.refused(f"{named.name} has axes, and an image that lies channels last")
        overload = named.overload.removesuffix("out").removesuffix("_") or "default"
        target = getattr(getattr(getattr(edge_ops.edge, namespace), name), overload)
        schema = getattr(getattr(getattr(torch.ops, namespace), name), named.overload)._schema
        rows = list(zip(schema.arguments, call.args))
        result = [self.tensor(i) for a, i in rows if a.is_out]
        if len(result) != 1:
            raise self.refused(f"{named.name} has {len(result)} results")
        given = [(a, self.argument(a.name, i)) for a, i in rows if not a.is_out]
        node = self.emit(
            target,
            result[0],
            *(v for a, v in given if not a.kwarg_only),
            **{a.name: v for a, v in given if a.kwarg_only},
        )
        self.check_shape(named.name, node, in_memory(result[0]))
        self.written[self.place(result[0])] = node

    def check_shape(self, name: str, node: Node, sizes: list[int]) -> None:
        """ExecuTorch computes it again: a border on one side alone is in no argument of a convolution."""
        arguments, named = torch.fx.node.map_arg(
            (node.args, node.kwargs), lambda n: n.meta.get("val")
        )
        with self.mode:
            made = node.target(*arguments, **named)
        if list(made.shape) != sizes:
            raise self.refused(f"{name} gives {sizes}, and {list(made.shape)} by ExecuTorch's rule")

    def argument(self, name: str, index: int) -> Any:
        if "scratch" in name:
            return make_alloc_node(self.outer.graph_module, self.fake(self.tensor(index)), None)
        value = self.plan.values[index].val
        kind = type(value).__name__
        if kind == "Tensor":
            if value.data_buffer_idx > 0 and value.allocation_info is not None:
                raise self.refused("a part keeps a state")
            return self.constant(index) if value.data_buffer_idx > 0 else self.read(value)
        if kind == "Null":
            return None
        if kind == "IntList":
            return [self.plan.values[i].val.int_val for i in value.items]
        if kind in ("TensorList", "OptionalTensorList"):
            return [self.argument("", i) if i >= 0 else None for i in value.items]
        plain = {
            "Int": "int_val",
            "Double": "double_val",
            "Bool": "bool_val",
            "String": "string_val",
        }
        return getattr(value, plain[kind]) if kind in plain else list(value.items)

    def read(self, tensor: Tensor) -> Node:
        source, sizes = self.written.get(self.place(tensor)), in_memory(tensor)
        if source is None or source.meta["val"].numel() != math.prod(sizes):
            raise self.refused("a part reads a piece of a value in place")
        if list(source.meta["val"].shape) == sizes:
            return source
        return self.emit(edge_ops.edge.aten.view_copy.default, tensor, source, sizes)

    def constant(self, index: int) -> Node:
        if index not in self.constants:
            tensor = self.tensor(index)
            data = bytearray(self.inner.constant_buffer[tensor.data_buffer_idx].storage)
            dtype, sizes = get_scalar_type(tensor.scalar_type), in_memory(tensor)
            whole = torch.frombuffer(data, dtype=dtype, count=math.prod(sizes)).reshape(sizes)
            first = next(n for n in self.graph.nodes if n.op == "placeholder")
            with self.graph.inserting_before(first):
                self.constants[index] = create_constant_placeholder(
                    self.outer,
                    self.graph,
                    f"{self.prefix}_{index}",
                    InputKind.CONSTANT_TENSOR,
                    whole,
                )
        return self.constants[index]

    def connect(self) -> None:
        """Results go where the call's went."""
        for user in list(self.call.users):
            tensor = self.tensor(self.plan.outputs[user.args[1]])
            self.check_order(user)
            result = self.read(tensor)
            if not is_plain(tensor):
                back = sorted(range(len(tensor.sizes)), key=list(tensor.dim_order).index)
                result = self.emit(_PERMUTE, tensor, result, back)
                result.meta["val"] = user.meta["val"]
            elif result.meta["val"].shape != user.meta["val"].shape:
                sizes = list(user.meta["val"].shape)
                result = self.emit(edge_ops.edge.aten.view_copy.default, tensor, result, sizes)
                result.meta["val"] = user.meta["val"]
            user.replace_all_uses_with(result)
            for spec in self.outer.graph_signature.output_specs:
                if getattr(spec.arg, "name", None) == user.name:
                    spec.arg = type(spec.arg)(result.name)
            self.graph.erase_node(user)
        part = self.call.args[0]
        self.graph.erase_node(self.call)
        if not part.users:
            self.graph.erase_node(part)
