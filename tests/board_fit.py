# SPDX-License-Identifier: Apache-2.0
"""`compile --board` says of a program's image what a build of `deuteron firmware` says, part for part, before there is a project.

    board_fit.py DEUTERON SOURCE_DIR"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import checks
from checks import check
from cross_build import build_environment

TOOL, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
for needed in ("arm-none-eabi-g++", "cmake", "ninja"):
    if not shutil.which(needed):
        print(f"left out: no {needed}")
        sys.exit(77)
DIGITS = SOURCE / "models" / "digits_cnn"
BOARDS = {"mps3-an547": "cortex-m55", "mps2-an386": "cortex-m4"}


def run(*command, fails=False, environment=None):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600, env=environment)
    if (done.returncode != 0) != fails or done.returncode > 1:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr}")
    return done.stdout + done.stderr


with tempfile.TemporaryDirectory(prefix="deuteron_fit_") as folder:
    where = pathlib.Path(folder)
    environment = build_environment(where)
    for board, target in BOARDS.items():
        program = where / f"{target}.pte"
        compiled = [TOOL, "compile", DIGITS / "float.pt2", "--calibrate", DIGITS / "calibrate.npy", "--target", target, "-o", program]
        run(*compiled, "--board", board, "--json", where / "fit.json", environment=environment)
        fit = json.loads((where / "fit.json").read_text())["board"]
        run(TOOL, "firmware", program, "--board", board, "-o", where / board)
        run("cmake", "-S", where / board, "-B", where / "b", "-G", "Ninja", environment=environment)
        said = run("cmake", "--build", where / "b", environment=environment)
        shutil.rmtree(where / "b")
        built = {name: (int(flash), int(ram)) for name, flash, ram in re.findall(r"^(\S.*?) {2,}(\d+) of flash, (\d+) of RAM$", said, re.M)}
        del built["product, beside the model"]
        found = {name: (part["flash_bytes"], part["ram_bytes"]) for name, part in fit["parts"].items()}
        check(built.pop("model")[0] >= found.pop("model")[0] == (program.stat().st_size + 15) // 16 * 16, f"{board}: the model of {found}")
        check(found == built and len(built) > 8, f"{board}: {found}, the project's build says {built}")
        stack = max(int(bytes_) for bytes_ in re.findall(r" (\d+) of stack at most$", said, re.M))
        check(fit["stack_bytes"] == stack, f"{board}: {fit['stack_bytes']} bytes of stack, the project's build says {stack}")
        print(f"{board}: {fit['flash_bytes']} bytes of flash, {fit['ram_bytes']} of RAM, {len(built)} parts as in the project's build")
        program.unlink()
        small = run(*compiled, "--board", f"{board},flash={fit['flash_bytes'] - 1},ram={fit['ram_bytes']}", fails=True, environment=environment)
        check("has 1 bytes too many for the flash" in small and "RAM" not in small and not program.exists(), f"{board}: {small}")
        run(*compiled, "--board", f"{board},flash={fit['flash_bytes']},ram={fit['ram_bytes']}", environment=environment)
print(f"boards: {checks.verdict()}")
sys.exit(1 if checks.failed else 0)
