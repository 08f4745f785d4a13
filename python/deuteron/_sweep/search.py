# SPDX-License-Identifier: Apache-2.0
"""deuteron.search: a study of Optuna over models of the user's own making, each compiled and measured by the engine of sweeps."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Optional

from .._data import is_path
from .._verbs import Progress
from .need import need
from .pareto_page import page_of
from .plan import Plan, plan_of
from .row import COLUMNS, Row
from .run import Run
from .store import Store
from .sweep import SECONDS, SHARD_SAMPLES, engine_of
from .table import Table

OBJECTIVES = {"cycles": "minimize", "ram_bytes": "minimize", "held_out_sqnr_db": "maximize"}
_DIRECTIONS = ("minimize", "maximize")


@dataclass(frozen=True)
class Candidate:
    """What a factory makes: a model as in `deuteron.sweep`, and what belongs to it (an array to calibrate with, or a `deuteron.Data`)."""

    model: Any
    data: Any


@dataclass(frozen=True)
class Trial:
    """A candidate that was tried. `values` are its objectives, None where it failed: `row.error` says why."""

    number: int
    parameters: dict[str, Any]
    row: Row
    values: Optional[list[float]] = None
    is_best: bool = False  #: no other trial is better in one objective without being worse in another


@dataclass(frozen=True)
class Search:
    """All trials. `best` is the Pareto front, `study` the study of Optuna."""

    trials: list[Trial]
    objectives: dict[str, str]
    study: Any = field(default=None, repr=False, compare=False)

    @property
    def best(self) -> list[Trial]:
        return [trial for trial in self.trials if trial.is_best]

    @property
    def page(self) -> str:
        """The trials and their front as one HTML page that needs nothing else."""
        return page_of([(t.number, t.parameters, t.row, t.values, t.is_best) for t in self.trials], self.objectives)

    def table(self) -> Table:
        return Table([trial.row for trial in self.trials])

    def _repr_html_(self) -> str:
        return self.page


def search(
    factory: Callable[..., Candidate], space: Mapping[str, Any], *, targets: Any, options: Optional[Mapping[str, Sequence[Any]]] = None,
    objectives: Optional[Mapping[str, str]] = None, trials: int = 50, batch: int = 10, seed: int = 0, study: Any = None,
    cache: str | os.PathLike[str], client: Any = None, engine: str = "dask", workers: Optional[int] = None, shard_samples: int = SHARD_SAMPLES,
    job_seconds: float = SECONDS, progress: Progress = None,
) -> Search:  # fmt: skip
    """Looks for the best models within a space: `factory(**parameters)` makes a `Candidate` of each point.

    `space` has a list of choices, a `range`, or a pair of floats for each parameter (width, resolution, precision: what the factory takes).
    `options` has choices for options of `deuteron.compile` ({"max_ram": [65536, 131072]}), `targets` is a target or several to choose from.
    `objectives` are columns of `deuteron.Row` with "minimize" or "maximize". Trials go out in batches of `batch`, which alone decides how
    much each knows of the others: workers change nothing. `study`: an Optuna study of one's own, with as many directions.

    >>> import deuteron, tempfile
    >>> def factory(samples):  # how many samples calibrate; a real one makes a network
    ...     return deuteron.Candidate(demo_model, demo_images[:samples])
    >>> found = deuteron.search(factory, {"samples": [8, 32]}, targets=["cortex-m4", "cortex-m55"], options={"observer": ["minmax"]},
    ...     objectives={"cycles": "minimize", "ram_bytes": "minimize"}, trials=4, cache=tempfile.mkdtemp(), engine="threads")
    >>> sorted({(t.row.target, t.row.ram_bytes) for t in found.best})
    [('cortex-m55', 2176)]
    """
    goals = checked(dict(OBJECTIVES if objectives is None else objectives), space, options or {})
    places = [targets] if is_path(targets) else list(targets)
    store = Store(cache)
    runner = engine_of(engine, store.path, workers, job_seconds, client)
    study = study or new_study(goals, seed)
    optuna = need("optuna", "deuteron.search")
    done: list[Trial] = []
    while len(done) < trials:
        asked = [study.ask() for _ in range(min(batch, trials - len(done)))]
        made = [Asked(one, space, options or {}, places, factory) for one in asked]
        plan = Plan()
        for one in made:
            plan.compilations += one.plan.compilations
            plan.contents.update(one.plan.contents)
        rows = iter(Run(plan, store, shard_samples, progress).run(runner).rows)
        for one, ask in zip(made, asked):
            row = next(rows) if one.plan.compilations else one.row
            values = values_of(row, goals)
            if values is None and row.error is None:
                row = replace(row, error=f"has no {next(name for name in goals if getattr(row, name) is None)}", rule="search.objective")
            study.tell(ask, values, state=None if values else optuna.trial.TrialState.FAIL)
            done.append(Trial(ask.number, one.parameters, row, values))
    front = {t.number for t in study.best_trials} if any(t.values for t in done) else set()
    return Search([replace(t, is_best=t.number in front) for t in done], goals, study)


class Asked:
    """A point of the space, and the job that comes of it."""

    def __init__(self, trial: Any, space: Mapping[str, Any], options: Mapping[str, Sequence[Any]], targets: list[Any], factory: Any) -> None:
        own = {name: suggested(trial, name, choices) for name, choices in space.items()}
        chosen = {name: trial.suggest_categorical(name, list(choices)) for name, choices in options.items()}
        names = [os.fspath(t) for t in targets]
        target = trial.suggest_categorical("target", names) if len(names) > 1 else names[0]
        self.parameters = {**own, **chosen, "target": target}
        self.plan = Plan()
        name = " ".join(f"{k}={v}" for k, v in own.items())
        self.row = Row(name, target, " ".join(f"{k}={v}" for k, v in chosen.items()))
        try:
            candidate = factory(**own)
            self.plan = plan_of({name: candidate.model}, [target], [chosen], candidate.data, False)
        except Exception as e:  # a point at which there is no model: the trial has failed, the search has not
            self.row = replace(self.row, error=f"{type(e).__name__}: {e}", rule="search.factory")


def suggested(trial: Any, name: str, choices: Any) -> Any:
    if isinstance(choices, range):
        return trial.suggest_int(name, choices[0], choices[-1], step=choices.step)
    if isinstance(choices, tuple) and len(choices) == 2 and all(isinstance(c, float) for c in choices):
        return trial.suggest_float(name, *choices)
    return trial.suggest_categorical(name, list(choices))


def checked(goals: dict[str, str], space: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, str]:
    for name, direction in goals.items():
        if name not in COLUMNS or direction not in _DIRECTIONS:
            raise ValueError(f"an objective is a column of deuteron.Row with 'minimize' or 'maximize', not {name!r}: {direction!r}")
    twice = [name for name in space if name in options or name == "target"]
    if twice or not goals:
        raise ValueError(f"{twice[0]!r} is a parameter of the factory and of the compilation" if twice else "objectives are empty")
    return goals


def values_of(row: Row, goals: Mapping[str, str]) -> Optional[list[float]]:
    values = [getattr(row, name) for name in goals]
    return None if row.error or any(v is None for v in values) else [float(v) for v in values]


def new_study(goals: Mapping[str, str], seed: int) -> Any:
    optuna = need("optuna", "deuteron.search")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna.create_study(directions=list(goals.values()), sampler=optuna.samplers.TPESampler(seed=seed))
