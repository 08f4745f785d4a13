# SPDX-License-Identifier: Apache-2.0
"""What a worker is asked before it is given work: has it the same build of this package, and does it see the cache?"""

from __future__ import annotations

import re
import secrets
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .._diagnostics import DeuteronWarning, error
from .job import build_id
from .store import Store

_NAME = "probe"  # of an entry that tells one cache from another


@dataclass(frozen=True)
class Seen:
    build: str
    has_cache: bool


def is_probe(value: dict[str, Any]) -> bool:
    return value.keys() == {"token"} and isinstance(value["token"], str) and re.fullmatch("[0-9a-f]{16}", value["token"]) is not None


def look(path: str, token: str) -> Seen:
    """Runs on the worker."""
    return Seen(build_id(), (Store(path).result(_NAME, is_probe) or {}).get("token") == token)


class Probe:
    """Asks workers, each once, and warns about those that cannot be used."""

    def __init__(self, client: Any, cache: str) -> None:
        self._client, self._cache = client, cache
        store = Store(cache)
        known = store.result(_NAME, is_probe)
        if known is None:
            known = {"token": secrets.token_hex(8)}
            store.keep(_NAME, known)
        self._token = known["token"]
        self._found: dict[str, bool] = {}

    def able(self, workers: Iterable[str]) -> list[str]:
        """Those of the addresses that can do the work."""
        addresses = list(workers)
        new = [a for a in addresses if a not in self._found]
        if new:
            # By the name of a builtin: a worker without this package could not even read a call of ours.
            look = f"__import__('importlib').import_module('deuteron._sweep.probe').look({self._cache!r}, {self._token!r})"
            answers = self._client.run(eval, look, workers=new, on_error="return")
            for address, answer in answers.items():
                if isinstance(answer, OSError) and not isinstance(answer, ImportError):
                    continue  # it has gone meanwhile
                lacks = what_is_lacking(answer)
                self._found[address] = not lacks
                if lacks:
                    warnings.warn(DeuteronWarning(f"the worker {address} gets no work: {lacks}  [sweep.worker]"), stacklevel=2)
        return [a for a in addresses if self._found.get(a, False)]

    @property
    def asked(self) -> set[str]:
        return set(self._found)

    def unable(self) -> Exception:
        hint = "install the wheel of this machine on the workers, and give a cache that all of them reach: a shared folder or an address of fsspec"
        return error("deuteron.sweep", "no worker can do the work", "sweep.worker", hint)


def what_is_lacking(answer: object) -> str:
    if isinstance(answer, ModuleNotFoundError):
        return f"it lacks the package {answer.name}; pip install 'deuteron[sweep]' there"
    if isinstance(answer, BaseException):
        return f"{type(answer).__name__}: {answer}"
    if not isinstance(answer, Seen) or answer.build != build_id():
        return "its deuteron is another build than the one here; install the same wheel"
    return "" if answer.has_cache else "it does not see the cache; give a shared folder or an address of fsspec"
