# SPDX-License-Identifier: Apache-2.0
"""`deuteron sweep FILE.toml` and `deuteron search FILE.toml` (docs/python.md)."""

from __future__ import annotations

import argparse
import importlib.util
import pathlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

from .._diagnostics import Error, error
from .data import Data
from .files import LocalFiles, is_remote
from .need import need
from .search import search
from .sweep import sweep
from .table import Table

_COMMON = {"cache": str, "targets": list, "table": str, "engine": str, "workers": int, "scheduler": str, "job_seconds": (int, float), "shard_samples": int}
_SWEEP = {**_COMMON, "models": dict, "options": dict, "keep_programs": bool}
_SEARCH = {**_COMMON, "factory": str, "space": dict, "options": dict, "objectives": dict, "trials": int, "batch": int, "seed": int, "page": str}
_MODEL = {"path": str, "calibration": (str, list), "inputs": (str, list), "labels": str, "expected": str}
_PASSED_ON = ("engine", "workers", "job_seconds", "shard_samples", "keep_programs", "trials", "batch", "seed", "objectives")


def main(verb: str, words: list[str]) -> int:
    what = {"sweep": "compile models for targets with options: a table with a row for each", "search": "look for the best models of a space"}[verb]
    parser = argparse.ArgumentParser(prog=f"deuteron {verb}", description=f"{what} (docs/python.md)")
    parser.add_argument("file", metavar="FILE.toml", help="models, targets and options; paths are relative to this file")
    parser.add_argument("--workers", type=int, help="jobs that run at the same time on this machine")
    parser.add_argument("--scheduler", help="the address of a Dask scheduler, whose workers do the work")
    given = parser.parse_args(words)
    try:
        return run(verb, pathlib.Path(given.file), {k: v for k, v in (("workers", given.workers), ("scheduler", given.scheduler)) if v is not None})
    except (Error, ImportError, OSError, TypeError, ValueError) as e:
        print(e, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; what was finished is in the cache", file=sys.stderr)
        return 130


def run(verb: str, file: pathlib.Path, given: dict[str, Any]) -> int:
    settings = {**checked(read_toml(file), _SWEEP if verb == "sweep" else _SEARCH, str(file)), **given}
    for name in ("cache", "targets", "models") if verb == "sweep" else ("cache", "targets", "factory", "space"):
        if name not in settings:
            raise error(str(file), f"has no `{name}`", "sweep.file", "docs/python.md has an example")
    beside = relative_to(file.parent)
    passed = {name: settings[name] for name in _PASSED_ON if name in settings}
    passed.update(cache=beside(settings["cache"]), progress=True)
    passed["targets"] = [beside(t) if t.endswith(".toml") else t for t in settings["targets"]]
    if "scheduler" not in settings:
        return report(verb, settings, passed, file, beside)
    with need("distributed", "--scheduler").Client(settings["scheduler"]) as client:
        return report(verb, settings, {**passed, "client": client}, file, beside)


def report(verb: str, settings: Mapping[str, Any], passed: dict[str, Any], file: pathlib.Path, beside: Callable[[str], str]) -> int:
    if verb == "sweep":
        models, data = models_of(settings["models"], str(file), beside)
        table = sweep(models, options=settings.get("options") or None, data=data, **passed)
        print(f"{len(table)} rows, {table.cached} of them from the cache, {sum(row.error is not None for row in table)} with errors")
    else:
        space = {name: tuple(map(float, c["between"])) if isinstance(c, dict) else c for name, c in settings["space"].items()}
        found = search(factory_of(settings["factory"], file), space, options=settings.get("options"), **passed)
        table = found.table()
        for trial in found.best:
            figures = ", ".join(f"{name} {value:g}" for name, value in zip(found.objectives, trial.values or []))
            print(f"{figures}: {' '.join(f'{k}={v}' for k, v in trial.parameters.items())}")
        if "page" in settings:
            page = pathlib.Path(beside(settings["page"]))
            LocalFiles(str(page.parent), beside=True).write(page.name, found.page.encode())
    return written(table, settings, beside)


def written(table: Table, settings: Mapping[str, Any], beside: Callable[[str], str]) -> int:
    if "table" in settings:
        table.write(beside(settings["table"]))
    return 0


def read_toml(file: pathlib.Path) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib as toml
    else:
        import tomli as toml
    try:
        with open(file, "rb") as stream:
            found: dict[str, Any] = toml.load(stream)
            return found
    except OSError as e:
        raise error(str(file), f"cannot be read: {e.strerror}", "file.unreadable") from e
    except toml.TOMLDecodeError as e:
        raise error(str(file), f"is no TOML: {e}", "sweep.file") from e


def checked(settings: dict[str, Any], known: Mapping[str, Any], where: str) -> dict[str, Any]:
    for name, value in settings.items():
        if name not in known:
            raise error(where, f"has `{name}`, which means nothing here", "sweep.file", f"known are: {', '.join(known)}")
        if not isinstance(value, known[name]) or isinstance(value, bool) and known[name] is not bool:
            raise error(where, f"`{name}` is {value!r}", "sweep.file", "docs/python.md has an example")
    return settings


def relative_to(folder: pathlib.Path) -> Callable[[str], str]:
    return lambda path: path if is_remote(path) else str(folder / path)


def models_of(tables: Mapping[str, Any], where: str, beside: Callable[[str], str]) -> tuple[dict[str, str], dict[str, Data]]:
    models: dict[str, str] = {}
    data: dict[str, Data] = {}
    for name, table in tables.items():
        own = checked(table, _MODEL, f"{where}, models.{name}") if isinstance(table, dict) else {}
        if "path" not in own:
            raise error(f"{where}, models.{name}", "has no `path`", "sweep.file")
        found: dict[str, Any] = {k: [beside(one) for one in v] if isinstance(v, list) else beside(v) for k, v in own.items()}
        models[name] = found.pop("path")
        if isinstance(found.get("inputs"), list):
            found["inputs"] = tuple(found["inputs"])
        data[name] = Data(**found)
    return models, data


def factory_of(text: str, file: pathlib.Path) -> Any:
    """`FILE.py:FUNCTION`, beside the TOML file."""
    name, _, function = text.rpartition(":")
    path = file.parent / name
    spec = importlib.util.spec_from_file_location(path.stem, path) if name.endswith(".py") and path.is_file() else None
    if spec is None or spec.loader is None:
        raise error(str(file), f"`factory` is {text!r}", "sweep.file", 'give a file and a function of it: "networks.py:make"')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not callable(getattr(module, function, None)):
        raise error(str(path), f"has no function `{function}`", "sweep.file")
    return getattr(module, function)
