# SPDX-License-Identifier: Apache-2.0
"""The runtime under analysers that read code: clang-tidy's bugprone and cert checks, and gcc's -fanalyzer. Nothing may be said.

    analyzers.py

Left out are bugprone-easily-swappable-parameters, which is a matter of taste, and bugprone-narrowing-conversions: -Wconversion is an error in every
build. Without one of the two programs its half is left out; without both the test is skipped (77)."""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = sorted(str(p.relative_to(ROOT)) for p in (ROOT / "runtime").glob("*.cpp") if not p.name.endswith("_test.cpp"))
FLAGS = ["-std=c++17", "-I.", "-fno-exceptions", "-fno-rtti"]
CHECKS = "-*,bugprone-*,cert-*,-bugprone-easily-swappable-parameters,-bugprone-narrowing-conversions"
ANALYZERS = {
    "clang-tidy": (("clang-tidy-14", "clang-tidy"), lambda tool, source: [tool, "--quiet", f"--checks={CHECKS}", source, "--", *FLAGS]),
    "-fanalyzer": (("g++",), lambda tool, source: [tool, *FLAGS, "-O1", "-fanalyzer", "-c", source, "-o", "/dev/null"]),
}


def main():
    said, looked_at = [], []
    for name, (programs, command) in ANALYZERS.items():
        tool = next(filter(shutil.which, programs), None)
        if not tool:
            print(f"left out: no {name}")
            continue
        looked_at.append(name)
        for source in SOURCES:
            done = subprocess.run(command(tool, source), cwd=ROOT, capture_output=True, text=True)
            said += re.findall(r"(?m)^.*(?:warning|error): .*$", done.stdout + done.stderr)
            if done.returncode and not said:
                said.append(f"{name}, {source}: exit {done.returncode}: {done.stderr[-400:]}")
    for line in said:
        print(line)
    print(f"{len(SOURCES)} files of the runtime, {' and '.join(looked_at) or 'nobody'}: {len(said)} findings")
    return 77 if not looked_at else 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
