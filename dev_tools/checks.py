#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists every CHECK of the compiler and its tools, with the reason why no input can make it fail.

  dev_tools/checks.py           exit code 1 where one has no reason, or a reason has none
  dev_tools/checks.py --list    and prints them all

A CHECK that fails is a fault of ours and ends the program with exit code 3, so what a model, a program, an option or the size of a memory can
reach is a diagnostic, or std::bad_alloc. Reasons are in dev_tools/checks.txt: a line that ends with a colon, and below it, indented,
`FILE: CONDITION` of the CHECKs that it is for. Tests and fuzz targets may CHECK what they like.
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
REASONS = pathlib.Path(__file__).with_name("checks.txt")
NAME = "DEUTERON_CHECK"


def is_product(path):
    return path.endswith((".cpp", ".h", ".inc")) and not path.startswith("tests/") and not re.search(r"(_test\.cpp|/test_\w+\.h)$", path)


def conditions(text):
    """The first argument of every CHECK, on one line."""
    for found in re.finditer(rf"\b{NAME}\(", text):
        if text[text.rfind("\n", 0, found.start()) + 1 :].startswith("#define"):
            continue
        depth, at = 0, found.end()
        plain = re.sub(r"'(\\.|[^'\\])'", lambda c: "x" * len(c[0]), text[at : at + 2000])  # brackets that are characters close nothing
        while not (depth == 0 and plain[at - found.end()] in ",)"):
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(plain[at - found.end()], 0)
            at += 1
        yield " ".join(text[found.end() : at].split())


def checks(root):
    files = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root, check=True, capture_output=True, text=True).stdout.split("\n")
    found = {}
    for path in sorted(filter(is_product, files)):
        if (root / path).is_file():
            for condition in conditions((root / path).read_text()):
                found[f"{path}: {condition}"] = None
    return found


def reasons(text):
    """By CHECK."""
    reason, found = "", {}
    for line in text.splitlines():
        if line.startswith("  "):
            found[line.strip()] = reason
        elif line and not line.startswith("#"):
            reason = line.removesuffix(":")
    return found


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--list", action="store_true")
    arguments.add_argument("--root", type=pathlib.Path, default=ROOT)
    arguments.add_argument("--reasons", type=pathlib.Path, default=REASONS)
    given = arguments.parse_args()
    there, known = checks(given.root), reasons(given.reasons.read_text())
    if given.list:
        for check in there:
            print(f"{check}\n    {known.get(check, '')}")
    without, without_check = [c for c in there if not known.get(c)], [c for c in known if c not in there]
    for check in without:
        print(f"{check}\n    has no reason in {given.reasons.name}: which input reaches it? Make that a diagnostic, or say why none does")
    for check in without_check:
        print(f"{check}\n    is in {given.reasons.name} and nowhere else: take the line out")
    print(f"{len(there)} checks, {len(without)} without a reason")
    sys.exit(1 if without or without_check else 0)


if __name__ == "__main__":
    main()
