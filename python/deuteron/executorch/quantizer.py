# SPDX-License-Identifier: Apache-2.0
"""DeuteronQuantizer: PT2E and quantization-aware training with the compiler's own rules. Needs
torch and torchao."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

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
    Quantizer,
    SharedQuantizationSpec,
)

from .._compile import ops
from .._data import Path
from .._diagnostics import error
from .parts import PARTS, take_apart
from .plan import (
    Constant,
    Plan,
    Value,
    describe,
    node_argument,
    plan_of,
    quantized_already,
    set_in_training,
    training_arguments,
)
from .precision import Choices, Precision

KEY = "quantization_annotation"
# CortexMQuantizer looks at this mark of its own and at no annotation, so behind us it would write
# over ours
_MATCHED = "quantizer_matched"
_EPS = 2.0**-23  # the finest scale that the compiler takes


class DeuteronQuantizer(Quantizer):  # type: ignore[misc]
    """A PT2E quantizer that annotates a model as `deuteron.compile` quantizes it for `target`.

    `qat`: for `prepare_qat_pt2e`; without, for `prepare_pt2e`. An operator that has no int8 form on
    the target is an error, unless
    `allow_float`. It stands anywhere in a `ComposableQuantizer`: what is annotated already stays as
    it is.

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
        super().__init__()
        ops(target)  # a target that is not known is said here
        self.target = target
        self.qat = qat
        self.allow_float = allow_float
        self._choices = Choices()

    def set_global(self, precision: Optional[Precision]) -> DeuteronQuantizer:
        """Of every operator that nothing else names: "int8", or "float", which leaves it to other
        quantizers; None is "float" too."""
        self._choices.set_global(precision)
        return self

    def set_operator_type(self, operator: Any, precision: Optional[Precision]) -> DeuteronQuantizer:
        """Of an operator, as `torch.ops.aten.linear.default` or `torch.ops.aten.linear`. Modules
        count before it."""
        self._choices.operators[operator] = self._choices.checked(precision)
        return self

    def set_module_type(
        self, module_type: type, precision: Optional[Precision]
    ) -> DeuteronQuantizer:
        """Of the modules of a class, with all that is in them. Names count before it."""
        self._choices.types[f"{module_type.__module__}.{module_type.__qualname__}"] = (
            self._choices.checked(precision)
        )
        return self

    def set_module_name(self, name: str, precision: Optional[Precision]) -> DeuteronQuantizer:
        """Of a module, as `blocks.0`, with all that is in it; the longest name counts."""
        self._choices.names[name] = self._choices.checked(precision)
        return self

    def set_filter(self, wanted: Optional[Callable[[Node], bool]]) -> DeuteronQuantizer:
        """Nodes for which it is false stay as they are, whatever else is set."""
        self._choices.wanted = wanted
        return self

    def plan(self, model: GraphModule) -> Plan:
        """What the compiler says of the model."""
        check(model, self.qat)
        return plan_of(model, str(self.target))

    def transform_for_annotation(self, model: GraphModule) -> GraphModule:
        check(model, self.qat)
        for name in self.plan(model).in_parts:
            node = next(n for n in model.graph.nodes if n.name == name)
            if not self._choices.takes(node):
                continue
            if node.target in PARTS:
                take_apart(model, node)
            elif not self.allow_float:
                raise float_error(
                    describe(node),
                    f"has an int8 form on {self.target} only as the operators that it is made of",
                )
        model.graph.lint()
        model.recompile()
        return model

    def annotate(self, model: GraphModule) -> GraphModule:
        check(model, self.qat)
        self._choices.check_names(model)
        plan = self.plan(model)
        ours = self._ours(model, plan)
        in_float = [
            plan.in_float[n.name]
            for n in model.graph.nodes
            if n in ours and n.name in plan.in_float
        ]
        if in_float and not self.allow_float:
            raise float_error(in_float[0], f"has no int8 form on {self.target}", len(in_float) - 1)
        first: dict[
            object, Any
        ] = {}  # of the values with the same parameters: a node, or an operand of one
        edges: dict[Node, Node] = {}
        for node in model.graph.nodes:
            row = plan.values.get(node.name)
            if node not in ours:
                if row and has_output(node):
                    first.setdefault(key_of(row), node)
                continue
            inputs = self._inputs(node, plan, first, edges)
            output = self._shared(row, first, node) if row else None
            if output or any(inputs.values()):
                node.meta[KEY] = QuantizationAnnotation(
                    input_qspec_map=inputs, output_qspec=output, _annotated=True
                )
                node.meta[_MATCHED] = True
        return model

    def validate(self, model: GraphModule) -> None:
        """Nothing: the compiler has said what it takes."""

    def _ours(self, model: GraphModule, plan: Plan) -> set[Node]:
        """What is to be annotated here. Operators that the compiler fuses, with no rounding between
        them, are it together or not at all."""
        ours = {
            n
            for n in model.graph.nodes
            if n.op == "call_function" and KEY not in n.meta and self._choices.takes(n)
        }
        fused = [
            n
            for n in model.graph.nodes
            if n.op == "call_function" and not (n.name in plan.values or n.name in plan.in_float)
        ]
        pairs = [(n, user) for n in fused for user in n.users if user.op == "call_function"]
        while torn := {
            end for pair in pairs for end in pair if end in ours and not ours.issuperset(pair)
        }:
            ours -= torn
        return ours

    def _inputs(
        self, node: Node, plan: Plan, first: dict[object, Any], edges: dict[Node, Node]
    ) -> dict[Node, Any]:
        inputs: dict[Node, Any] = {}
        for operand in node.all_input_nodes:
            if row := plan.values.get(operand.name):
                if has_output(operand):
                    inputs[operand] = SharedQuantizationSpec(operand)
                elif operand in edges:
                    inputs[operand] = SharedQuantizationSpec((operand, edges[operand]))
                # an input of the model, or what somebody else leaves in float: it is rounded where
                # it is read
                else:
                    inputs[operand] = self._shared(row, first, (operand, node))
                    edges[operand] = node
            elif operand.op == "get_attr" and operand.target in plan.constants:
                inputs[operand] = self._constant(plan.constants[operand.target])
            elif inputs and operand.op == "get_attr":
                inputs[operand] = (
                    None  # a bias: its scale is that of the products, which int32 holds
                )
        return inputs

    def _shared(self, row: Value, first: dict[object, Any], place: Any) -> Any:
        key = key_of(row)
        if key in first:
            return SharedQuantizationSpec(first[key])
        first[key] = place
        return self._value(row)

    def _value(self, row: Value) -> Any:
        dtype = getattr(torch, row.dtype)
        low, high = torch.iinfo(dtype).min, torch.iinfo(dtype).max
        if row.fixed:
            return FixedQParamsQuantizationSpec(
                dtype, *row.fixed, quant_min=low, quant_max=high, qscheme=torch.per_tensor_affine
            )
        scheme = torch.per_tensor_symmetric if row.symmetric else torch.per_tensor_affine
        observer = MovingAverageMinMaxObserver if self.qat else HistogramObserver
        return QuantizationSpec(dtype, self._observer(observer), low, high, scheme)

    def _constant(self, row: Constant) -> Any:
        dtype = getattr(torch, row.dtype)
        if row.axis < 0:
            scheme = torch.per_tensor_symmetric if row.symmetric else torch.per_tensor_affine
            observer = MovingAverageMinMaxObserver if self.qat else MinMaxObserver
            return QuantizationSpec(
                dtype, self._observer(observer, averaging_constant=1.0), row.low, row.high, scheme
            )
        observer = MovingAveragePerChannelMinMaxObserver if self.qat else PerChannelMinMaxObserver
        return QuantizationSpec(
            dtype,
            self._observer(observer, averaging_constant=1.0),
            row.low,
            row.high,
            torch.per_channel_symmetric,
            ch_axis=row.axis,
        )

    def _observer(self, observer: Any, **moving: float) -> Any:
        if self.qat:
            return FakeQuantize.with_args(observer=observer, eps=_EPS, **moving)
        return observer.with_args(eps=_EPS)


def key_of(row: Value) -> object:
    return row.cluster, row.fixed


def has_output(node: Node) -> bool:
    annotation = node.meta.get(KEY)
    return annotation is not None and annotation.output_qspec is not None


def float_error(where: str, what: str, others: int = 0) -> Exception:
    more = f", and {others} more operators" if others else ""
    hint = 'change the model, give allow_float=True, or leave it to another quantizer: set_module_name(NAME, "float")'
    return error(where, f"stays in float: it {what}{more}", "quantizer.float", hint)


def check(model: Any, qat: bool) -> None:
    if not isinstance(model, GraphModule):
        raise TypeError(
            f"a quantizer takes the GraphModule of torch.export.export(model, inputs).module(), not {type(model).__name__}"
        )
    for node in model.graph.nodes:
        if str(node.target).startswith("quantized_decomposed."):
            raise quantized_already(describe(node))
        if not qat and (
            counts_batches(node)
            or any(node_argument(node, at) is True for at in training_arguments(node))
        ):
            raise error(
                describe(node),
                "is in training mode",
                "model.training",
                "call model.eval() before the export, or train it: prepare_qat_pt2e with DeuteronQuantizer(target, qat=True)",
            )


def counts_batches(node: Node) -> bool:
    """Batch norm counts the batches of its training. The counter is left where PT2E has folded the
    batch norm itself into a convolution."""
    return any(
        str(operand.target).endswith("num_batches_tracked") for operand in node.all_input_nodes
    )


def freeze_statistics(prepared: GraphModule) -> None:
    """For the last epochs of training: ranges of activations and the statistics of batch norm stay
    as they are.

    Weights go on being measured as they are trained. Training then sees what the program will
    compute.
    """
    for part in prepared.modules():
        if (
            isinstance(part, FakeQuantize)
            and getattr(part.activation_post_process, "averaging_constant", 1.0) != 1.0
        ):
            part.disable_observer()
    for node in prepared.graph.nodes:
        if "batch_norm" in str(node.target):
            set_in_training(node, False)
    prepared.recompile()
