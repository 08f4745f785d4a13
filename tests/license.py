#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every source says its licence, and so does everything that is written for a user.

    license.py DEUTERON

Sources: each file that git knows with an ending of code. Written: a firmware project, C output, a C++ header, and each package. NOTICE names each
folder of carried models; the wheel and the bills of materials are held by tests/sbom.py."""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINE = "SPDX-License-Identifier: Apache-2.0"
CODE = re.compile(r"\.(cpp|h|c|S|inc|js|mjs|fbs|proto|css|ld|html|py|pyi|sh|cmake|toml|yml|ino)$|(^|/)(CMakeLists\.txt|Kconfig|dev|run)$")
DATA = ("tests/carried/", "tests/fuzz/corpus/", "tests/golden/")  # models, and inputs of tests with their exact text
PROGRAM = ROOT / "tests/carried/programs/0.1.0/digits_cortex-m55.pte"


def silent(folder, names):
    return [n for n in names if CODE.search(n) and LINE not in (folder / n).read_text(errors="replace")]


def written(folder):
    return [p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()]


def main():
    tool = pathlib.Path(sys.argv[1]).resolve()
    faults = []
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True)
    sources = [n for n in listed.stdout.splitlines() if not n.startswith(DATA) and (ROOT / n).is_file()]
    if not sources:
        print("left out: this is no checkout, so which files are sources is not known")
        return 77
    faults += [f"{n}: has no SPDX line" for n in silent(ROOT, sources)]
    license_text = (ROOT / "LICENSE").read_text()
    if "Apache License" not in license_text or "END OF TERMS AND CONDITIONS" not in license_text:
        faults.append("LICENSE: is not the Apache License")
    notice = (ROOT / "NOTICE").read_text()
    for model in sorted({p.parent.name for p in ROOT.glob("tests/carried/fixtures/models/*/model.json")}):
        if model not in notice:
            faults.append(f"NOTICE: does not name the model {model}")
    count = 0
    with tempfile.TemporaryDirectory() as where:
        where = pathlib.Path(where)
        forms = {"project": ["--board", "mps3-an547"], "c": ["--as", "c"], "arduino": ["--as", "arduino"],
                 "zephyr": ["--as", "zephyr"], "cmsis-pack": ["--as", "cmsis-pack"]}
        for form, options in forms.items():
            board = [] if form == "project" else ["--board", "mps3-an547"]
            done = subprocess.run([tool, "firmware", PROGRAM, *options, *board, "-o", where / form], capture_output=True, text=True)
            if done.returncode:
                faults.append(f"firmware {form}: {done.stderr}")
                continue
            names = written(where / form)
            count += len(names)
            faults += [f"{form}: {n} has no SPDX line" for n in silent(where / form, names)]
            if (where / form / "LICENSE").read_text() != license_text:
                faults.append(f"{form}: LICENSE is another")
    print("\n".join(faults) or f"{len(sources)} files of the checkout, {count} files written")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
