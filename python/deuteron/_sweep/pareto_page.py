# SPDX-License-Identifier: Apache-2.0
"""The page of a search: its trials as points, the front as a line, and a table. One file, no scripts, nothing from a network."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any, Optional

from .table import Row

#: number, parameters, row, values, whether it is on the front
Entry = tuple[int, dict[str, Any], Row, Optional[list[float]], bool]

_WIDTH, _HEIGHT, _MARGIN = 640, 400, 56
_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; }
svg { width: 100%; height: auto; } svg text { fill: currentColor; font-size: 12px; }
.frame { fill: none; stroke: currentColor; opacity: .4; } .front { fill: none; stroke: #c2410c; stroke-width: 1.5; }
circle { fill: currentColor; opacity: .4; } circle.best { fill: #c2410c; opacity: 1; }
div { overflow-x: auto; } table { border-collapse: collapse; } td, th { padding: .2em .7em; text-align: right; border-bottom: 1px solid #8884; }
td:nth-child(2), th:nth-child(2) { text-align: left; } tr.best { font-weight: 600; } tr.failed { opacity: .6; }
"""


def page_of(entries: Sequence[Entry], objectives: Mapping[str, str]) -> str:
    names = list(objectives)
    goals = ", ".join(f"{name} ({direction})" for name, direction in objectives.items())
    best, failed = sum(e[4] for e in entries), sum(e[3] is None for e in entries)
    picture = scatter(entries, names) if len(names) > 1 and best else ""
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>Search: {html.escape(goals)}</title><style>{_STYLE}</style></head><body>\n<h1>Search</h1>\n"
        f"<p>{len(entries)} trials for {html.escape(goals)}: {best} are on the front, {failed} failed.</p>\n"
        f"{picture}\n<div>{rows_of(entries, names)}</div>\n</body></html>\n"
    )


def scatter(entries: Sequence[Entry], names: Sequence[str]) -> str:
    """The first two objectives. With more, points of the front need not lie on its edge here."""
    points = [(values, is_best, f"{number}: {text_of(parameters)}") for number, parameters, _, values, is_best in entries if values]
    places = [scale([values[axis] for values, _, _ in points]) for axis in (0, 1)]
    x = [_MARGIN + p * (_WIDTH - 2 * _MARGIN) for p in places[0]]
    y = [_HEIGHT - _MARGIN - p * (_HEIGHT - 2 * _MARGIN) for p in places[1]]
    marks = [
        f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4"{" class=best" if is_best else ""}><title>{html.escape(text)}</title></circle>'
        for a, b, (_, is_best, text) in zip(x, y, points)
    ]
    front = sorted((a, b) for a, b, (_, is_best, _) in zip(x, y, points) if is_best)
    line = "".join(f"{a:.1f},{b:.1f} " for a, b in front) if len(names) == 2 else ""
    ends = [(min(v[axis] for v, _, _ in points), max(v[axis] for v, _, _ in points)) for axis in (0, 1)]
    bottom, right = _HEIGHT - _MARGIN, _WIDTH - _MARGIN
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{names[0]} and {names[1]} of the trials">'
        f'<rect class="frame" x="{_MARGIN}" y="{_MARGIN}" width="{right - _MARGIN}" height="{bottom - _MARGIN}"/>'
        f'<text x="{_MARGIN}" y="{bottom + 18}">{ends[0][0]:g}</text><text x="{right}" y="{bottom + 18}" text-anchor="end">{ends[0][1]:g}</text>'
        f'<text x="{_WIDTH / 2}" y="{bottom + 36}" text-anchor="middle">{names[0]}</text>'
        f'<text x="{_MARGIN - 6}" y="{bottom}" text-anchor="end">{ends[1][0]:g}</text>'
        f'<text x="{_MARGIN - 6}" y="{_MARGIN + 10}" text-anchor="end">{ends[1][1]:g}</text><text x="{_MARGIN}" y="{_MARGIN - 10}">{names[1]}</text>'
        f'<polyline class="front" points="{line.strip()}"/>{"".join(marks)}</svg>'
    )


def scale(values: Sequence[float]) -> list[float]:
    low, high = min(values), max(values)
    return [(v - low) / (high - low) if high > low else 0.5 for v in values]


def rows_of(entries: Sequence[Entry], names: Sequence[str]) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in ("trial", "parameters", *names))
    body = []
    for number, parameters, row, values, is_best in sorted(entries, key=lambda e: (not e[4], e[3] is None, e[3] or [], e[0])):
        kind = "best" if is_best else "" if values else "failed"
        cells = "".join(f"<td>{v:g}</td>" for v in values) if values else f'<td colspan="{len(names)}">{html.escape(row.error or "")}</td>'
        body.append(f'<tr class="{kind}"><td>{number}</td><td>{html.escape(text_of(parameters))}</td>{cells}</tr>')
    return f"<table><tr>{head}</tr>\n" + "\n".join(body) + "</table>"


def text_of(parameters: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in parameters.items())
