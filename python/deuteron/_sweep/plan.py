# SPDX-License-Identifier: Apache-2.0
"""What a sweep is to do: every model for every target with every set of options, as jobs; and the contents that they name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Optional

from .._data import is_path
from .._diagnostics import error
from .._memory_file import MemoryFiles
from .._model import model_path
from .._options import options as all_of
from .._options import words_of
from .data import Data, TestSamples, calibration_contents, read_whole
from .job import Job
from .store import hash_of

#: Options of `deuteron compile` that write files, print or end early, and those whose result hangs on more than the job says, as a compiler or
#: a key of the machine: a job has a result and nothing else, and a key is no content of a cache.
NOT_IN_SWEEPS = ("html", "etrecord", "intermediates", "stop_after", "explain", "neutron_kernel_selection", "neutron_converter", "neutron_option",
                 "profile", "emit", "board", "name")  # fmt: skip
_FILES = ("firmware_ops",)  # options whose value is a file that is read: its content is part of the key
_PATHS = ("FILE", "DIR", "PATH", "F")  # what stands for a value that names a file
_NO_RESULT = ("threads",)  # never changes a result, so it is in no key


@dataclass(frozen=True)
class Compilation:
    """A row to be."""

    model: str
    target: str
    options: str
    job: Job
    test: Optional[TestSamples]


@dataclass
class Plan:
    compilations: list[Compilation] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)  #: by hash

    def content(self, content: bytes) -> str:
        sha = hash_of(content)
        self.contents[sha] = content
        return sha


def plan_of(models: Any, targets: Any, options: Any, data: Any, keep_programs: bool) -> Plan:
    plan = Plan()
    named_options = options_by_name(options)
    sets = {name: option_words(plan, given) for name, given in named_options.items()}
    places = [target_of(plan, one) for one in ([targets] if is_path(targets) else list(targets))]
    for name, model in models_by_name(models).items():
        own = data_of(data, name)
        sha, calibration = model_contents(plan, model, own)
        test = None if own.inputs is None else TestSamples(own)
        for target, target_file in places:
            for options_name, (words, files) in sets.items():
                what = {"model": sha, "calibration": calibration, "target": target, "target_file": target_file, "options": words, "files": files}
                plan.compilations.append(Compilation(name, target, options_name, Job("compile", what, keep_programs or test is not None), test))
    return plan


def models_by_name(models: Any) -> dict[str, Any]:
    """By name as given; of paths, the path."""
    if isinstance(models, Mapping):
        return {str(name): model for name, model in models.items()}
    if is_path(models):
        models = [models]
    if not isinstance(models, Iterable):
        raise TypeError(f"models is a path, an iterable of paths, or a mapping of names to models, not {type(models).__name__}")
    named: dict[str, Any] = {}
    for model in models:
        if not is_path(model):
            raise TypeError(f"a model that is not a path needs a name: {{'name': model}}, not {type(model).__name__}")
        if os.fspath(model) in named:
            raise error(os.fspath(model), "is there twice", "sweep.models")
        named[os.fspath(model)] = model
    return named


def options_by_name(options: Any) -> dict[str, Mapping[str, Any]]:
    """A set of options, several by name, or a list of sets, whose names are what they say."""
    if options is None:
        return {"": {}}
    if isinstance(options, Mapping):
        if options and all(isinstance(one, Mapping) for one in options.values()):
            return {str(name): one for name, one in options.items()}
        options = [options]
    return {" ".join(f"{k}={v}" for k, v in one.items()): one for one in options}


def data_of(data: Any, model: str) -> Data:
    if isinstance(data, Mapping):
        if model not in data:
            raise error(model, "has no data", "sweep.data", f"data has {', '.join(map(str, data)) or 'nothing'}")
        data = data[model]
    return data if isinstance(data, Data) else Data(calibration=data)


def model_contents(plan: Plan, model: Any, data: Data) -> tuple[str, list[str]]:
    """The hashes of the model and of what calibrates it. A model is a path, an ExportedProgram, or a tuple (nn.Module, example_inputs)."""
    module, example_inputs = model if isinstance(model, tuple) else (model, None)
    with MemoryFiles() as files:
        path = model_path(module, example_inputs, files)
        content = read_whole(path)
        return plan.content(content), [plan.content(one) for one in calibration_contents(data, path)]


def target_of(plan: Plan, target: Any) -> tuple[str, Optional[str]]:
    """Its name, and the hash of its file where it has one."""
    text = os.fspath(target)
    if not text.endswith(".toml"):
        return text, None
    return os.path.basename(text)[: -len(".toml")], plan.content(read_whole(text))


def option_words(plan: Plan, options: Mapping[str, Any]) -> tuple[list[str], list[tuple[str, str]]]:
    """The words, and the options that are files with their hashes."""
    names_file = {o.name for o in all_of("compile") if o.value in _PATHS}
    refused = [name for name in options if name in NOT_IN_SWEEPS or name in names_file and name not in _FILES]
    if refused:
        raise TypeError(f"{refused[0]} is not an option of a sweep: a job has a row and a program, and writes nothing else")
    files = [(name.replace("_", "-"), plan.content(read_whole(os.fspath(options[name])))) for name in options if name in _FILES]
    plain = {name: options[name] for name in sorted(options) if name not in _FILES and name not in _NO_RESULT}
    return words_of("compile", plain), files


def evaluation_jobs(test: TestSamples, program: str, shard_samples: int) -> Iterator[tuple[Job, list[bytes]]]:
    """Jobs for the shards, and the contents that each names."""
    for shard in test.shards(shard_samples):
        contents = [*shard.inputs, *(c for c in (shard.labels, shard.expected) if c is not None)]
        labels, expected = (None if c is None else hash_of(c) for c in (shard.labels, shard.expected))
        yield Job("evaluate", {"program": program, "inputs": [hash_of(c) for c in shard.inputs], "labels": labels, "expected": expected}), contents
