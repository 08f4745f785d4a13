# SPDX-License-Identifier: Apache-2.0
"""The command `deuteron` of the package: the program inside it, and the verbs that are Python's: demo, sweep, search."""

from __future__ import annotations

import os
import pathlib
import sys

PACKAGE = pathlib.Path(__file__).parent


def main() -> None:
    if sys.argv[1:2] == ["demo"]:
        from ._demo import demo

        sys.exit(demo(sys.argv[2:]))
    if sys.argv[1:2] in (["sweep"], ["search"]):
        from ._sweep.command import main as command

        sys.exit(command(sys.argv[1], sys.argv[2:]))
    program = PACKAGE / "bin" / "deuteron"
    os.execv(program, ["deuteron", *sys.argv[1:]])
