# SPDX-License-Identifier: Apache-2.0
"""The table of a sweep, and how it is written."""

from __future__ import annotations

import csv
import io
import os
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Optional

from .files import LocalFiles, RemoteFiles, is_remote
from .need import need
from .pareto_page import is_better, page_of
from .row import COLUMNS, Row
from .store import Store


def plain_cell(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula has an apostrophe in front.

    >>> plain_cell("=1+1"), plain_cell("digits"), plain_cell(-1.5)
    ("'=1+1", 'digits', -1.5)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) else value


@dataclass(frozen=True)
class Table:
    """Rows in the order of models, targets and options. `computed` and `cached` count them.

    >>> table = Table([Row("m", "cortex-m4", "", ram_bytes=4096)])
    >>> print(table.to_csv().splitlines()[1][:24])
    m,cortex-m4,,,,4096,,,,,
    """

    rows: list[Row]
    computed: int = 0  #: rows with a compilation or an evaluation of this call
    cached: int = 0
    cache: str = field(default="", repr=False)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def records(self) -> list[dict[str, Any]]:
        """Plain data: `pandas.DataFrame(table.records())`."""
        return [{name: getattr(row, name) for name in COLUMNS} for row in self.rows]

    def program(self, row: Row) -> Any:
        """The compiled program of a row, where it was kept (`keep_programs=True`, or evaluated)."""
        from .._program import Program

        content = None if row.program is None else Store(self.cache).content(row.program)
        if content is None:
            raise KeyError(f"no program of {row.model} for {row.target} is kept: sweep(..., keep_programs=True)")
        return Program(content, row.model)

    def to_csv(self) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([plain_cell(getattr(row, name)) for name in COLUMNS] for row in self.rows)
        return text.getvalue()

    def to_parquet(self) -> bytes:
        arrow = need("pyarrow", "a table in Parquet")
        kinds = {str: arrow.string(), int: arrow.int64(), float: arrow.float64(), bool: arrow.bool_()}
        hints = typing.get_type_hints(Row)
        schema = arrow.schema([(name, kinds[(typing.get_args(hints[name]) or (hints[name],))[0]]) for name in COLUMNS])
        sink = arrow.BufferOutputStream()
        need("pyarrow.parquet", "a table in Parquet").write_table(arrow.Table.from_pylist(self.records(), schema=schema), sink)
        content: bytes = sink.getvalue().to_pybytes()
        return content

    def page(self, objectives: Optional[Mapping[str, str]] = None) -> str:
        """The rows and their Pareto front as one HTML page. `objectives`: columns with "minimize" or "maximize"; default: time, and
        the accuracy that all of them have, or RAM."""
        if objectives is None:
            made = [r for r in self.rows if not r.error]
            known = [c for c in ("top1", "test_sqnr_db", "held_out_sqnr_db") if made and all(getattr(r, c) is not None for r in made)]
            objectives = {"cycles": "minimize", **({known[0]: "maximize"} if known else {"ram_bytes": "minimize"})}
        values = [[getattr(r, name) for name in objectives] for r in self.rows]
        good = [None if r.error or None in v else [float(x) for x in v] for r, v in zip(self.rows, values)]
        goals = list(objectives.values())
        told = [n for n in ("model", "target", "options") if len({getattr(r, n) for r in self.rows}) > 1] or ["model"]
        entries = []
        for k, (row, one) in enumerate(zip(self.rows, good)):
            is_best = one is not None and not any(other and is_better(other, one, goals) for other in good)
            names = {name: getattr(row, name) for name in told}
            entries.append((k, names, row if one or row.error else replace(row, error="has no figures for these"), one, is_best))
        return page_of(entries, objectives, "Sweep")

    def write(self, path: str | os.PathLike[str]) -> None:
        """As `.parquet`, `.csv` or `.html` (`page()`), whole or not at all; `path` may be an address of fsspec."""
        text = os.fspath(path)
        made: dict[str, Callable[[], bytes]] = {".parquet": self.to_parquet, ".csv": lambda: self.to_csv().encode(), ".html": lambda: self.page().encode()}
        kind = os.path.splitext(text)[1]
        if kind not in made:
            raise ValueError(f"a table is written as .parquet, .csv or .html, not {text!r}")
        content = made[kind]()
        folder, name = os.path.split(text)
        (RemoteFiles(folder) if is_remote(text) else LocalFiles(folder or ".", beside=True)).write(name, content)
