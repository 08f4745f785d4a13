# SPDX-License-Identifier: Apache-2.0
"""A compiled program: run it, measure it, save it."""

from __future__ import annotations

import math
import os
import tempfile
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Optional

import numpy as np

from . import _core
from ._data import Array, InputSpec, Path, path_bytes, read_samples, run_inputs, specs_of, to_numpy
from ._diagnostics import Diagnostic, InternalError, MissingError, as_keywords, error, renamed, tell
from ._memory_file import ArrayFile, MemoryFiles
from ._model import Example, model_path
from ._options import all_options, words_of
from ._report import Comparison, Evaluation, KernelTime, Report, Rows, from_json
from ._verbs import Progress, run_verb

_SEED = 20251121
Bytes = bytes  # Program has a property of that name

#: Threads that hold a lock do not come along into a forked child.
_all: weakref.WeakSet[Program] = weakref.WeakSet()


def _open_locks() -> None:
    for program in _all:
        program._lock = threading.Lock()


os.register_at_fork(after_in_child=_open_locks)


class Program:
    """A program (.pte) for a target. `deuteron.compile` makes one, `deuteron.load` reads one.

    >>> import deuteron, numpy as np
    >>> program = deuteron.compile(demo_model, target="cortex-m55", calibration=demo_images)
    >>> len(program.bytes), program.report.ram_bytes
    (9888, 2176)
    >>> program.run(demo_images[:2]).shape
    (2, 10)
    """

    def __init__(self, content: Bytes, name: str, *, report: Optional[Report] = None, record: Bytes = b"", options: Optional[dict[str, Any]] = None) -> None:
        self._content = Bytes(content)
        self._name = name
        self._report = report
        self._record = record  # ETRecord: how a profile finds the model's operators
        self._options = options or {}
        self._host: Optional[_core.HostRun] = None
        self._lock = threading.Lock()
        _all.add(self)

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled and copied: a copy begins with the first run, with states of its own."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_host", "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _host=None, _lock=threading.Lock())
        _all.add(self)

    @property
    def bytes(self) -> Bytes:
        """The file's content."""
        return self._content

    def _missing(self, what: str, rule: str) -> MissingError:
        return MissingError([Diagnostic("error", self._name, f"was loaded from a file, which has no {what}", rule=rule, hint="compile the model to have one")])

    @property
    def report(self) -> Report:
        """What the compilation came to. A program that was loaded from a file has none: `deuteron.Error`, and `hasattr` is False."""
        if self._report is None:
            raise self._missing("report", "program.report")
        return self._report

    @property
    def inputs(self) -> list[InputSpec]:
        """Name, dtype and shape of each input. A file has no names: a loaded program's are input0, input1, ..."""
        specs = specs_of(self._opened().inputs())
        ports = self._report.inputs if self._report else []
        return [s._replace(name=p.name) for s, p in zip(specs, ports)] if ports else specs

    @property
    def outputs(self) -> list[InputSpec]:
        """Name, dtype and shape of each output."""
        return specs_of(self._opened().outputs())

    @property
    def etrecord(self) -> Bytes:
        """The ETRecord, with which `deuteron inspect` and ExecuTorch's Inspector name the model's operators in a trace.

        A program that was loaded from a file has none, as it has no report.
        """
        if not self._record:
            raise self._missing("record", "program.etrecord")
        return self._record

    def save(self, path: Path) -> None:
        """Writes the program whole or not at all."""
        tell(_core.write_whole(path_bytes(path), self._content))

    def save_html(self, path: Path) -> None:
        """Writes the report as one page that needs no network."""
        tell(_core.write_whole(path_bytes(path), self.report.page.encode()))

    def firmware(self, folder: Path, *, board: str, name: str = "model", **options: Any) -> None:
        """A project in `folder` that builds an image of the program for a board of `deuteron firmware --help`. `name`: the program's, there."""
        with self._as_file(name) as path:
            run_verb(["firmware", path, f"--board={board}", f"--output={os.fspath(folder)}", *words_of("firmware", options)], {path: self._name})

    def emit_c(self, path: Path, *, target: Optional[Path] = None, name: str = "model", **options: Any) -> None:
        """C that calls the kernels, in the folder `path`; or one C++17 header, where that ends in .h or .hpp. `name`: of functions and macros.

        `target`: a program that was loaded from a file does not know it.
        """
        target = target or self._options.get("target")
        if target is None:
            raise error(self._name, "was loaded from a file, which does not say its target", "program.target", "give target=...")
        form = "hpp" if os.fspath(path).endswith((".h", ".hpp")) else "c"
        with self._as_file(name) as file:
            words = ["firmware", file, f"--target={os.fspath(target)}", f"--as={form}", f"--output={os.fspath(path)}"]
            run_verb([*words, *words_of("firmware", options)], {file: self._name})

    def run(self, *inputs: Any, on: str = "host", progress: Progress = None) -> Any:
        """The outputs for the inputs: one array, or a tuple of them where the program has several outputs.

        Inputs are arrays or tensors in the order of `inputs`, or one dict by their names (`input0` means the first). Each is one sample or a series of them;
        outputs are a series where inputs are. Floats or int8, as the program takes. `on`: "host" or "qemu:BOARD".
        """
        arrays = run_inputs(inputs, self.inputs)
        if on != "host":
            return self._run_on_board(arrays, on, progress)
        callback = progress if callable(progress) else None
        raw = [(a.dtype.kind, a.dtype.itemsize, a.shape, a.tobytes()) for a in arrays]
        outputs, count, is_series, diagnostics = self._opened().run(raw, callback)
        tell(diagnostics)
        results = []
        for content, spec in zip(outputs, self.outputs):
            results.append(as_series(np.frombuffer(content, np.dtype(spec.dtype)).copy(), spec.shape, count, is_series))
        return results[0] if len(results) == 1 else tuple(results)

    def compare(
        self, model: Any, data: Any, *, calibration: Any = None, example_inputs: Any = None, has_labels: bool = False, progress: Progress = None, **options: Any
    ) -> Comparison:
        """The program beside the float model, output by output and operator by operator, worst first.

        `calibration` is what the program was compiled with, where that is not `data`; `options` are those of the compilation. A program
        of `deuteron.compile` knows its own.
        """
        known = {k: v for k, v in self._options.items() if k in all_options("compare") and k != "target"}
        with MemoryFiles() as files:
            words = ["compare", model_path(model, example_inputs, files, otherwise=Example(self.inputs)), self._path(files), *words_of("compare", {**known, **options})]
            if "target" in self._options:
                words.append(f"--target={self._options['target']}")
            for option, samples in (("inputs", data), ("calibrate", calibration)):
                if samples is not None:
                    words += self._data_words(option, samples, has_labels, files)[0]
            found = from_json(Comparison, run_verb(words, files.names, progress))
            return replace(found, why_no_operators=as_keywords(found.why_no_operators))

    def evaluate(
        self, data: Any, labels: Any = None, *, model: Any = None, has_labels: bool = False, progress: Progress = None, **options: Any
    ) -> Evaluation:
        """Accuracy on labelled data; with `model`, the float model beside it.

        `labels` are class numbers, one for each sample. With `has_labels` the data gives (inputs, label), as a DataLoader does.
        """
        with MemoryFiles() as files:
            words = ["evaluate", self._path(files), *words_of("evaluate", options)]
            more, found = self._data_words("inputs", data, has_labels, files)
            words += more
            labels = found if labels is None else labels
            if labels is not None:
                words.append(f"--labels={labels if isinstance(labels, (str, os.PathLike)) else self._labels_path(labels, files)}")
            if model is not None:
                words.append(f"--model={model_path(model, None, files, otherwise=Example(self.inputs))}")
            return from_json(Evaluation, run_verb(words, files.names, progress))

    def profile(self, data: Any = None, *, on: str = "host", progress: Progress = None, **options: Any) -> Rows[KernelTime]:
        """The time of every kernel; `.to_pandas()` makes a DataFrame of it. Without data: seeded random inputs."""
        with MemoryFiles() as files:
            trace = files.add("<trace>")
            words = ["profile", self._path(files), f"--on={on}", f"--output={trace.path}", *words_of("profile", options)]
            run_verb(words + self._data_words("input", self._made_up(on) if data is None else data, False, files)[0], files.names, progress)
            words = ["inspect", trace.path, "--rows=0"]
            if self._record:
                words.append(f"--etrecord={files.add('<record>', self._record).path}")
            return Rows(from_json(KernelTime, row) for row in run_verb(words, files.names)["kernels"])

    def _made_up(self, on: str) -> dict[str, Array]:
        samples = 16 if on == "host" else 1
        random = np.random.default_rng(_SEED)
        return {
            s.name: random.uniform(-1, 1, (samples, *s.shape)).astype(np.float32) if s.dtype == "float32" else np.zeros((samples, *s.shape), s.dtype)
            for s in self.inputs
        }

    def _opened(self, verify_key: Bytes = b"") -> _core.HostRun:
        with self._lock:
            if self._host is None:
                self._host, diagnostics = _core.HostRun.open(os.fsencode(self._name), self._content, verify_key)
                tell(diagnostics)
                if self._host is None:
                    raise InternalError("a program that does not load, and no message")
                self._content = Bytes(self._host.whole() or self._content)
            return self._host

    @contextmanager
    def _as_file(self, name: str) -> Iterator[str]:
        """Where its file's name matters: projects call the model by it."""
        with tempfile.TemporaryDirectory(prefix="deuteron") as folder:
            path = os.path.join(folder, f"{name}.pte")
            self.save(path)
            yield path

    def _path(self, files: MemoryFiles) -> str:
        return files.add(self._name, self._content).path

    def _data_words(self, option: str, data: Any, has_labels: bool, files: MemoryFiles) -> tuple[list[str], Optional[Array]]:
        paths, labels = read_samples(data, self.inputs, has_labels, option, files)
        return [f"--{option}={path}" for path in paths], labels

    def _labels_path(self, labels: Any, files: MemoryFiles) -> str:
        array = to_numpy(labels, "labels").reshape(-1)
        file = ArrayFile("labels", array.dtype, ())
        files.keep(file)
        file.append(array)
        file.finish()
        return file.path

    def _run_on_board(self, arrays: Sequence[Array], on: str, progress: Progress) -> Any:
        with MemoryFiles() as files, tempfile.TemporaryDirectory(prefix="deuteron") as folder:
            words = ["run", self._path(files), f"--on={on}", f"--output-dir={folder}"]
            for i, array in enumerate(np.atleast_1d(a) for a in arrays):
                file = ArrayFile(f"run, input {i}", array.dtype, array.shape[1:])
                files.keep(file)
                file.append(array)
                file.finish()
                words.append(f"--input={file.path}")
            written = run_verb(words, files.names, progress)["outputs"]
            samples = [np.load(one["file"]) for one in written]
        results = []
        for content, spec in zip(samples, self.outputs):
            count = content.size // max(1, math.prod(spec.shape))
            results.append(as_series(content, spec.shape, count, content.ndim > len(spec.shape)))
        return results[0] if len(results) == 1 else tuple(results)

    def __repr__(self) -> str:
        if self._report is None:
            return f"<deuteron.Program {self._name}: {len(self._content)} bytes>"
        r = self._report
        return f"<deuteron.Program {r.model} for {r.target}: {r.file_bytes} bytes, {r.ram_bytes} bytes of RAM>"

    def _repr_html_(self) -> str:
        return self.report._repr_html_() if self._report else f"<code>{self!r}</code>"


def as_series(content: Array, shape: tuple[int, ...], count: int, is_series: bool) -> Array:
    """An output of one sample, or of `count` in a row: along the batch where the program has a batch of one, else along an axis before."""
    if not is_series:
        return content.reshape(shape)
    return content.reshape((count, *shape[1:]) if shape[:1] == (1,) else (count, *shape))


def load(path: Path, *, verify_key: Optional[Path] = None) -> Program:
    """A program from its file (.pte), with the data files (.ptd) of ExecuTorch beside it. `verify_key`: the file of a public key (PEM, Ed25519); a program that it has not signed is an error.

    >>> import deuteron, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "model.pte")
    >>> deuteron.compile(demo_model, target="cortex-m4", calibration=demo_images).save(path)
    >>> deuteron.load(path).outputs
    [InputSpec(name='output0', dtype='float32', shape=(1, 10))]
    """
    name = os.fspath(path)
    try:
        with open(name, "rb") as file:
            content = file.read()
    except OSError as e:
        raise error(name, f"cannot be read: {e.strerror}", "file.unreadable") from e
    program = Program(content, name)
    program._opened(b"" if verify_key is None else path_bytes(verify_key))
    return program


def report_of(result: Mapping[str, Any], page: bytes, summary: str, names: dict[str, str]) -> Report:
    told = renamed(page.decode(errors="replace"), {path: name.strip("<>") for path, name in names.items()})
    said = "".join(line for line in summary.splitlines(keepends=True) if not line.startswith("wrote <"))  # to memory
    return replace(from_json(Report, dict(result)), json=dict(result), page=told, summary=said)
