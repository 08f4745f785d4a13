# SPDX-License-Identifier: Apache-2.0
"""DeuteronPartitioner: which parts of an edge program the target computes in int8. Needs torch and
executorch."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, Optional

import executorch.kernels.quantized  # noqa: F401  (out variants of what is left, as dequantize)
import torch
from executorch.exir.backend.partitioner import DelegationSpec, Partitioner, PartitionResult
from executorch.exir.backend.utils import tag_constant_data
from torch.export import ExportedProgram
from torch.fx import Node
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from .._compile import analyze, ops
from .._data import Path
from .._diagnostics import DeuteronWarning, Diagnostic, Error, error
from .._options import words_of
from .aten import Data, as_aten, data_of, is_getitem
from .backend import DeuteronBackend, sources_of, specs_of
from .batch import is_open, mixes_samples

_READ = ("aten::", "quantized_decomposed::", "dim_order_ops::")
_NAMED = re.compile(r"`(\w+)`")


class LeftOver(NamedTuple):
    """An operator that the partitioner leaves to others."""

    operator: str  #: as "aten.atan2.default `aten_atan2_default`"
    rule: str
    reason: str
    measured: str = ""
    limit: str = ""

    def __str__(self) -> str:
        measured = f": {self.measured}, limit {self.limit}" if self.measured else ""
        return f"{self.operator}: {self.reason}{measured}  [{self.rule}]"


class Report(list[LeftOver]):
    """What the last program's partitioning left to others."""

    def __str__(self) -> str:
        alike: dict[tuple[str, str], list[LeftOver]] = {}
        for one in self:
            alike.setdefault((one.operator.partition(" ")[0], one.rule), []).append(one)
        lines = [
            f"{first}" + (f", and {len(more)} more such operators" if more else "")
            for first, *more in alike.values()
        ]
        return "\n".join(lines) or "nothing is left"


class DeuteronPartitioner(Partitioner):  # type: ignore[misc]
    """Gives `DeuteronBackend` the largest parts of a program that `target` computes in int8,
    whoever has quantized it.

    `options` are those of `deuteron.compile`. `float="portable"`: also what stays in float, with
    our portable kernels. It composes with other
    partitioners: what an earlier one has taken stays taken. `report` says what is left to others,
    and why.

    >>> from deuteron.executorch import DeuteronPartitioner
    >>> DeuteronPartitioner("cortex-m56")
    Traceback (most recent call last):
        ...
    deuteron._diagnostics.Error: target cortex-m56: error: there is no target of this name...
    """

    def __init__(self, target: Path, *, float: Optional[str] = None, **options: Any) -> None:
        super().__init__()
        if float not in (None, "portable"):
            raise ValueError(f'float is "portable" or None, not {float!r}')
        ops(target)  # a target that is not known is said here, and so is an option
        words_of("compile", options, ())
        self.target = str(target)
        self.options = options
        self.with_float = float == "portable"
        self.report = Report()
        self.parts = 0  # of the last program
        self.tells_unquantized = not self.with_float
        self._methods: list[ExportedProgram] = []  # of the program that is asked for
        self._is_asked = True  # until the first of them is partitioned
        self._data: Data = {}  # theirs, which partition() does not see

    def ops_to_not_decompose(
        self, ep: ExportedProgram
    ) -> tuple[list[Any], Optional[Callable[[Node], bool]]]:
        """Operators that are taken wherever they stand: as they are they cost one kernel, and in
        parts perhaps several."""
        if ep.dialect != "EDGE":  # it asks once more about what it has lowered
            self._note_method(ep)
        places = self._places(ep)
        taken: dict[Any, bool] = {}
        for node in ep.graph.nodes:
            if node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload):
                taken[node.target] = taken.get(node.target, True) and node in places.computed
        return [target for target, always in taken.items() if always], None

    def _note_method(self, program: ExportedProgram) -> None:
        """ExecuTorch asks about each method, then has the first one partitioned."""
        if not self._is_asked:
            self._methods, self._data, self._is_asked = [], {}, True
        if not any(program is one for one in self._methods):
            self._methods.append(program)
            self._data |= data_of(program)

    def partition(self, exported_program: ExportedProgram) -> PartitionResult:
        self._is_asked = False
        check_sizes(exported_program)
        if self.tells_unquantized:
            check_quantized(exported_program)
        places = self._places(exported_program)
        graph = exported_program.graph_module
        specs = specs_of(self.target, self.options, is_open(exported_program))
        spec = DelegationSpec(DeuteronBackend.__name__, specs)
        takes = _Takes(places.left)
        finder = CapabilityBasedPartitioner(graph, takes, allows_single_node_partition=True)
        tags: dict[str, DelegationSpec] = {}
        given = set(exported_program.graph_signature.user_inputs)
        constants = {n for n in graph.graph.nodes if n.op == "placeholder" and n.name not in given}
        for part in finder.propose_partitions():
            nodes = set(part.nodes)
            rounding = set(filter(is_rounding, nodes))
            computed = nodes & places.computed - rounding
            # Without a quantize or dequantize the compiler has no ranges to go by; one alone, left
            # over between others' operators, would need a kernel that they may not have.
            if rounding and (computed or any(n.args[0] not in constants for n in rounding)):
                tag = f"deuteron_{len(tags)}"
                tags[tag] = spec
                for node in nodes:
                    node.meta["delegation_tag"] = tag
        self.parts = len(tags)
        tag_constant_data(exported_program)
        tag_states(exported_program, shared_states(self._methods))
        self.report = Report(
            places.left.get(n) or idle(n, n in places.computed or not places.computed)
            for n in graph.graph.nodes
            if is_left(n)
        )
        return PartitionResult(exported_program, tags)

    def _places(self, program: ExportedProgram) -> _Places:
        """Asks the compiler. What it cannot read is left out, and it is asked again."""
        left = {
            n: foreign(n) for n in program.graph.nodes if n.op == "call_function" and is_foreign(n)
        }
        if not any(map(is_rounding, program.graph.nodes)):
            return _Places(left, set())
        while (made := as_aten(program, left.__contains__, self._data)) is not None:
            try:
                with warnings.catch_warnings():  # what they say is in the report
                    warnings.simplefilter("ignore", DeuteronWarning)
                    result = analyze(made.program, target=self.target, **self.options).json
            except Error as e:
                unread = {
                    made.nodes[name]: d
                    for d in e.diagnostics
                    if d.severity == "error"
                    for name in _NAMED.findall(d.where)
                    if name in made.nodes
                }
                unread = {
                    n: d for n, d in unread.items() if n.op == "call_function" and n not in left
                }
                if not unread:
                    raise
                left |= {n: left_over(n, d) for n, d in unread.items()}
                continue
            return self._read(result, made.nodes, left)
        return _Places(left, set())

    def _read(
        self, result: dict[str, Any], nodes: dict[str, Node], left: dict[Node, LeftOver]
    ) -> _Places:
        computed: set[Node] = set()
        in_float: dict[Node, LeftOver] = {}
        for row in result["operators"]:
            here = [nodes[name] for name in sources_of(row) if name in nodes]
            if row["placement"] == "portable" and not self.with_float:
                in_float |= {
                    n: LeftOver(describe(n), "target.portable", row["reason"]) for n in here
                }
            else:
                computed |= {n for n in here if n.op == "call_function"}
        for d in result["diagnostics"]:
            for name in _NAMED.findall(d["where"]) + sources_of({"source": d["where"]}):
                if nodes.get(name) in in_float:
                    in_float[nodes[name]] = left_over(
                        nodes[name], Diagnostic(**{k: v for k, v in d.items() if k != "fix"})
                    )
        return _Places(left | in_float, computed - in_float.keys())


class _Places(NamedTuple):
    left: dict[Node, LeftOver]
    computed: set[Node]  #: what kernels of the target compute; the rest moves data, or is folded


class _Takes(OperatorSupportBase):  # type: ignore[misc]
    def __init__(self, left: dict[Node, LeftOver]) -> None:
        super().__init__()
        self.left = left

    def is_node_supported(self, submodules: Any, node: Node) -> bool:
        return node.op == "call_function" and node not in self.left


def check_quantized(program: ExportedProgram) -> None:
    """Of a float program there is nothing to take."""
    if any(is_rounding(n) or "call_delegate" in str(n.target) for n in program.graph.nodes):
        return
    what = "no value is quantized, so all of it stays with others"
    hint = "quantize it, and look whether the quantizer has annotated anything: prepare_pt2e(model, DeuteronQuantizer(target))"
    said = Diagnostic("warning", "the program", what, rule="executorch.unquantized", hint=hint)
    warnings.warn(DeuteronWarning(str(said)), stacklevel=4)


def check_sizes(program: ExportedProgram) -> None:
    if is_open(program) and (node := mixes_samples(program)) is not None:
        raise error(
            describe(node) if node.op == "call_function" else f"`{node.name}`",
            "has an open size, and not only that of a batch whose samples are apart",
            "executorch.dynamic",
            "export the model with fixed sizes",
        )


def shared_states(methods: list[ExportedProgram]) -> set[str]:
    """What one method writes and another one has too: ExecuTorch can give it one place for both
    (`share_mutable_buffers`)."""
    signatures = [program.graph_signature for program in methods]
    written = {state for s in signatures for state in s.buffers_to_mutate.values()}
    there = [state for s in signatures for state in set(s.inputs_to_buffers.values())]
    return {state for state in written if there.count(state) > 1}


def tag_states(program: ExportedProgram, shared: set[str]) -> None:
    """A part keeps the states that it alone reads and writes."""
    signature = program.graph_signature
    nodes = {n.name: n for n in program.graph.nodes}
    writers = {state: nodes[name] for name, state in signature.buffers_to_mutate.items()}
    for name, state in signature.inputs_to_buffers.items():
        if state in shared:
            nodes[name].meta.pop("delegation_tag", None)
        elif state in writers:
            at = {n.meta.get("delegation_tag") for n in [*nodes[name].users, writers[state]]}
            if len(at) == 1 and None not in at:
                nodes[name].meta["delegation_tag"] = at.pop()


def name_of(node: Node) -> str:
    return str(getattr(getattr(node.target, "_schema", None), "name", ""))


def is_rounding(node: Node) -> bool:
    return name_of(node).startswith("quantized_decomposed::")


def is_foreign(node: Node) -> bool:
    if name_of(node).startswith(_READ):
        return False
    return not is_getitem(node) or is_foreign(node.args[0])


def is_left(node: Node) -> bool:
    return (
        node.op == "call_function"
        and "delegation_tag" not in node.meta
        and not is_rounding(node)
        and not is_getitem(node)
    )


def idle(node: Node, in_float: bool) -> LeftOver:
    if in_float:
        return LeftOver(
            describe(node),
            "executorch.not_quantized",
            "has no quantize and no dequantize beside it, so it is in float",
        )
    return LeftOver(
        describe(node),
        "executorch.idle",
        "moves or folds data, and no part that is taken is beside it",
    )


def foreign(node: Node) -> LeftOver:
    if "call_delegate" in str(node.target):
        return LeftOver(describe(node), "executorch.taken", "another backend has it")
    return LeftOver(describe(node), "executorch.operator", "is not an operator of torch")


def left_over(node: Node, said: Diagnostic) -> LeftOver:
    return LeftOver(describe(node), said.rule, said.what, said.measured, said.limit)


def describe(node: Node) -> str:
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        return f"`{node.name}`"
    return f"{schema.name.replace('::', '.')}.{schema.overload_name or 'default'} `{node.name}`"
