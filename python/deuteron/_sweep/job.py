# SPDX-License-Identifier: Apache-2.0
"""A job: what is computed, as plain data, and the key of its result, which is the hash of all that the result depends on."""

from __future__ import annotations

import functools
import json
import pathlib
from dataclasses import dataclass, field
from typing import Any, Optional

from .. import __file__ as package_file
from .store import hash_of

FORMAT = 1  # of results; another number makes every result again


@dataclass(frozen=True)
class Job:
    """`what` names contents by their hash, so a job is small and means the same on every machine."""

    kind: str  #: "compile" or "evaluate"
    what: dict[str, Any]
    keep_program: bool = field(default=False, compare=False)  #: a compilation's program is kept in the cache
    again: bool = field(default=False, compare=False)  #: even if the cache has a result: it lacks its program

    @functools.cached_property
    def key(self) -> str:
        return key_of({"kind": self.kind, **self.what})


@dataclass(frozen=True)
class Outcome:
    """Of a job: a value, or why there is none. `value` is what the cache keeps; a `failure` is one of the machine and is not kept."""

    value: Optional[dict[str, Any]] = None
    failure: str = ""
    rule: str = ""
    was_cached: bool = False  #: another sweep has made it in the meantime
    warnings: tuple[str, ...] = ()

    @staticmethod
    def failed(rule: str, failure: str) -> Outcome:
        return Outcome(failure=failure, rule=rule)


def key_of(what: dict[str, Any]) -> str:
    return hash_of(json.dumps({"format": FORMAT, "build": build_id(), **what}, sort_keys=True, separators=(",", ":")).encode())


@functools.lru_cache(maxsize=None)
def build_id() -> str:
    """Of the compiler and of the package that computes with it: a hash of their files. Two builds of one version differ."""
    folder = pathlib.Path(package_file).parent
    files = [folder / "libdeuteron.so", *sorted(folder.rglob("*.py"))]
    return hash_of("".join(hash_of(f.read_bytes()) for f in files).encode())
