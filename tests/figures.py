# SPDX-License-Identifier: Apache-2.0
"""Figures in the prose of a page that stand in no output of that page.

A figure is a number with a unit (bytes, KB, dB, %, ms, cycles, instructions, ..), in a paragraph, a list or a table. It
is covered where a block of code above or below shows the same number, or one that rounds to it. What is measured
elsewhere, or is a limit, says so in a line of its own, which holds up to the next heading:

    <!-- figures: WHERE FROM -->        a command, a file of the repository or a document
    <!-- figures: docs/results.md -->   a page: the figures have to stand there

Small whole numbers of bytes (an alignment, a field), of percent, seconds and minutes are no figures.
"""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
ALLOWED = re.compile(r"^<!-- figures: (.+?) -->$", re.M)
NUMBER = r"\d{1,3}(?:[   ,]\d{3})+|\d+(?:\.\d+)?"
UNIT = r"bytes?|[KMG]i?B|[kM]|dB|%|[mµ]?s|seconds|minutes|cycles|instructions"
FIGURE = re.compile(rf"(?<![\w.,^-])({NUMBER})[   ]?({UNIT})(?![\w^-])")
POWERS = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "m": 1e-3, "µ": 1e-6}
SMALL = {"byte": 100, "bytes": 100, "%": 100, "s": 100, "seconds": 100, "minutes": 100, "dB": 10}


def plain(number):
    return re.sub(r"[   ,]", "", number)


def numbers(text):
    """Every number of a text, as it is written there without blanks."""
    return {plain(n) for n in re.findall(rf"(?<![\w.])(?:{NUMBER})(?![\w]*\d)", text)} | set(re.findall(r"\d+(?:\.\d+)?", text))


def is_shown(number, unit, shown):
    """Whether a number of the outputs is this one, or rounds to it."""
    number = plain(number)
    if number in shown:
        return True
    digits = len(number.partition(".")[2])
    scales = {1.0}
    if unit[0] in POWERS and unit not in ("minutes",):
        scales |= {POWERS[unit[0]], 1024.0 if unit[0] == "K" else POWERS[unit[0]]}
    return any(round(float(n) / scale, digits) == float(number) for n in shown for scale in scales)


def is_small(number, unit):
    return "." not in number and float(plain(number)) < SMALL.get(unit, 0)


def uncovered(text):
    """[(line, figure)] of a page's figures that no output on it shows and no comment allows."""
    shown = numbers(" ".join(FENCE.findall(text)))
    prose = FENCE.sub(lambda m: "\n" * m[0].count("\n"), text)
    found, allowed = [], None
    for at, line in enumerate(prose.splitlines(), 1):
        if line.startswith("#"):
            allowed = None
        if match := ALLOWED.match(line):
            page = ROOT / match[1]
            allowed = numbers(page.read_text(encoding="utf-8")) if page.suffix == ".md" and page.is_file() else True
            continue
        if allowed is True:
            continue
        for number, unit in FIGURE.findall(re.sub(r"`[^`]*`|\]\([^)]*\)", "", line)):
            if not is_small(number, unit) and not is_shown(number, unit, shown | (allowed or set())):
                found.append((at, f"{number} {unit}"))
    return found
