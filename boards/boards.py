# SPDX-License-Identifier: Apache-2.0
"""boards.txt for the tests and benches that run on every board."""
import pathlib
import typing


class Board(typing.NamedTuple):
    name: str
    runs: str
    target: str
    isa: str
    npu: str
    memory_mb: str
    flags: str


def all_boards():
    rows = (pathlib.Path(__file__).parent / "boards.txt").read_text().splitlines()
    return [Board(*(column.strip() for column in row.split("|"))) for row in rows if not row.startswith("#")]


def emulated_boards():
    return [board for board in all_boards() if board.runs == "qemu"]
