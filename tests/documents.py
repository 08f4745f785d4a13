# SPDX-License-Identifier: Apache-2.0
"""Runs what the documents show: their commands and their Python, and compares what is printed with what the page says is printed.

    documents.py DEUTERON PACKAGE [PAGE..] [--write]

PACKAGE is the folder of the built Python package (build/python). Without PAGE: README.md, CONTRIBUTING.md, SECURITY.md and all of docs/.
--write puts what was printed into the pages; read it before you commit it.

A page's blocks run in order in one folder of their own, in which `models` and `tests` are those of the checkout, and `build/boards` is what
was built for boards beside DEUTERON:

    ```sh                       commands, a line each; their output is not compared
    ```console                  `$ command`, then what it prints, counts of at least 1 000 within 1 %; `...` stands for anything; `# exit 1`
                                behind a command that fails
    ```python                   one program per page, in pieces
    ```output                   what the ```python block before it prints, the same way
    ```LANGUAGE title="FILE"    a file that is written into the folder

A block of commands that cannot run here, because it needs a chip or another's SDK, or shows the form of a command, has the line
`<!-- not run: WHY -->` before it; these are counted. A block of commands that is neither is an error.

A figure in the prose that no output of the page shows is an error, too: tests/figures.py.
"""
import argparse
import concurrent.futures
import contextlib
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import traceback

import figures

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGES = ["README.md", "CONTRIBUTING.md", "SECURITY.md"]
BLOCK = re.compile(r"^(?:<!-- not run: (?P<why>[^\n]+) -->\n)?^```(?P<language>\w*)(?: title=\"(?P<file>[^\"\n]+)\")?\n(?P<text>.*?)^```$", re.M | re.S)
COMMAND = re.compile(r"^(\$ |deuteron |build/|\./dev |python3? |pip |cmake |ninja |ctest |export |\./tools/|west )", re.M)
COUNT = re.compile(r"(?<![\w.,:=/-])(?:\d{4,}|\d{1,3}(?: \d{3})+)(?![\w.,:/-])")  # a whole number of at least 1 000, in words
NO_PAGE = "built without the page"  # what a deuteron says that was built without npm
LEFT_OUT = 77  # the status of a check that lacks what it needs


class Fault(Exception):
    pass


def pages():
    return [*PAGES, *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md"))]


def matches(wanted, found, room=0.01):
    """Whether the texts are equal, where `...` in the first stands for anything, and a count of at least 1 000 for any within 1 % of
    it: a commit that moves a few bytes rewrites no page."""
    lines = lambda text: "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))
    counts = COUNT.findall(lines(wanted))
    pieces = [re.escape(piece) for piece in COUNT.sub("\0", lines(wanted)).split("...")]
    match = re.fullmatch(".*?".join(pieces).replace("\0", f"({COUNT.pattern})"), lines(found), re.S)
    number = lambda text: int(text.replace(" ", ""))
    return match is not None and all(abs(number(a) - number(b)) <= number(a) * room for a, b in zip(counts, match.groups(), strict=True))


def without_times(text):
    """What a run prints, with `...` for the times, which differ each time."""
    return re.sub(r"^(  compiled +in )[\d.]+ s$", r"\1... s", re.sub(r"(on the host in )[\d.]+ m?s", r"\1...", text), flags=re.M)


def elided(wanted, printed):
    """What was printed, with a line `...` for the lines that the page leaves out: kept are those that begin as one of the page does."""
    begins = lambda line: re.sub(r"[\d.,]+", "", line)[:24]
    kept, out = {begins(line) for line in wanted.splitlines()}, []
    for line in printed.splitlines():
        if begins(line) in kept:
            out.append(line)
        elif out[-1:] != ["..."]:
            out.append("...")
    return "\n".join(out) + "\n"


def commands_of(text):
    """[(command, what it prints)] of a ```console block."""
    found = []
    for line in text.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append([line, ""])
        elif found and found[-1][0].endswith("\\\n"):
            found[-1][0] += line
        elif found:
            found[-1][1] += line
        else:
            raise Fault(f"a console block begins with a command, not with: {line}")
    return found


class Page:
    def __init__(self, name, tool, package, folder, write):
        self.name, self.folder, self.write = name, folder, write
        self.environment = {**os.environ, "PATH": f"{pathlib.Path(tool).parent}:{os.environ['PATH']}", "PYTHONPATH": package, "LC_ALL": "C.UTF-8"}
        self.counts = {"commands": 0, "python": 0, "not run": 0}
        self.left_out = []
        self.scope = {}
        self.printed = None

    def shell(self, command):
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=300)
        return done.returncode, done.stdout

    def sh(self, text):
        for command in re.sub(r"\\\n\s*", " ", text).splitlines():
            if not command or command.startswith("#"):
                continue
            status, printed = self.shell(command)
            if status != 0 and NO_PAGE in printed:
                self.left_out.append(f"{command}: the page was not built (npm)")
                continue
            if status != 0 or (command.startswith("deuteron ") and not printed):
                raise Fault(f"{command}\nexit {status}\n{printed}")
            for name in re.findall(r"--(?:html|csv|json|trace|etrecord) (\S+)|-o (\S+)", command):
                path = self.folder / (name[0] or name[1])
                if path.is_file() and path.stat().st_size == 0 or not path.exists():
                    raise Fault(f"{command}\n{path.name} is not there, or empty")
            self.counts["commands"] += 1

    def console(self, text):
        out = ""
        for shown, wanted in commands_of(text):
            status, printed = self.shell(shown[2:])
            expected = int(match[1]) if (match := re.search(r"# exit (\d+)\s*$", shown)) else 0
            if status != 0 and NO_PAGE in printed:
                self.left_out.append(f"{shown.strip()}: the page was not built (npm)")
                out += shown + wanted
                continue
            if status == LEFT_OUT != expected:
                self.left_out.append(f"{shown.strip()}: {printed.strip()}")
                out += shown + wanted
                continue
            if status != expected:
                raise Fault(f"{shown}exit {status}, not {expected}\n{printed}")
            if not self.write and not matches(wanted, printed):
                raise Fault(f"{shown}printed\n{printed}the page says\n{wanted}")
            if self.write and not matches(wanted, printed, room=0):
                wanted = without_times(elided(wanted, printed) if "...\n" in wanted.splitlines(keepends=True) else printed)
            out += shown + wanted
            self.counts["commands"] += 1
        return out

    def python(self, text):
        out, before = io.StringIO(), os.getcwd()
        os.chdir(self.folder)
        try:
            with contextlib.redirect_stdout(out):
                exec(compile(text, self.name, "exec"), self.scope)
        except ImportError as error:
            if (error.name or "").split(".")[0] not in ("deuteron", "numpy", "torch"):
                raise
            self.left_out.append(f"a Python block and those behind it: {error}")
            return False
        finally:
            os.chdir(before)
        self.printed = out.getvalue()
        self.counts["python"] += 1
        return True

    def block(self, match):
        """Runs a block and returns its text, changed where --write is given."""
        why, language, file, text = match.group("why", "language", "file", "text")
        if why:
            self.counts["not run"] += 1
            return text
        if file:
            (self.folder / file).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / file).write_text(text)
        elif language == "sh":
            self.sh(text)
        elif language == "console":
            return self.console(text)
        elif language == "python":
            if self.printed is not False:
                self.printed = self.python(text) and self.printed
        elif language == "output":
            if self.printed is None:
                raise Fault("an ```output block without a ```python block before it")
            if self.printed is not False and not matches(text, self.printed, 0 if self.write else 0.01):
                if not self.write:
                    raise Fault(f"printed\n{self.printed}the page says\n{text}")
                return self.printed
        elif not language and COMMAND.search(text):
            raise Fault(f"commands that no test runs: make it ```sh or ```console, or put `<!-- not run: WHY -->` before it\n{text}")
        return text

    def run(self, text):
        def replaced(match):
            before = match.group(0)
            line = text[: match.start()].count("\n") + 1
            try:
                after = self.block(match)
            except Fault as fault:
                raise Fault(f"{self.name}:{line}: {fault}") from None
            except Exception:
                raise Fault(f"{self.name}:{line}: {traceback.format_exc(limit=3)}") from None
            at = match.start("text") - match.start()
            return before[:at] + after + before[at + len(match["text"]):]
        after = BLOCK.sub(replaced, text)
        if not self.left_out and (lines := [f"{self.name}:{line}: {figure}" for line, figure in figures.uncovered(after)]):
            raise Fault("\n".join(["figures that no output of the page shows (tests/figures.py)", *lines]))
        return after


def run_page(name, tool, package, write):
    """(faults, counts, left out) of a page."""
    path = ROOT / name
    text = path.read_text(encoding="utf-8")
    sys.path.insert(0, package)
    with tempfile.TemporaryDirectory() as folder:
        for link in ("models", "tests"):
            os.symlink(ROOT / link, os.path.join(folder, link))
        os.mkdir(os.path.join(folder, "build"))
        os.symlink(pathlib.Path(tool).parent / "boards", os.path.join(folder, "build", "boards"))
        page = Page(name, tool, package, pathlib.Path(folder), write)
        try:
            after = page.run(text)
        except Fault as fault:
            return str(fault), page.counts, page.left_out
        if write and after != text:
            path.write_text(after, encoding="utf-8")
    return None, page.counts, page.left_out


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("deuteron")
    arguments.add_argument("package")
    arguments.add_argument("pages", nargs="*")
    arguments.add_argument("--write", action="store_true")
    given = arguments.parse_args()
    tool, package = os.path.abspath(given.deuteron), os.path.abspath(given.package)
    names, totals, failed, missing = given.pages or pages(), {}, 0, 0
    with concurrent.futures.ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        jobs = [pool.submit(run_page, name, tool, package, given.write) for name in names]
        for name, job in zip(names, jobs):
            fault, counts, left_out = job.result()
            for key, n in counts.items():
                totals[key] = totals.get(key, 0) + n
            missing += len(left_out)
            for what in left_out:
                print(f"left out: {name}: {what}")
            if fault:
                failed += 1
                print(f"FAILED {fault}")
    print(f"{len(names)} pages: {totals['commands']} commands and {totals['python']} blocks of Python ran, {totals['not run']} blocks are marked `not run`")
    sys.exit(1 if failed or totals["commands"] == 0 else LEFT_OUT if missing else 0)  # not all was compared


if __name__ == "__main__":
    main()
