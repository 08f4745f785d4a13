# SPDX-License-Identifier: Apache-2.0
"""The page of a search or a sweep: points, their front as a line, and a table. One file, no scripts, nothing from a network."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from .row import Row

#: number, parameters, row, values, whether it is on the front
Entry = tuple[int, dict[str, Any], "Row", Optional[list[float]], bool]

_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 760, 420, 84, 20, 48, 52
# Colours and cards as of the report (explain/page/style.css).
_STYLE = """
:root { color-scheme: light; --page: #f4f6f8; --card: #fff; --text: #17202a; --muted: #5a6675; --line: #e2e7ec; --accent: #1459c7; --hot: #e1432b; }
@media (prefers-color-scheme: dark) { :root { color-scheme: dark; --page: #0f1318; --card: #171c23; --text: #e6ebf1; --muted: #93a0af; --line: #2a323c;
  --accent: #79aefc; --hot: #e8553b; } }
body { margin: 0 auto; max-width: 1080px; padding: 0 16px 24px; background: var(--page); color: var(--text);
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; font-variant-numeric: tabular-nums; }
h1 { font-size: clamp(20px, 2.2vw, 28px); margin: 22px 0 2px; } p { margin: 0 0 14px; color: var(--muted); }
section { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 14px; margin-bottom: 16px; overflow-x: auto; }
svg { width: 100%; min-width: 480px; height: auto; display: block; } svg text { fill: var(--muted); font-size: 12px; }
svg line { stroke: var(--line); } .front { fill: none; stroke: var(--hot); stroke-width: 1.5; }
circle { fill: var(--accent); opacity: .55; } circle.best { fill: var(--hot); opacity: 1; } a:hover circle, a:focus circle { stroke: var(--text); stroke-width: 2; opacity: 1; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; } td, th { padding: 6px 12px; text-align: right; border-top: 1px solid var(--line); white-space: nowrap; }
th { color: var(--muted); border-top: 0; } td:nth-child(2), th:nth-child(2), td.why { text-align: left; white-space: normal; min-width: 180px; overflow-wrap: anywhere; }
tr.best { font-weight: 600; } tr.best td:first-child { color: var(--hot); } tr.failed { color: var(--muted); } tr:target { background: var(--page); outline: 2px solid var(--accent); }
@media (max-width: 600px) { svg { min-width: 0; } svg text { font-size: 21px; } td, th { padding: 5px 4px; font-size: 12px; }
  th { white-space: normal; overflow-wrap: anywhere; } th:first-child { overflow-wrap: normal; } td:nth-child(2), th:nth-child(2) { min-width: 124px; } td.why { min-width: 0; } }
"""


def page_of(entries: Sequence[Entry], objectives: Mapping[str, str], what: str = "Search") -> str:
    names = list(objectives)
    goals = ", ".join(f"{name} ({direction})" for name, direction in objectives.items())
    best, failed = sum(e[4] for e in entries), sum(e[3] is None for e in entries)
    picture = f"<section>{scatter(entries, names)}</section>" if len(names) > 1 and best else ""
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{what}: {html.escape(goals)}</title><style>{_STYLE}</style></head><body><main>\n<h1>{what}</h1>\n"
        f"<p>{len(entries)} points for {html.escape(goals)}: {best} on the front (red), {failed} failed. A point leads to its row.</p>\n"
        f"{picture}\n<section>{rows_of(entries, names)}</section>\n</main></body></html>\n"
    )


def scatter(entries: Sequence[Entry], names: Sequence[str]) -> str:
    """The first two objectives. With more, points of the front need not lie on its edge here."""
    points = [(values, is_best, number, text_of(parameters)) for number, parameters, _, values, is_best in entries if values]
    marks, ends = [], []
    for axis in (0, 1):
        values = [p[0][axis] for p in points]
        marks.append(ticks(min(values), max(values)))
        ends.append((min(marks[axis][0], *values), max(marks[axis][-1], *values)))

    def place(values: Sequence[float]) -> tuple[float, float]:
        part = [(v - low) / (high - low) if high > low else 0.5 for v, (low, high) in zip(values, ends)]
        return _LEFT + part[0] * (_WIDTH - _LEFT - _RIGHT), _HEIGHT - _BOTTOM - part[1] * (_HEIGHT - _TOP - _BOTTOM)

    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    grid = []
    for v in marks[0]:
        x = place((v, ends[1][0]))[0]
        grid.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{bottom}"/><text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{number_of(v)}</text>')
    for v in marks[1]:
        y = place((ends[0][0], v))[1]
        grid.append(f'<line x1="{_LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/><text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{number_of(v)}</text>')
    circles = []
    for values, is_best, number, text in sorted(points, key=lambda p: p[1]):
        x, y = place(values)
        told = f"{number}: {text}; " + ", ".join(f"{name} {number_of(v)}" for name, v in zip(names, values))
        circles.append(f'<a href="#point{number}"><circle cx="{x:.1f}" cy="{y:.1f}" r="5"{" class=best" if is_best else ""}><title>{html.escape(told)}</title></circle></a>')
    front = sorted(place(values) for values, is_best, _, _ in points if is_best)
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in front) if len(names) == 2 else ""
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{names[0]} and {names[1]}">{"".join(grid)}'
        f'<text x="{(_LEFT + right) / 2}" y="{_HEIGHT - 8}" text-anchor="middle">{names[0]}</text><text x="{_LEFT}" y="{_TOP - 7}">{names[1]}</text>'
        f'<polyline class="front" points="{line}"/>{"".join(circles)}</svg>'
    )


def ticks(low: float, high: float) -> list[float]:
    """Round numbers around both ends, about five.

    >>> ticks(2176, 4096), ticks(7, 7), ticks(0.91, 0.98)
    ([2000, 2500, 3000, 3500, 4000, 4500], [7], [0.9, 0.92, 0.94, 0.96, 0.98])
    """
    if not high > low:
        return [low]
    step = 10.0 ** math.floor(math.log10((high - low) / 4))
    step *= next(m for m in (1, 2, 5, 10) if (high - low) / (m * step) <= 5)
    found = [round(k * step, 12) for k in range(math.floor(low / step), math.ceil(high / step - 1e-9) + 1)]
    return [int(v) if v == int(v) else v for v in found]


def number_of(value: float) -> str:
    return f"{value:,.0f}".replace(",", "\u202f") if abs(value) >= 1000 else f"{value:.4g}"


def rows_of(entries: Sequence[Entry], names: Sequence[str]) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in ("point", "parameters", *names))
    body = []
    for number, parameters, row, values, is_best in sorted(entries, key=lambda e: (not e[4], e[3] is None, e[3] or [], e[0])):
        kind = "best" if is_best else "" if values else "failed"
        cells = "".join(f"<td>{number_of(v)}</td>" for v in values) if values else f'<td class="why" colspan="{len(names)}">{html.escape(first_of(row.error or ""))}</td>'
        body.append(f'<tr id="point{number}" class="{kind}"><td>{number}</td><td>{html.escape(text_of(parameters))}</td>{cells}</tr>')
    return f"<table><tr>{head}</tr>\n" + "\n".join(body) + "</table>"


def first_of(errors: str) -> str:
    """Of several diagnostics, the first with its advice.

    >>> first_of("<model>: add `a`: error: no int16  [r]\\n    leave it out\\n<model>: add `b`: error: no int16  [r]\\n    leave it out")
    'add `a`: error: no int16  [r]; leave it out; and 1 more'
    """
    lines = errors.splitlines() or [""]
    starts = [k for k, line in enumerate(lines) if line and not line.startswith(" ")] or [0]
    told = [line.strip().removeprefix("<model>: ") for line in lines[: starts[1] if len(starts) > 1 else None]]
    return "; ".join([*filter(None, told), *([f"and {len(starts) - 1} more"] if len(starts) > 1 else [])])


def text_of(parameters: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in parameters.items())


def is_better(a: Sequence[float], b: Sequence[float], goals: Sequence[str]) -> bool:
    """In one objective, and worse in none."""
    signs = [1 if goal == "minimize" else -1 for goal in goals]
    return all(s * x <= s * y for s, x, y in zip(signs, a, b)) and list(a) != list(b)
