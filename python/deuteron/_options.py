# SPDX-License-Identifier: Apache-2.0
"""Options of the command line's verbs as keyword arguments. What there is, is asked of the verbs themselves."""

from __future__ import annotations

import difflib
import functools
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from . import _core


@dataclass(frozen=True)
class Option:
    """An option of a verb, as `deuteron VERB --help` explains it."""

    name: str  #: as a keyword: "max_ram"
    value: str  #: what its value stands for, "BYTES"; empty: a truth value
    help: str
    group: str
    is_list: bool  #: takes several values


@functools.lru_cache(maxsize=None)
def all_options(verb: str) -> dict[str, Option]:
    return {
        keyword(name): Option(keyword(name), "" if is_flag else value, text, group, is_list)
        for name, value, text, group, is_flag, is_list, is_placed, _ in _core.options_of(verb)
        if not is_placed
    }


def keyword(name: str) -> str:
    return name.lstrip("-").replace("-", "_")


#: Options that are parameters of the functions, or that would end the process.
NOT_KEYWORDS = {"output", "json", "calibrate", "input", "inputs", "labels", "model", "output_dir", "timeout", "on", "target"}


def options(verb: str = "compile") -> list[Option]:
    """The keyword arguments that a function of this package takes beside its own: those of the command line's verb.

    >>> import deuteron
    >>> [o.value for o in deuteron.options("compile") if o.name == "max_ram"]
    ['BYTES|least']
    """
    return [o for o in all_options(verb).values() if o.name not in NOT_KEYWORDS]


def words_of(verb: str, given: Mapping[str, Any], own: Collection[str] = ()) -> list[str]:
    """The words of a command line. `own`: parameters of the calling function, for suggestions. TypeError names what is unknown."""
    known = {o.name: o for o in options(verb)}
    words: list[str] = []
    for name, value in given.items():
        if name not in known:
            near = difflib.get_close_matches(name, [*known, *own], n=3)
            meant = f"; near it: {', '.join(near)}" if near else ""
            raise TypeError(f"{verb}() has no option {name!r}{meant} (deuteron.options({verb!r}) lists them)")
        if value is None or value is False and not known[name].value:
            continue
        flag = "--" + name.replace("_", "-")
        if not known[name].value:
            if value is not True:
                raise TypeError(f"{name} is True or False, not {value!r}")
            words.append(flag)
        else:
            words += [f"{flag}={text}" for text in texts_of(name, value, known[name].is_list)]
    return words


def texts_of(name: str, value: object, is_list: bool) -> Iterable[str]:
    if isinstance(value, (str, bytes, os.PathLike)):
        return [os.fsdecode(value)]
    if isinstance(value, bool):
        raise TypeError(f"{name} takes a value, not {value!r}")
    if isinstance(value, Iterable):
        if not is_list:
            raise TypeError(f"{name} takes one value, not {value!r}")
        return [text for one in value for text in texts_of(name, one, False)]
    return [repr(float(value)) if isinstance(value, float) else str(value)]
