# SPDX-License-Identifier: Apache-2.0
"""What the compiler tells: errors as exceptions, warnings as warnings, notes in the log."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._core import RawDiagnostic

log = logging.getLogger("deuteron")


@dataclass(frozen=True)
class Diagnostic:
    """One thing that the compiler says: what was found, where, what is allowed, and what to do.

    >>> print(Diagnostic("error", "x.npy", "is empty", rule="file.empty", hint="write some data"))
    x.npy: error: is empty  [file.empty]
        write some data
    """

    severity: str  #: "error", "warning" or "note"
    where: str
    what: str
    measured: str = ""  #: with `limit`: both or none
    limit: str = ""
    rule: str = ""  #: the stable name of the rule: "calibrate.missing"
    hint: str = ""  #: what can be done about it

    def __str__(self) -> str:
        text = f"{self.where}: " if self.where else ""
        text += f"{self.severity}: {self.what}"
        if self.measured:
            text += f": {self.measured}, limit {self.limit}"
        if self.rule:
            text += f"  [{self.rule}]"
        return text + (f"\n    {self.hint}" if self.hint else "")


class DeuteronWarning(UserWarning):
    """A warning of the compiler."""


class Error(Exception):
    """The input cannot be used. `rule`, `where` and `hint` are those of the first error; `diagnostics` has all that was said.

    >>> import deuteron
    >>> try:
    ...     deuteron.compile("missing.pt2", target="cortex-m55")
    ... except deuteron.Error as error:
    ...     print(error.rule, error.where)
    file.missing missing.pt2
    """

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = list(diagnostics)
        errors = [d for d in self.diagnostics if d.severity == "error"]
        super().__init__("\n".join(str(d) for d in errors))
        self.rule = errors[0].rule if errors else ""
        self.where = errors[0].where if errors else ""
        self.hint = errors[0].hint if errors else ""


class UsageError(Error, ValueError):
    """An option has a value that it does not take."""


class InternalError(RuntimeError):
    """A fault of the compiler's own: please report it."""


class MissingError(Error, AttributeError):
    """A property that an object has no value for: `hasattr` is False."""


def error(where: str, what: str, rule: str, hint: str = "", *, measured: str = "", limit: str = "") -> Error:
    return Error([Diagnostic("error", where, what, measured, limit, rule, hint)])


def tell(raw: Iterable[RawDiagnostic], rename: dict[str, str] | None = None) -> None:
    """Raises `Error` where there is an error; else warns and logs."""
    said = [Diagnostic(*(as_keywords(renamed(text, rename or {})) for text in d)) for d in raw]
    if any(d.severity == "error" for d in said):
        raise Error(said)
    for d in said:
        if d.severity == "warning":
            warnings.warn(DeuteronWarning(str(d)), stacklevel=4)
        else:
            log.info("%s", d)


#: What an option of the command line is called here, where its name is another one.
PARAMETERS = {"calibrate": "calibration", "inputs": "data", "input": "data"}
OPTION = re.compile(r"--([a-z][a-z0-9-]*)(?: ([A-Z][A-Z]*\b[^\s`]*|mixed|int8|int16|float|stock|plain|npu|fastest|least|\d\S*)(?![\w]))?")


def as_keywords(text: str) -> str:
    """The compiler speaks of options, and here they are keywords. What is a command stays one.

    >>> as_keywords("give --calibrate F once, or --max-ram 4096"), as_keywords("`deuteron doctor --try` says more")
    ('give calibration=F once, or max_ram=4096', '`deuteron doctor --try` says more')
    """
    if re.search(r"\bdeuteron [a-z]+", text):
        return text
    return OPTION.sub(lambda m: PARAMETERS.get(m[1], m[1].replace("-", "_")) + (f"={m[2]}" if m[2] else ""), text)


def renamed(text: str, names: dict[str, str]) -> str:
    """`text` with the paths of files in memory replaced by what they stand for."""
    for path in sorted(names, key=len, reverse=True):  # /proc/self/fd/12 before /proc/self/fd/1
        text = text.replace(path, names[path])
    return text


def renamed_within(value: Any, names: dict[str, str]) -> Any:
    """The same in every string of a value from JSON."""
    if isinstance(value, str):
        return renamed(value, names)
    if isinstance(value, list):
        return [renamed_within(v, names) for v in value]
    if isinstance(value, dict):
        return {k: renamed_within(v, names) for k, v in value.items()}
    return value
