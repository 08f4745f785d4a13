# SPDX-License-Identifier: Apache-2.0
"""The report of a compilation, typed. docs/reports.md says what its figures mean."""

from __future__ import annotations

import functools
import html
import types
import typing
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Optional, TypeVar

T = TypeVar("T")


class Rows(list[T]):
    """A list of dataclasses that a notebook shows as a table."""

    def to_pandas(self) -> Any:
        """A DataFrame with a column for each member."""
        import pandas

        return pandas.DataFrame([{name: getattr(row, name) for name in self._names()} for row in self])

    def _names(self) -> list[str]:
        return [f.name for f in fields(typing.cast(Any, self[0]))] if self else []

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def _repr_html_(self) -> str:
        names = self._names()
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        rows = ("".join(f"<td>{html.escape(str(getattr(row, name)))}</td>" for name in names) for row in self)
        return f"<table><tr>{head}</tr>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def from_json(kind: type[T], value: dict[str, Any]) -> T:
    """A dataclass of the members that it has; others are left out, missing ones have their defaults."""
    hints = hints_of(typing.cast(Any, kind))
    members = {name: convert(hint, value[name]) for name, hint in hints.items() if name in value}
    return kind(**members)


@functools.lru_cache(maxsize=None)
def hints_of(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def convert(hint: Any, value: Any) -> Any:
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) in (typing.Union, getattr(types, "UnionType", None)):
        return None if value is None else convert(arguments[0], value)
    if typing.get_origin(hint) is list:
        made = [convert(arguments[0], one) for one in value]
        return Rows(made) if is_dataclass(arguments[0]) else made
    return from_json(typing.cast(type, hint), value) if is_dataclass(hint) else value


@dataclass(frozen=True)
class Port:
    """An input or an output of the model, in its own axes."""

    name: str
    dtype: str
    shape: list[int]
    storage_order: list[int]


@dataclass(frozen=True)
class OperatorPlace:
    """Where an operator went, and why."""

    name: str
    op: str
    source: str
    placement: str  #: "npu", "cortex_m" or "portable"
    reason: str
    macs: int
    float_bytes: int
    delegate: int
    cycles: Optional[int]
    bound: str
    assumed: bool = False  #: by a kernel that the open model of the NPU is assumed to have
    kernels: list[str] = field(default_factory=list)  #: functions that the call comes to on the target's core
    other_kernels: list[str] = field(default_factory=list)  #: why others, which the core has for such calls, do not serve it
    plain: str = ""  #: why the call has plain weights, or is no exact addition, where those are asked for


@dataclass(frozen=True)
class Counts:
    """Operators by placement."""

    npu: int
    cortex_m: int
    portable: int


@dataclass(frozen=True)
class RowSplit:
    """What computing in bands of rows saved and cost."""

    operators: int
    bands: int
    extra_calls: int
    extra_macs: int
    copies: int
    ram_before: int
    ram_after: int


@dataclass(frozen=True)
class CallOrder:
    """Operators that run in another order than the model's, since that needs less memory."""

    moved: int
    ram_before: int
    ram_after: int


@dataclass(frozen=True)
class Slimming:
    """Filters of int8 layers that the program does without, with the same results to the bit."""

    filters: int  #: of all int8 layers
    left_out: int  #: of these
    constant: int  #: give one number whatever the input is, left out or not
    alike: int  #: left out: they always give what another filter of the layer does
    unread: int  #: left out: nothing that reads them has a weight other than 0 for them
    macs_left_out: int
    constants_left_out: int  #: bytes, before weights are packed


@dataclass(frozen=True)
class UnitOrder:
    """Fully connected layers whose units stand in the order of how rarely they are zero."""

    layers: int
    macs_behind: int  #: multiply-adds of the layers that read them
    macs_left_out: int  #: of these, since they meet zeros: in the mean over samples that an order was not chosen on


@dataclass(frozen=True)
class Cycles:
    """Predicted time of one inference; None: not known."""

    npu: int
    cpu: Optional[int]
    crossing: int
    wait_for_constants: int
    wait_for_tensors: int
    total: Optional[int]
    cpu_calls_not_known: int
    milliseconds: Optional[float]


@dataclass(frozen=True)
class Crossing:
    """A tensor that crosses the NPU's border."""

    tensor: str
    delegate: int
    to: str
    bytes: int


@dataclass(frozen=True)
class ExactForms:
    """Operators that keep an exact form, since the NPU's costs accuracy; signal to noise, simulated."""

    operators: list[str]
    tables: int  # functions of sigmoid and tanh beside these
    sqnr_db: float
    sqnr_db_as_npu: float


@dataclass(frozen=True)
class Preference:
    """How the NPU's part was chosen."""

    prefer: str
    cycles: Optional[int]
    all_npu_cycles: Optional[int]
    all_cpu_cycles: Optional[int]
    programs_compared: int


@dataclass(frozen=True)
class Choice:
    """An operator that either side could take."""

    operator: str
    placement: str
    why_not_npu: str
    npu_cycles: Optional[int]
    cpu_cycles: Optional[int]


@dataclass(frozen=True)
class RamAtCall:
    """Bytes alive while a kernel runs."""

    call: str
    bytes: int


@dataclass(frozen=True)
class MemoryUse:
    """A memory of the target; bytes None: as large as need be."""

    name: str
    bytes: Optional[int]
    holds: list[str]
    reach: list[str]
    planned: int


@dataclass(frozen=True)
class PlacedMemory:
    """What lies in a memory, in bytes. `file`: the program lies there, too."""

    name: str
    bytes: Optional[int]
    used: int
    tensors: int
    constants: int
    file: bool


@dataclass(frozen=True)
class PlacedThing:
    """A tensor or constant, the memory that it got, the bytes of an inference read and written there, and the cycles that the CPU waits."""

    name: str
    kind: str
    memory: str
    bytes: int
    read: int
    written: int
    cycles: int


@dataclass(frozen=True)
class MemoryPlacement:
    """Cycles of waiting for memories in one inference; `bound`: no placing has fewer. The hottest things come first."""

    cycles: int
    bound: int
    optimal: bool
    greedy_cycles: Optional[int]
    slowest_cycles: Optional[int]
    memories: list[PlacedMemory]
    things: list[PlacedThing]


@dataclass(frozen=True)
class Flash:
    """Bytes of the file."""

    constants: int
    npu: int
    program: int
    padding: int
    file: int


@dataclass(frozen=True)
class PeakTensor:
    """A tensor that is alive at the peak."""

    name: str
    bytes: int
    type: str


@dataclass(frozen=True)
class Peak:
    """What is alive where the most memory is used."""

    operator: str
    tensors: list[PeakTensor]


@dataclass(frozen=True)
class Folded:
    """An operator of the model that needs no kernel."""

    name: str
    op: str
    reason: str


@dataclass(frozen=True)
class Quantization:
    """The int8 parameters of a tensor, and the range that they were chosen for."""

    name: str
    low: Optional[float]
    high: Optional[float]
    scale: float
    zero_point: int
    observer: str
    mean_squared_error: Optional[float]
    shared: bool


@dataclass(frozen=True)
class PartAccuracy:
    """How far a part of an output is from the float model's: an output, or one index of an axis where sizes differ."""

    sqnr_db: Optional[float]  #: None: equal
    held_out_sqnr_db: Optional[float]
    max_abs_error: Optional[float]
    low: Optional[float]  #: of the float model's
    high: Optional[float]
    steps: Optional[float]  #: of the program over that; None: not known
    constant: bool  #: one number for all samples, where the float model's vary
    name: str = ""
    axis: Optional[int] = None
    index: Optional[int] = None


@dataclass(frozen=True)
class OutputAccuracy:
    """Of one output. Integers have `equal` of `count` and no dB."""

    name: str
    sqnr_db: Optional[float] = None
    max_abs_error: Optional[float] = None
    axis: Optional[int] = None  #: along which parts differ in size
    parts: list[PartAccuracy] = field(default_factory=list)
    equal: Optional[int] = None
    count: Optional[int] = None
    held_out_equal_share: Optional[float] = None


@dataclass(frozen=True)
class Report:
    """What a compilation came to."""

    model: str
    target: str
    operators: list[OperatorPlace]
    counts: Counts
    not_in_stock_firmware: list[str]
    ram_bytes: int
    ram_lower_bound_bytes: int
    ram_optimal: bool
    scratch_bytes: int
    constants_bytes: int
    program_bytes: int
    file_bytes: int
    macs: int
    delegates_bytes: int
    npu_cycles: int
    npu_macs: int
    npu_delegates: int
    cycles: Cycles
    crossings: list[Crossing]
    transposes: int
    npu_transposes: int
    border_transposes: int
    prefer: Optional[Preference]
    exact_forms: Optional[ExactForms]
    choices: list[Choice]
    ram_over_time: list[RamAtCall]
    memories: list[MemoryUse]
    flash: Flash
    inputs: list[Port]
    outputs: list[Port]
    peak: Optional[Peak]
    folded: list[Folded]
    model_was_quantized: bool
    quantization_policy: str
    quantization: list[Quantization]
    quantization_gain_db: Optional[float] = None
    npu_macs_share: Optional[float] = None
    npu_kernels_not_predicted: int = 0
    npu_kernels_assumed: int = 0  #: that the open model of the NPU is assumed to have; each may be two on a chip
    npu_cycles_without_assumed: int = 0  #: if each is
    row_split: Optional[RowSplit] = None
    call_order: Optional[CallOrder] = None
    unit_order: Optional[UnitOrder] = None
    slimming: Optional[Slimming] = None
    memory_placement: Optional[MemoryPlacement] = None  #: of a target with several memories that says their speeds
    sqnr_db: Optional[float] = None  #: against the float model, on the calibration samples; None: not measured, or exact
    worst_output: Optional[PartAccuracy] = None  #: the worst output, or part of one; None: there is one part only
    output_accuracy: list[OutputAccuracy] = field(default_factory=list)
    held_out_sqnr_db: Optional[float] = None  #: what other data may give: cross-validation over the samples
    held_out_sqnr_db_of_halves: Optional[list[float]] = None  #: what a tenth of the halves of the samples is under, and over
    exact: bool = False
    max_abs_error: Optional[float] = None
    samples: int = 0
    seconds: float = 0.0
    json: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)  #: all of it, as `--json` writes it
    page: str = field(default="", repr=False, compare=False)  #: the page that `--html` writes
    summary: str = field(default="", repr=False, compare=False)  #: what the command line prints

    def __str__(self) -> str:
        return self.summary or repr(self)

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self.page)}" style="width:100%;height:40em;border:0"></iframe>'


@dataclass(frozen=True)
class Finding:
    """What `deuteron.doctor` found: a cost of the model on the target, and the change that saves it."""

    concern: str  #: "time", "memory", "accuracy", ...
    rule: str
    what: str
    cost_text: str
    why: str
    change: str
    code: str = ""  #: the change as a line of Python
    cost: Optional[float] = None
    unit: str = ""

    def __str__(self) -> str:
        text = f"{self.concern}: {self.what}  [{self.rule}]"
        for name, said in (("costs", self.cost_text), ("why", self.why), ("change", self.change)):
            if said:
                text += f"\n    {name:<6}  {said}"
        return text


@dataclass(frozen=True)
class OutputDifference:
    """How far an output is from the float model's. `sqnr_db` None: equal."""

    index: int
    name: str
    sqnr_db: Optional[float]
    max_abs_error: float
    worst_sample: int
    worst_index: int


@dataclass(frozen=True)
class OperatorDifference:
    """What an operator has lost up to there."""

    name: str
    op: str
    sqnr_db: Optional[float]
    max_abs_error: float
    clipped: float
    range_used: float
    low: float
    high: float


@dataclass(frozen=True)
class Comparison:
    """A program beside the float model. Where compiling with these options does not give the program, there are no `operators`, and a reason."""

    outputs: list[OutputDifference]
    samples: int
    operators: list[OperatorDifference] = field(default_factory=list)
    why_no_operators: str = ""


@dataclass(frozen=True)
class Evaluation:
    """Accuracy of a program, and of the float model where that was given. Shares from 0 to 1."""

    samples: int
    program_top1: Optional[float] = None
    program_right: Optional[int] = None
    model_top1: Optional[float] = None
    model_right: Optional[int] = None
    agreement: Optional[float] = None
    worst_output: Optional[PartAccuracy] = None
    output_accuracy: list[OutputAccuracy] = field(default_factory=list)
    sqnr_db: Optional[float] = None
    max_abs_error: Optional[float] = None
    inference_seconds: float = 0.0


@dataclass(frozen=True)
class KernelTime:
    """A kernel of a profile: a row of a table. Ticks are those of `clock`."""

    name: str
    calls: int
    min: int
    median: int
    max: int
    total: int
    share: float
    operators_text: str = ""  #: the model's operators that it computes; empty: none, or no record of the compilation
    placement: str = ""
    clock: str = ""
    macs: Optional[int] = None
    macs_per_tick: Optional[float] = None
    bytes: Optional[int] = None
    predicted_cycles: Optional[int] = None


@dataclass(frozen=True)
class Target:
    """What can be compiled for."""

    name: str
    description: str
    cpu: str
    isa: str
    backends: list[str]


@dataclass(frozen=True)
class TargetOperator:
    """An operator on a target: its kernel or NPU builtin, how it is quantized, and its limits."""

    name: str
    target: str
    kernel: str
    builtin: str
    operands: str
    result: str
    constraints: str
