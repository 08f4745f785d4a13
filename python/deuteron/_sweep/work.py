# SPDX-License-Identifier: Apache-2.0
"""What a job does. Runs in a process of its own (serve.py); reads nothing but the job and the contents that it names."""

from __future__ import annotations

import errno
import io
import os
import tempfile
import warnings
from typing import Any

import numpy as np

from .._data import Array
from .._diagnostics import DeuteronWarning, Error
from .._memory_file import MemoryFiles
from .._program import Program
from .._verbs import run_verb
from .checked import CHECKS
from .figures import Figures
from .job import Job, Outcome
from .store import Store, hash_of

_OF_MACHINE = ("memory.file",)  # rules of errors that another machine may not have


class MissingContent(Exception):
    """A content that the cache does not have, or has damaged."""


def run_job(store: Store, job: Job) -> Outcome:
    """Computes the job unless the cache has it, and keeps what came of it. A cache that cannot be written costs a warning, not the result."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", DeuteronWarning)
        outcome = computed_or_cached(store, job)
    ours = tuple(str(w.message) for w in said if issubclass(w.category, DeuteronWarning) and "[sweep." in str(w.message))
    return Outcome(outcome.value, outcome.failure, outcome.rule, outcome.was_cached, outcome.warnings + ours)


def computed_or_cached(store: Store, job: Job) -> Outcome:
    value = None if job.again else store.result(job.key, CHECKS[job.kind])
    if value is not None and not (job.keep_program and lacks_program(store, value)):
        return Outcome(value, was_cached=True)
    try:
        value, program = compile_model(store, job.what) if job.kind == "compile" else (evaluate_shard(store, job.what), b"")
    except MissingContent as e:
        return Outcome.failed("sweep.content", f"the cache {store.path} has lost {e}")
    except Error as e:
        if e.rule in _OF_MACHINE:
            return Outcome.failed(e.rule, str(e))
        value, program = {"error": str(e), "rule": e.rule}, b""
    except MemoryError:
        return Outcome.failed("sweep.memory", "no memory is left on the worker")
    try:
        if job.keep_program and program:
            store.keep_content(program)
        store.keep(job.key, value)
    except OSError as e:
        return Outcome(value, warnings=(not_kept(store, e),))
    return Outcome(value)


def lacks_program(store: Store, value: dict[str, Any]) -> bool:
    return "error" not in value and not store.has_content(value["program"])


def not_kept(store: Store, e: OSError) -> str:
    what = "the disk is full" if e.errno in (errno.ENOSPC, errno.EDQUOT) else e.strerror or str(e)
    return f"{store.path}: results cannot be kept: {what}  [sweep.cache]"


def fetch(store: Store, sha: str) -> bytes:
    content = store.content(sha)
    if content is None:
        raise MissingContent(sha)
    return content


def compile_model(store: Store, what: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    with MemoryFiles() as files, tempfile.TemporaryDirectory(prefix="deuteron") as folder:
        model = files.add("<model>", fetch(store, what["model"])).path
        words = list(what["options"])
        words += [f"--calibrate={files.add('calibration', fetch(store, sha)).path}" for sha in what["calibration"]]
        for option, sha in what["files"]:
            words.append(f"--{option}={files.add(option, fetch(store, sha)).path}")
        target = what["target"]
        if what["target_file"]:
            target = os.path.join(folder, f"{what['target']}.toml")
            with open(target, "xb") as file:
                file.write(fetch(store, what["target_file"]))
            files.names[target] = what["target"]
        output = files.add("<program>")
        if not any(word.startswith("--threads=") for word in words):
            words.append("--threads=1")  # the workers are what runs side by side
        report = run_verb(["compile", model, f"--target={target}", *words, f"--output={output.path}"], files.names)
        program = output.read()
    return {**figures_of(report), "program": hash_of(program)}, program


def figures_of(report: dict[str, Any]) -> dict[str, Any]:
    """What a row has of a report; docs/reports.md says what it means."""
    plain = ("ram_bytes", "ram_lower_bound_bytes", "scratch_bytes", "constants_bytes", "program_bytes", "file_bytes", "macs", "npu_macs", "sqnr_db",
             "held_out_sqnr_db", "exact")  # fmt: skip
    cycles = report["cycles"]
    return {
        **{name: report.get(name) for name in plain},
        "cycles": cycles["total"],
        "cpu_cycles": cycles["cpu"],
        "npu_cycles": cycles["npu"],
        "milliseconds": cycles["milliseconds"],
        **{f"{place}_operators": count for place, count in report["counts"].items()},
    }


def evaluate_shard(store: Store, what: dict[str, Any]) -> dict[str, Any]:
    def array(sha: str) -> Array:
        loaded: Array = np.load(io.BytesIO(fetch(store, sha)), allow_pickle=False)
        return loaded

    program = Program(fetch(store, what["program"]), "<program>")
    labels, expected = (None if what[name] is None else array(what[name]) for name in ("labels", "expected"))
    outputs = program.run(*(array(sha) for sha in what["inputs"]))
    first = outputs[0] if isinstance(outputs, tuple) else outputs
    return Figures.of(first, labels, expected).to_json()
