# SPDX-License-Identifier: Apache-2.0
"""deuteron.compile, what can be said without a program, and what can be asked of targets."""

from __future__ import annotations

import os
from typing import Any

from . import _core
from ._data import Path, is_path, path_bytes, read_samples, specs_of
from ._diagnostics import error, tell
from ._memory_file import MemoryFiles
from ._model import model_path
from ._options import words_of
from ._program import Program, report_of
from ._report import Finding, Report, Rows, Target, TargetOperator, from_json
from ._verbs import Progress, run_verb, run_verb_with_summary

_OWN = ("model", "target", "calibration", "example_inputs", "has_labels", "progress")


def compile(
    model: Any,
    *,
    target: Path,
    calibration: Any = None,
    example_inputs: Any = None,
    has_labels: bool = False,
    progress: Progress = None,
    **options: Any,
) -> Program:
    """A model becomes a program for a target.

    `model` is the path of a `.pt2`, `.tflite` or `.onnx` file, a `torch.export.ExportedProgram`, or an `nn.Module` in evaluation mode with
    `example_inputs`: a tuple of tensors, a dict by the inputs' names, or a DataLoader, whose first sample is taken; without it, that of a
    DataLoader in `calibration`. `target` is a name of `deuteron.targets()` or the path of a `.toml` file. `calibration` is sample data for a
    float model: an array, a tensor, any iterable of arrays, tensors, tuples of them (one for each input) or dicts by the inputs' names,
    or the path of a file or folder. Batches are taken apart. `has_labels`: the last member of each tuple is a label and is left out.

    `options` are those of `deuteron compile`, with underscores: `max_ram=65536`, `dialect="stock"`, `strict=True`,
    `explain=["conv1"]`; `deuteron.options()` lists them. `progress` is called with (what, done, total); True shows a bar where tqdm is
    installed. The GIL is released meanwhile, and Ctrl-C ends the compilation within a second.

    >>> import deuteron
    >>> program = deuteron.compile(demo_model, target="imxrt700cm", calibration=demo_images)
    >>> program.report.counts
    Counts(npu=11, cortex_m=2, portable=0)
    >>> deuteron.compile(demo_model, target="cortex-m55", calibration=demo_images, max_ran=1)
    Traceback (most recent call last):
        ...
    TypeError: compile() has no option 'max_ran'; near it: max_ram (deuteron.options('compile') lists them)
    """
    kept = {name: options.pop(name, None) for name in ("html", "etrecord")}
    with MemoryFiles() as files:
        words = model_words("compile", model, target, calibration, example_inputs, has_labels, options, files)
        program, page, record = (files.add(name) for name in ("<program>", "<page>", "<record>"))
        words += [f"--output={program.path}", f"--html={page.path}", f"--etrecord={record.path}"]
        result, summary = run_verb_with_summary(words, files.names, progress)
        if "stopped_after" in result:
            raise error(result["model"], f"stopped after {result['stopped_after']}, so there is no program", "pipeline.stopped", "leave stop_after out")
        report = report_of(result, page.read(), summary, files.names)
        for name, content in (("html", report.page.encode()), ("etrecord", record.read())):
            if kept[name] is not None:
                tell(_core.write_whole(path_bytes(kept[name]), content))
        return Program(program.read(), report.model, report=report, record=record.read(), options={**options, "target": os.fspath(target)})


def analyze(
    model: Any,
    *,
    target: Path,
    calibration: Any = None,
    example_inputs: Any = None,
    has_labels: bool = False,
    progress: Progress = None,
    **options: Any,
) -> Report:
    """Where a model's operators would run and what they would cost, without a program. Parameters as of `compile`.

    >>> import deuteron
    >>> deuteron.analyze(demo_model, target="cortex-m4", calibration=demo_images).counts
    Counts(npu=0, cortex_m=13, portable=0)
    """
    with MemoryFiles() as files:
        words = model_words("analyze", model, target, calibration, example_inputs, has_labels, options, files)
        page = files.add("<page>")
        result, summary = run_verb_with_summary([*words, f"--html={page.path}"], files.names, progress)
        return report_of(result, page.read(), summary, files.names)


def doctor(
    model: Any,
    *,
    target: Path,
    calibration: Any = None,
    example_inputs: Any = None,
    has_labels: bool = False,
    progress: Progress = None,
    **options: Any,
) -> Rows[Finding]:
    """What keeps a model off the NPU, out of RAM, slow, large or inaccurate, the costliest first. Parameters as of `compile`.

    >>> import deuteron
    >>> [finding.rule for finding in deuteron.doctor(demo_model, target="cortex-m3", calibration=demo_images)]
    ['doctor.float_ports']
    """
    with MemoryFiles() as files:
        words = model_words("doctor", model, target, calibration, example_inputs, has_labels, options, files)
        result = run_verb(words, files.names, progress)
        return Rows(from_json(Finding, one) for one in result["findings"])


def inspect(file: Path) -> dict[str, Any]:
    """What is in a program, a model, a trace or a record: the JSON of `deuteron inspect`.

    >>> import deuteron
    >>> [port["name"] for port in deuteron.inspect(demo_model)["inputs"]]
    ['x']
    """
    path = os.fspath(file)
    return run_verb(["inspect", os.path.join(".", path) if path.startswith("-") else path], {})


def model_words(
    verb: str,
    model: Any,
    target: Path,
    calibration: Any,
    example_inputs: Any,
    has_labels: bool,
    options: dict[str, Any],
    files: MemoryFiles,
) -> list[str]:
    """The command line of a verb that compiles a model."""
    words = words_of(verb, options, _OWN)
    path = model_path(model, example_inputs, files, has_labels, otherwise=calibration)
    return [verb, path, f"--target={os.fspath(target)}", *words, *calibration_words(path, calibration, has_labels, files)]


def calibration_words(path: str, calibration: Any, has_labels: bool, files: MemoryFiles) -> list[str]:
    if calibration is None:
        return []
    specs = []
    if not is_path(calibration):
        raw, _, diagnostics = _core.model_inputs(path_bytes(path))
        tell(diagnostics, files.names)
        specs = specs_of(raw)
    paths, _ = read_samples(calibration, specs, has_labels, "calibration", files)
    return [f"--calibrate={one}" for one in paths]


def targets() -> Rows[Target]:
    """What can be compiled for.

    >>> import deuteron
    >>> [t.isa for t in deuteron.targets() if t.name == "cortex-m55"]
    ['mve']
    """
    return Rows(from_json(Target, one) for one in run_verb(["targets"], {})["targets"])


def ops(target: Path) -> Rows[TargetOperator]:
    """The operators that a target has, with their limits.

    >>> import deuteron
    >>> [o.kernel for o in deuteron.ops("cortex-m55") if o.name == "add"]
    ['cortex_m::quantized_add']
    """
    return Rows(from_json(TargetOperator, one) for one in run_verb(["ops", f"--target={os.fspath(target)}"], {})["operators"])
