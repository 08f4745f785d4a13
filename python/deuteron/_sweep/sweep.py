# SPDX-License-Identifier: Apache-2.0
"""deuteron.sweep and deuteron.evaluate."""

from __future__ import annotations

import os
import tempfile
from typing import Any, Optional

from .._diagnostics import error
from .._program import Program
from .._verbs import Progress
from .dask_engine import DaskEngine
from .data import Data, TestSamples
from .engine import Engine, ThreadEngine
from .figures import Figures
from .job import Job, Outcome
from .plan import evaluation_jobs, plan_of
from .run import Run
from .store import Store
from .table import Table

SECONDS = 1800.0
SHARD_SAMPLES = 1000


def sweep(
    models: Any, targets: Any, options: Any = None, data: Any = None, *, cache: str | os.PathLike[str], client: Any = None, engine: str = "dask",
    workers: Optional[int] = None, shard_samples: int = SHARD_SAMPLES, job_seconds: float = SECONDS, keep_programs: bool = False,
    progress: Progress = None,
) -> Table:  # fmt: skip
    """Every model for every target with every set of options: a table with a row for each. docs/python.md tells more.

    `models` is a path, several, or a mapping of names to paths, ExportedPrograms or tuples (nn.Module, example_inputs). `options` is a
    dict as for `deuteron.compile`, a list of them, or a mapping of names to them. `data` is what calibrates (an array, a path, a
    DataLoader), a `deuteron.Data` with samples to evaluate on too, or a mapping of the models' names to these.

    `cache` is a folder or an address of fsspec; what it has is not computed again. `client` is the Client of a Dask cluster; without one,
    `workers` threads of this process are one (default: a thread for each processor). engine="threads" does the same without Dask. Each
    job runs in a process of its own: one that crashes, or takes longer than `job_seconds`, is an error in its row.

    >>> import deuteron, tempfile
    >>> cache, targets = tempfile.mkdtemp(), ["cortex-m4", "cortex-m55"]
    >>> table = deuteron.sweep({"digits": demo_model}, targets, {"observer": "minmax"}, demo_images, cache=cache, engine="threads")
    >>> [(row.target, row.ram_bytes) for row in table]
    [('cortex-m4', 2176), ('cortex-m55', 2176)]
    >>> again = deuteron.sweep({"digits": demo_model}, targets, {"observer": "minmax"}, demo_images, cache=cache)
    >>> again.rows == table.rows, again.computed, again.cached
    (True, 0, 2)
    """
    store = Store(cache)
    plan = plan_of(models, targets, options, data, keep_programs)
    return Run(plan, store, shard_samples, progress).run(engine_of(engine, store.path, workers, job_seconds, client))


def evaluate(
    program: Program, data: Data, *, shards: int = 1, cache: str | os.PathLike[str] | None = None, client: Any = None, engine: str = "dask",
    workers: Optional[int] = None, job_seconds: float = SECONDS,
) -> Figures:  # fmt: skip
    """A program's figures on `data.inputs`, computed in so many shards. Their number never changes a figure.

    >>> import deuteron
    >>> program = deuteron.compile(demo_model, target="cortex-m55", calibration=demo_images)
    >>> data = deuteron.Data(inputs=demo_images, expected=program.run(demo_images))
    >>> deuteron.evaluate(program, data, shards=3, engine="threads").agreement
    1.0
    """
    test = TestSamples(data)
    with tempfile.TemporaryDirectory(prefix="deuteron") as folder:
        store = Store(folder if cache is None else cache)
        sha = store.keep_content(program.bytes)
        jobs = []
        for job, contents in evaluation_jobs(test, sha, -(-test.samples // shards)):
            jobs.append(job)
            for content in contents:
                store.keep_content(content)
        shares = {job.key: jobs.count(job) for job in jobs}  # equal shards are computed once
        total = Figures()

        def done(job: Job, outcome: Outcome) -> list[Job]:
            nonlocal total
            value = outcome.value
            if value is None or "error" in value:
                rule, why = (outcome.rule, outcome.failure) if value is None else (value["rule"], value["error"])
                raise error("deuteron.evaluate", why, rule)
            for _ in range(shares[job.key]):
                total += Figures.from_json(value)
            return []

        engine_of(engine, store.path, workers, job_seconds, client).run({job.key: job for job in jobs}.values(), done)
    return total


def engine_of(name: str, cache: str, workers: Optional[int], seconds: float, client: Any) -> Engine:
    count = workers or len(os.sched_getaffinity(0))
    if name == "dask":
        return DaskEngine(cache, count, seconds, client)
    if name == "threads" and client is None:
        return ThreadEngine(cache, count, seconds)
    raise ValueError(f'engine is "dask" or "threads", the latter without a client; not {name!r}')
