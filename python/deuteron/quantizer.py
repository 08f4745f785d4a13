# SPDX-License-Identifier: Apache-2.0
"""deuteron.Quantizer: quantization-aware training and PT2E with the compiler's own rules. Needs torch and torchao."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple, Optional

import torch
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e import (
    FakeQuantize,
    HistogramObserver,
    MinMaxObserver,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    PerChannelMinMaxObserver,
)
from torchao.quantization.pt2e.quantizer import (
    FixedQParamsQuantizationSpec,
    QuantizationAnnotation,
    QuantizationSpec,
    SharedQuantizationSpec,
)
from torchao.quantization.pt2e.quantizer import Quantizer as Pt2eQuantizer

from . import _core
from ._compile import ops
from ._data import Path
from ._diagnostics import InternalError, error, tell
from ._memory_file import MemoryFiles
from ._model import model_path

_KEY = "quantization_annotation"
_EPS = 2.0**-23  # the finest scale that the compiler takes
_TRAINING = ("training", "train")  # arguments of operators that compute something else in training


class Value(NamedTuple):
    """A value of the model that becomes integers. Values of one cluster have the same parameters."""

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
    in_float: list[str]  #: operators that stay in float


class Quantizer(Pt2eQuantizer):  # type: ignore[misc]
    """A PT2E quantizer that annotates a model as `deuteron.compile` quantizes it for `target`.

    `qat`: for `prepare_qat_pt2e`; without, for `prepare_pt2e`. An operator that has no int8 form on the target is an error, unless
    `allow_float`.

    >>> import deuteron, torch
    >>> from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    >>> model = torch.export.load(demo_model).module(check_guards=False)
    >>> prepared = prepare_pt2e(model, deuteron.Quantizer("cortex-m55"))
    >>> images = torch.from_numpy(demo_images)
    >>> _ = [prepared(image[None]) for image in images]
    >>> program = deuteron.compile(torch.export.export(convert_pt2e(prepared), (images[:1],)), target="cortex-m55")
    >>> program.report.counts
    Counts(npu=0, cortex_m=13, portable=0)
    """

    def __init__(self, target: Path, *, qat: bool = False, allow_float: bool = False) -> None:
        ops(target)  # a target that is not known is said here
        self.target = target
        self.qat = qat
        self.allow_float = allow_float

    def plan(self, model: GraphModule) -> Plan:
        """What the compiler says of the model."""
        check(model, self.qat)
        return plan_of(model, str(self.target))

    def transform_for_annotation(self, model: GraphModule) -> GraphModule:
        check(model, self.qat)
        for name in self.plan(model).in_parts:
            node = next(n for n in model.graph.nodes if n.name == name)
            if node.target in _PARTS:
                take_apart(model, node)
            elif not self.allow_float:
                raise float_error(describe(node), f"has an int8 form on {self.target} only as the operators that it is made of")
        model.graph.lint()
        model.recompile()
        return model

    def annotate(self, model: GraphModule) -> GraphModule:
        check(model, self.qat)
        plan = self.plan(model)
        if plan.in_float and not self.allow_float:
            raise float_error(plan.in_float[0], f"has no int8 form on {self.target}", len(plan.in_float) - 1)
        first: dict[object, Node] = {}
        for node in model.graph.nodes:
            inputs = {}
            for operand in node.all_input_nodes if node.op == "call_function" else ():
                if operand.name in plan.values:
                    inputs[operand] = SharedQuantizationSpec(operand)
                elif operand.op == "get_attr" and operand.target in plan.constants:
                    inputs[operand] = self._constant(plan.constants[operand.target])
                elif inputs and operand.op == "get_attr":
                    inputs[operand] = None  # a bias: its scale is that of the products, which int32 holds
            output = None
            if row := plan.values.get(node.name):
                key = (row.cluster, row.fixed)
                output = SharedQuantizationSpec(first[key]) if key in first else self._value(row)
                first.setdefault(key, node)
            if output or any(inputs.values()):
                node.meta[_KEY] = QuantizationAnnotation(input_qspec_map=inputs, output_qspec=output, _annotated=True)
        return model

    def validate(self, model: GraphModule) -> None:
        """Nothing: the compiler has said what it takes."""

    def _value(self, row: Value) -> Any:
        dtype = getattr(torch, row.dtype)
        low, high = torch.iinfo(dtype).min, torch.iinfo(dtype).max
        if row.fixed:
            return FixedQParamsQuantizationSpec(dtype, *row.fixed, quant_min=low, quant_max=high, qscheme=torch.per_tensor_affine)
        scheme = torch.per_tensor_symmetric if row.symmetric else torch.per_tensor_affine
        observer = MovingAverageMinMaxObserver if self.qat else HistogramObserver
        return QuantizationSpec(dtype, self._observer(observer), low, high, scheme)

    def _constant(self, row: Constant) -> Any:
        dtype = getattr(torch, row.dtype)
        if row.axis < 0:
            scheme = torch.per_tensor_symmetric if row.symmetric else torch.per_tensor_affine
            observer = MovingAverageMinMaxObserver if self.qat else MinMaxObserver
            return QuantizationSpec(dtype, self._observer(observer, averaging_constant=1.0), row.low, row.high, scheme)
        observer = MovingAveragePerChannelMinMaxObserver if self.qat else PerChannelMinMaxObserver
        return QuantizationSpec(
            dtype, self._observer(observer, averaging_constant=1.0), row.low, row.high, torch.per_channel_symmetric, ch_axis=row.axis
        )

    def _observer(self, observer: Any, **moving: float) -> Any:
        if self.qat:
            return FakeQuantize.with_args(observer=observer, eps=_EPS, **moving)
        return observer.with_args(eps=_EPS)


def float_error(where: str, what: str, others: int = 0) -> Exception:
    more = f", and {others} more operators" if others else ""
    return error(where, f"stays in float: it {what}{more}", "quantizer.float", "change the model, or give allow_float=True")


def check(model: Any, qat: bool) -> None:
    if not isinstance(model, GraphModule):
        raise TypeError(f"a quantizer takes the GraphModule of torch.export.export(model, inputs).module(), not {type(model).__name__}")
    for node in model.graph.nodes:
        if str(node.target).startswith("quantized_decomposed."):
            raise quantized_already(describe(node))
        if not qat and (counts_batches(node) or any(node_argument(node, at) is True for at in training_arguments(node))):
            raise error(
                describe(node),
                "is in training mode",
                "model.training",
                "call model.eval() before the export, or train it: prepare_qat_pt2e with Quantizer(target, qat=True)",
            )


def quantized_already(where: str) -> Exception:
    return error(where, "is quantized already", "quantizer.quantized", "annotate the float model")


def counts_batches(node: Node) -> bool:
    """Batch norm counts the batches of its training. The counter is left where PT2E has folded the batch norm itself into a convolution."""
    return any(str(operand.target).endswith("num_batches_tracked") for operand in node.all_input_nodes)


def describe(node: Node) -> str:
    return f"{str(node.target).removesuffix('.default')} `{node.name}`"


def training_arguments(node: Node) -> list[int]:
    schema = getattr(node.target, "_schema", None) if node.op == "call_function" else None
    return [] if schema is None else [k for k, a in enumerate(schema.arguments) if a.name in _TRAINING]


def node_argument(node: Node, at: int) -> object:
    name = node.target._schema.arguments[at].name
    return node.args[at] if at < len(node.args) else node.kwargs.get(name)


def freeze_statistics(prepared: GraphModule) -> None:
    """For the last epochs of training: ranges of activations and the statistics of batch norm stay as they are.

    Weights go on being measured as they are trained. Training then sees what the program will compute.
    """
    for part in prepared.modules():
        if isinstance(part, FakeQuantize) and getattr(part.activation_post_process, "averaging_constant", 1.0) != 1.0:
            part.disable_observer()
    for node in prepared.graph.nodes:
        if "batch_norm" in str(node.target):
            set_in_training(node, False)
    prepared.recompile()


def set_in_training(node: Node, value: bool) -> None:
    for at in training_arguments(node):
        if at < len(node.args):
            node.args = (*node.args[:at], value, *node.args[at + 1 :])


def as_evaluated(model: GraphModule) -> GraphModule:
    """A copy in evaluation mode whose operators have the same names."""
    model = copy.deepcopy(model)
    for node in reversed(model.graph.nodes):
        set_in_training(node, False)
        if node.op in ("call_function", "call_module") and not node.users:  # guards, and counters of batches
            model.graph.erase_node(node)
    model.recompile()
    return model


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
        if node.name in names and node.args and (operand := rows.get(node.args[0].name)):
            rows.setdefault(node.name, operand._replace(name=node.name))
    parameters = {**program.graph_signature.inputs_to_parameters, **program.graph_signature.inputs_to_buffers}
    parameters |= program.graph_signature.inputs_to_lifted_tensor_constants
    weights: dict[str, Constant] = {}
    for row in (Constant(*c) for c in constants if c[0] in parameters):
        other = weights.setdefault(parameters[row.name], row)
        if other[2:] != row[2:]:
            raise error("the model", f"reads `{parameters[row.name]}` in two ways", "quantizer.shared", "give each layer a parameter of its own")
    floats = [f"{op} `{module or own.get(name, name)}`" for name, op, module in in_float]
    return Plan(rows, weights, [own[name] for name in in_parts], floats)


def one_sample(x: Any) -> Any:
    """Zeros like the input, with its order of axes; where a size is open, 1."""
    shape = [size if isinstance(size, int) else 1 for size in x.shape]
    order = list(range(x.dim()))
    if all(isinstance(stride, int) for stride in x.stride()):
        order.sort(key=lambda k: (-x.stride(k), k))
    return torch.zeros([shape[k] for k in order], dtype=x.dtype).permute([order.index(k) for k in range(x.dim())])


def makes_tensor(node: Node) -> bool:
    value = node.meta.get("val")
    return node.op == "call_function" and isinstance(value[0] if isinstance(value, (tuple, list)) else value, torch.Tensor)


def original_names(model: GraphModule, program: Any) -> dict[str, str]:
    """The names of inputs and operators in `model` by those of its export."""
    lists = []
    lifted = {s.arg.name for s in program.graph_signature.input_specs if s.target is not None}
    for graph in (model.graph, program.graph):
        lists.append([n for n in graph.nodes if makes_tensor(n) or (n.op == "placeholder" and n.name not in lifted)])
    pairs = list(zip(*lists))
    if len(lists[0]) != len(lists[1]) or any(a.op != b.op or (a.op == "call_function" and a.target != b.target) for a, b in pairs):
        raise InternalError("the export of the model has other operators than the model")
    return {b.name: a.name for a, b in pairs}


# What a target may have only the parts of, as operators of torch. Which operators are taken apart is for the compiler to say.
Emit = Callable[..., Node]


def layer_norm_parts(
    emit: Emit, x: Node, shape: list[int], weight: Optional[Node] = None, bias: Optional[Node] = None, eps: float = 1e-5, _: bool = True
) -> Node:
    aten = torch.ops.aten
    axes = list(range(-len(shape), 0))
    deviation = emit(aten.sub.Tensor, x, emit(aten.mean.dim, x, axes, True))
    variance = emit(aten.mean.dim, emit(aten.pow.Tensor_Scalar, deviation, 2), axes, True)
    y = emit(aten.mul.Tensor, deviation, emit(aten.rsqrt.default, emit(aten.add.Tensor, variance, eps)))
    if weight is not None:
        y = emit(aten.mul.Tensor, y, weight)
    return y if bias is None else emit(aten.add.Tensor, y, bias)


_PARTS: dict[object, Callable[..., Node]] = {torch.ops.aten.layer_norm.default: layer_norm_parts}


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
        node.replace_all_uses_with(_PARTS[node.target](emit, *node.args, **node.kwargs))
    model.graph.erase_node(node)
