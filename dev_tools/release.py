#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a release must have (CONTRIBUTING.md, "A release").

    release.py              of the sources: the version is typed once, CHANGELOG.md has sections by release
    release.py --ready      and this commit can be released: its version has a section with a date, and nothing is uncommitted
    release.py WHEEL        and the wheel: of this version, of the stable ABI; every Python 3.10 to 3.14 that is here installs it and runs the demo
                            within a minute, and with `executorch` makes the first program of docs/executorch.md; writes SHA256SUMS beside it

Exit code 1 with a line for each fault.
"""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERSION = r"\d+\.\d+\.\d+"
DEMO_SECONDS, QUICK_LINES = 60, 10
faults = []


def expect(condition, what):
    if not condition:
        faults.append(what)


def version():
    return re.search(rf"^project\(deuteron VERSION ({VERSION})", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]


def check_sources():
    expect('dynamic = ["version"]' in (ROOT / "pyproject.toml").read_text(), "pyproject.toml: the version is typed in CMakeLists.txt, and here it is typed again")
    text = (ROOT / "CHANGELOG.md").read_text()
    sections = re.findall(r"^## (.+)$", text, re.M)
    expect(sections and all(re.fullmatch(rf"Unreleased|What a version promises|{VERSION} \(\d{{4}}-\d\d-\d\d\)", s) for s in sections), f"CHANGELOG.md: sections are `Unreleased` or `X.Y.Z (YYYY-MM-DD)`: {sections}")
    released = [tuple(map(int, s.split()[0].split("."))) for s in sections if s[0].isdigit()]
    expect(released == sorted(released, reverse=True), f"CHANGELOG.md: the newest release stands first: {sections}")
    expect(all(v <= tuple(map(int, version().split("."))) for v in released), f"CHANGELOG.md: has a release after {version()}, the version of CMakeLists.txt")
    for body in re.split(r"^## ", text, flags=re.M)[1:]:
        if not body.startswith("What a version"):
            expect("\n### What you must change" in body, f"CHANGELOG.md: {body.splitlines()[0]} does not say what a user must change")
    expect((ROOT / "tests/carried/programs" / version()).is_dir(), f"no programs of {version()} are kept: tests/old_programs.py --write")


def check_ready():
    text = (ROOT / "CHANGELOG.md").read_text()
    expect(re.search(rf"^## {re.escape(version())} \(", text, re.M), f"CHANGELOG.md has no section `## {version()} (YYYY-MM-DD)`: rename `Unreleased`")
    dirty = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    expect(not dirty, f"uncommitted: {dirty.split()[1:2]}")


def pythons():
    """Of each version one that runs: pyenv puts names of all that it has on the PATH, and refuses those that are not chosen."""
    folder = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv")) / "versions"
    for minor in range(10, 15):
        name = f"python3.{minor}"
        found = [*filter(None, [shutil.which(name)]), *sorted(folder.glob(f"3.{minor}.*/bin/{name}"))]
        yield from [p for p in found if subprocess.run([p, "-c", ""], capture_output=True).returncode == 0][:1]


def check_boards(deuteron, folder):
    """The wheel has the runners of all emulated boards, also where a build with fewer was there before."""
    digits = ROOT / "models/digits_cnn"
    rows = [[column.strip() for column in row.split("|")] for row in (ROOT / "boards/boards.txt").read_text().splitlines() if row and row[0] != "#"]
    for board, target in ((row[0], row[3]) for row in rows if row[2].startswith("qemu")):
        program = f"{folder}/{board}.pte"
        for command in (["compile", digits / "float.pt2", "--target", target, "--calibrate", digits / "calibrate.npy", "-o", program],
                        ["run", program, "--input", digits / "calibrate.npy", "--output-dir", f"{folder}/{board}", "--on", f"qemu:{board}"]):
            done = subprocess.run([deuteron, *command], capture_output=True, text=True)
            expect(done.returncode == 0, f"deuteron {command[0]} on {board}: {done.stderr}")


def check_quick_start(python, *installed):
    """The page of ExecuTorch begins with a few lines that make a program, in a new environment."""
    code = re.search(r"```python\n(.*?)```", (ROOT / "docs/executorch.md").read_text(), re.S)[1]
    expect(len(code.strip().splitlines()) <= QUICK_LINES, f"docs/executorch.md: the first program takes more than {QUICK_LINES} lines")
    with tempfile.TemporaryDirectory() as folder:
        where = pathlib.Path(folder)
        (where / "models").symlink_to(ROOT / "models")
        for command in ([python, "-m", "venv", folder], [f"{folder}/bin/pip", "install", "-q", "--disable-pip-version-check", *installed]):
            done = subprocess.run(command, capture_output=True, text=True)
            expect(done.returncode == 0, f"{command}: {done.stdout}{done.stderr}")
        start = time.monotonic()
        done = subprocess.run([f"{folder}/bin/python", "-c", code], capture_output=True, text=True, cwd=folder)
        seconds = time.monotonic() - start
        expect(done.returncode == 0 and (where / "digits.pte").exists(), f"the first program of docs/executorch.md: {done.stderr[-2000:]}")
        expect(seconds <= DEMO_SECONDS, f"the first program of docs/executorch.md takes {seconds:.0f} s, limit {DEMO_SECONDS}")
    print(f"the first program of docs/executorch.md in {seconds:.0f} s")


def check_wheel(wheel):
    name = re.fullmatch(rf"deuteron-({VERSION})-(\w+)-(\w+)-(\S+)\.whl", wheel.name)
    expect(name and name[1] == version(), f"{wheel.name} is not of version {version()}")
    expect(name and (name[2], name[3]) == ("cp310", "abi3"), f"{wheel.name} is not of the stable ABI of 3.10")
    done = subprocess.run([sys.executable, "-m", "abi3audit", "--strict", wheel], capture_output=True, text=True)
    expect(done.returncode == 0, f"abi3audit: {done.stdout}{done.stderr}")
    tried = []
    for python in pythons():
        with tempfile.TemporaryDirectory() as folder:
            start = time.monotonic()
            pip = [f"{folder}/bin/pip", "install", "-q", "--disable-pip-version-check", wheel]
            done = next((d for d in (subprocess.run(c, capture_output=True, text=True) for c in ([python, "-m", "venv", folder], pip, [f"{folder}/bin/deuteron", "demo"])) if d.returncode), None)
            seconds = time.monotonic() - start
            if done is None and not tried:
                check_boards(f"{folder}/bin/deuteron", folder)
        expect(done is None, f"{python}: {done and done.args}: {done and done.stdout}{done and done.stderr}")
        expect(seconds <= DEMO_SECONDS, f"{python}: from the wheel to the demo's end in {seconds:.0f} s, limit {DEMO_SECONDS}")
        tried.append(f"{pathlib.Path(python).name} in {seconds:.0f} s")
    expect(tried, "no Python 3.10 to 3.14 is here")
    check_quick_start(sys.executable, f"{wheel}[executorch]")
    print(f"{wheel.name}: demo with {', '.join(tried)}")
    sums = "".join(f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.name}\n" for p in sorted(wheel.parent.iterdir()) if p.name != "SHA256SUMS")
    (wheel.parent / "SHA256SUMS").write_text(sums)


def main():
    check_sources()
    for word in sys.argv[1:]:
        check_ready() if word == "--ready" else check_wheel(pathlib.Path(word))
    print("\n".join(faults) or f"{version()}: nothing is missing")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
