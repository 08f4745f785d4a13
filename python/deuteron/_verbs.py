# SPDX-License-Identifier: Apache-2.0
"""Calls a verb of the command line in this process."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from typing import Any, Union

from . import _core
from ._data import path_bytes
from ._diagnostics import Diagnostic, InternalError, UsageError, renamed, renamed_within, tell

log = logging.getLogger("deuteron")

#: Called with what is done, how much of it is behind, and how much there is. True: a bar of tqdm where that is installed.
Progress = Union[bool, Callable[[str, int, int], object], None]


class Bar:
    """A bar of tqdm, or nothing where there is no tqdm."""

    def __init__(self) -> None:
        self.bar: Any = None

    def __call__(self, what: str, done: int, total: int) -> None:
        if self.bar is None:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self.bar = tqdm(total=total, leave=False)
        self.bar.set_description(what, refresh=False)
        self.bar.total = total
        self.bar.update(done - self.bar.n)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()


def run_verb(words: Sequence[str], names: dict[str, str], progress: Progress = None) -> dict[str, Any]:
    """The JSON that the verb writes. `names`: what messages call the paths of files in memory."""
    return run_verb_with_summary(words, names, progress)[0]


def run_verb_with_summary(words: Sequence[str], names: dict[str, str], progress: Progress = None) -> tuple[dict[str, Any], str]:
    """The same, and the text that the command line prints."""
    bar = Bar() if progress is True else None
    callback = bar or (progress if callable(progress) else None)
    try:
        code, text, summary, usage, diagnostics = _core.run_verb([path_bytes(word) for word in words], callback)
    finally:
        if bar:
            bar.close()
    if usage:
        raise UsageError([Diagnostic("error", f"deuteron {words[0]}", renamed(usage, names), rule="usage")])
    tell(diagnostics, names)
    if code != 0:
        raise InternalError(f"deuteron {words[0]} ended with {code} and no message")
    said = renamed(summary.decode(errors="replace"), names)
    if said:
        log.info("%s", said)
    result: dict[str, Any] = renamed_within(json.loads(text.decode(errors="surrogateescape")), names)
    return result, said
