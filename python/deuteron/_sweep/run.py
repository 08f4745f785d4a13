# SPDX-License-Identifier: Apache-2.0
"""Makes the rows of a plan: from the cache what it has, the rest by an engine."""

from __future__ import annotations

import errno
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Optional

from .._diagnostics import DeuteronWarning, error
from .._verbs import Bar, Progress
from .checked import CHECKS, is_evaluation
from .data import TestSamples
from .engine import Engine
from .figures import Figures, summary_of
from .job import Job, Outcome, key_of
from .plan import Compilation, Plan, evaluation_jobs
from .row import COLUMNS, Row
from .store import Store
from .table import Table


@dataclass
class Evaluation:
    """Of one program on one set of samples; rows with the same program share it."""

    key: str
    test: TestSamples
    rows: list[int]
    compilation: Job  #: makes the program again if the cache loses it
    left: int = 0
    figures: Figures = field(default_factory=Figures)
    failed: Optional[Outcome] = None
    is_second: bool = False


class Run:
    """`contents` of the plan go to the cache before the jobs that name them go out."""

    def __init__(self, plan: Plan, store: Store, shard_samples: int, progress: Progress = None) -> None:
        self._plan, self._store, self._shard_samples = plan, store, shard_samples
        self._rows = [Row(c.model, c.target, c.options) for c in plan.compilations]
        self._finished = [False] * len(self._rows)
        self._compiling: dict[str, list[int]] = {}  # by key of the job
        self._evaluations: dict[str, Evaluation] = {}  # by key
        self._of_shard: dict[str, list[Evaluation]] = {}  # by key of the job
        self._shards: dict[str, list[dict[str, Any]]] = {}  # by key of the samples
        self._kept: set[str] = set()  # contents that are known to be in the cache
        self._bar = Bar() if progress is True else None
        self._progress: Callable[[str, int, int], object] | None = self._bar or (progress if callable(progress) else None)

    def run(self, engine: Engine) -> Table:
        try:
            jobs = self._what_the_cache_lacks()
            computed = self._finished.count(False)
            if jobs:
                engine.run(jobs, self._done)
        finally:
            if self._bar:
                self._bar.close()
        return Table(self._rows, computed, len(self._rows) - computed, self._store.path)

    def _what_the_cache_lacks(self) -> list[Job]:
        jobs: list[Job] = []
        for i, c in enumerate(self._plan.compilations):
            if c.job.key in self._compiling:
                self._compiling[c.job.key].append(i)
                continue
            value = self._store.result(c.job.key, CHECKS["compile"])
            if value is None or self._lacks_program(c, value):
                self._compiling[c.job.key] = [i]
                jobs.append(self._with_contents(c.job if value is None else replace(c.job, again=True)))
            else:
                jobs += self._compiled([i], value)
        self._tell()
        return jobs

    def _lacks_program(self, c: Compilation, value: dict[str, Any]) -> bool:
        """And it is needed: to be kept, or because the cache has no evaluation of it."""
        if "error" in value or not c.job.keep_program:
            return False
        if c.test is not None and self._store.result(evaluation_key(value["program"], c.test), is_evaluation) is not None:
            return False
        return not self._store.has_content(value["program"])

    def _done(self, job: Job, outcome: Outcome) -> Iterable[Job]:
        for text in outcome.warnings:
            self._warn(text)
        if job.kind == "evaluate":
            following = [j for e in self._of_shard.pop(job.key) for j in self._evaluated(e, outcome)]
        else:
            rows = self._compiling.pop(job.key)
            following = self._failed(rows, outcome) if outcome.value is None else self._compiled(rows, outcome.value)
        self._tell()
        return following

    def _failed(self, rows: list[int], outcome: Outcome) -> list[Job]:
        for i in rows:
            self._rows[i] = replace(self._rows[i], error=outcome.failure, rule=outcome.rule)
            self._finished[i] = True
        return []

    def _compiled(self, rows: list[int], value: dict[str, Any]) -> list[Job]:
        following: list[Job] = []
        for i in rows:
            self._rows[i] = replace(self._rows[i], **{k: v for k, v in value.items() if k in COLUMNS})
            c = self._plan.compilations[i]
            if c.test is None or "error" in value:
                self._finished[i] = True
            else:
                following += self._evaluation_of(i, c.test, value["program"], c.job)
        return following

    def _evaluation_of(self, row: int, test: TestSamples, program: str, compilation: Job) -> list[Job]:
        key = evaluation_key(program, test)
        if key in self._evaluations:
            self._evaluations[key].rows.append(row)
            return []
        value = self._store.result(key, is_evaluation)
        if value is not None:
            self._fill([row], value)
            return []
        evaluation = self._evaluations[key] = Evaluation(key, test, [row], compilation)
        return self._shard_jobs(evaluation, program)

    def _shard_jobs(self, evaluation: Evaluation, program: str) -> list[Job]:
        test = evaluation.test
        if test.key not in self._shards:
            whats = []
            for job, contents in evaluation_jobs(test, program, self._shard_samples):
                for content in contents:
                    self._put(content)
                whats.append(job.what)
            self._shards[test.key] = whats
        jobs = [Job("evaluate", {**what, "program": program}) for what in self._shards[test.key]]
        evaluation.left = len(jobs)
        new = [job for job in jobs if job.key not in self._of_shard]
        for job in jobs:
            self._of_shard.setdefault(job.key, []).append(evaluation)
        return list({job.key: job for job in new}.values())

    def _evaluated(self, evaluation: Evaluation, outcome: Outcome) -> list[Job]:
        evaluation.left -= 1
        if outcome.value is None or "error" in outcome.value:
            evaluation.failed = outcome
        else:
            evaluation.figures += Figures.from_json(outcome.value)
        if evaluation.left:
            return []
        failed = evaluation.failed
        del self._evaluations[evaluation.key]
        if failed is None:
            value = summary_of(evaluation.figures)
            self._keep(evaluation.key, value)
            self._fill(evaluation.rows, value)
        elif failed.value is not None:
            self._failed(evaluation.rows, Outcome.failed(failed.value["rule"], failed.value["error"]))
        elif failed.rule == "sweep.content" and self._tries_again(evaluation):
            return [self._with_contents(replace(evaluation.compilation, again=True))]
        else:
            self._failed(evaluation.rows, failed)
        return []

    def _tries_again(self, evaluation: Evaluation) -> bool:
        """Once: the program is made and the samples are put into the cache again."""
        if evaluation.compilation.again or evaluation.compilation.key in self._compiling:
            return False
        for i in evaluation.rows:
            c = self._plan.compilations[i]
            self._plan.compilations[i] = replace(c, job=replace(c.job, again=True))
        self._compiling[evaluation.compilation.key] = evaluation.rows
        self._shards.pop(evaluation.test.key, None)
        self._kept.clear()
        return True

    def _fill(self, rows: list[int], value: dict[str, Any]) -> None:
        for i in rows:
            self._rows[i] = replace(self._rows[i], **{k: v for k, v in value.items() if k in COLUMNS})
            self._finished[i] = True

    def _with_contents(self, job: Job) -> Job:
        what = job.what
        for sha in filter(None, [what["model"], what["target_file"], *what["calibration"], *(sha for _, sha in what["files"])]):
            self._put(self._plan.contents[sha], sha)
        return job

    def _put(self, content: bytes, sha: str = "") -> None:
        if sha and sha in self._kept:
            return
        try:
            self._kept.add(self._store.keep_content(content))
        except OSError as e:
            what = "the disk is full" if e.errno in (errno.ENOSPC, errno.EDQUOT) else e.strerror or str(e)
            raise error(self._store.path, f"the workers' files cannot be put there: {what}", "sweep.cache", "give another cache") from e

    def _keep(self, key: str, value: dict[str, Any]) -> None:
        try:
            self._store.keep(key, value)
        except OSError as e:
            self._warn(f"{self._store.path}: results cannot be kept: {e.strerror or e}  [sweep.cache]")

    def _warn(self, text: str) -> None:
        if text not in self._store.said:  # a worker that finds the same says the same
            self._store.said.add(text)
            warnings.warn(DeuteronWarning(text), stacklevel=2)

    def _tell(self) -> None:
        if self._progress:
            self._progress("sweep", sum(self._finished), len(self._rows))


def evaluation_key(program: str, test: TestSamples) -> str:
    return key_of({"kind": "evaluation", "program": program, "samples": test.key})
