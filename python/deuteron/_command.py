# SPDX-License-Identifier: Apache-2.0
"""The command `deuteron` of the package: the program inside it, and the verbs that are Python's: demo, sweep, search."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

PACKAGE = pathlib.Path(__file__).parent
OWN_VERBS = """
Of this package alone, each with --help:

  demo         compile, run and measure a model that the package carries
  sweep        compile many models for many targets with many options
  search       look for the best points of a space of models and options"""


def main() -> None:
    if sys.argv[1:2] == ["demo"]:
        from ._demo import demo

        sys.exit(demo(sys.argv[2:]))
    if sys.argv[1:2] in (["sweep"], ["search"]):
        from ._sweep.command import main as command

        sys.exit(command(sys.argv[1], sys.argv[2:]))
    program = PACKAGE / "bin" / "deuteron"
    if sys.argv[1:] in ([], ["help"], ["--help"]):
        subprocess.run([program, "--help"], check=True)
        print(OWN_VERBS)
        return
    os.execv(program, ["deuteron", *sys.argv[1:]])
