# SPDX-License-Identifier: Apache-2.0
"""Names of a model carry no code into what is made from it: HTML, CSV, C and its packages, CMake, JSON, a shell, the file system, a terminal.

    hostile_names.py DEUTERON

Names of values, modules, stacks, inputs, outputs and files hold quotes, ends of lines, scripts, formulas, comments and ways out of a folder.
With a browser the pages run, without one only their text is looked at."""
import csv
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import browser  # noqa: E402

TOOL = os.path.abspath(sys.argv[1])
SCRIPT = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
FORMULA, WAY_OUT, LINES = "=cmd|' /C touch owned'!A0", "../../owned", "two\nlines\r\x1b[31m"
SHELL, COMMENT, QUOTES = "`touch owned`$(touch owned);touch owned", "*/ int owned; /*", "a\"b'c;d,e\\f${owned}]]"
FILE, SAFE = "m\";touch owned;${x}*'.pte", "m__touch_owned___x"  # and how its name begins in a firmware project and in C


def quoted(text):
    return '"' + "".join("\\" + c if c in '"\\' else f"\\x{ord(c):02x}" if c < " " else c for c in text) + '"'


NET = f"""source 0 {quoted(SCRIPT)} {quoted(FORMULA)} module={quoted(WAY_OUT)} stack={quoted(LINES)}
source 1 {quoted(SHELL)} {quoted(COMMENT)} module={quoted(QUOTES)} stack={quoted(SCRIPT)}
input {quoted(FORMULA)} : f32[1,5,4,3] name={quoted(SCRIPT)}
{quoted(QUOTES)} = clamp({quoted(FORMULA)}) bounds=0,6 : f32[1,5,4,3] from 0
{quoted(LINES)} = unary({quoted(QUOTES)}) fn=tanh : f32[1,5,4,3] from 1
output {quoted(LINES)} name={quoted(COMMENT)}
"""
PAGES, C_FORMS = ("r.html", "t.html", "a.html"), ("c", "arduino", "cmsis-pack", "zephyr")
wrong = []


def expect(condition, what):
    if not condition:
        wrong.append(what)


def texts_of(top):
    """(path, text) of what a build reads; where it is a model it has its names as data."""
    for path in sorted([top] if top.is_file() else top.rglob("*")):
        if path.is_file() and path.suffix not in (".pte", ".npy", ".bin", ".md"):
            yield path, path.read_text()


def code_of(path, text):
    """Without comments and literals."""
    if path.suffix in (".c", ".cpp", ".h", ".hpp", ".ino"):
        return re.sub(r'"(\\.|[^"\\\n])*"|/\*.*?\*/|//[^\n]*', "", text, flags=re.S)
    return re.sub(r'"(\\.|[^"\\])*"|#[^\n]*', "", text, flags=re.S)


def main():
    with tempfile.TemporaryDirectory() as outer:
        where = pathlib.Path(outer) / "in" / "here"
        where.mkdir(parents=True)
        (where / "net.txt").write_text(NET)
        head = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 5, 4, 3), }".ljust(117) + "\n"
        (where / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + head.encode() + struct.pack("<60f", *[k / 7 - 4 for k in range(60)]))

        def run(*command):
            done = subprocess.run([TOOL, *command], cwd=where, capture_output=True, stdin=subprocess.DEVNULL)
            if done.returncode:
                sys.exit(f"{command[0]} ends with {done.returncode}: {done.stderr.decode(errors='replace')[:600]}")
            said = done.stdout + done.stderr
            expect(b"\x1b[31m" not in said and b"\r" not in said, f"{command[0]}: names reach the terminal as they are")

        run("compile", "net.txt", "--target", "cortex-m55", "--calibrate", "x.npy", "-o", FILE, "--json", "r.json", "--html", "r.html", "--etrecord", "m.etrecord")
        run("profile", FILE, "--input", "x.npy", "-o", "t.etdp")
        run("inspect", "t.etdp", "--etrecord", "m.etrecord", "--csv", "t.csv", "--html", "t.html", "--trace", "t.json", "--json", "i.json")
        run("run", FILE, "--input", "x.npy", "--output-dir", "out")
        run("firmware", FILE, "--board", "mps3-an547", "-o", "fw")
        run("analyze", "net.txt", "--target", "imxrt700cm", "--calibrate", "x.npy", "--html", "a.html", "--json", "a.json", "--intermediates", "passes",
            "--explain", QUOTES)
        run("doctor", "net.txt", "--target", "imxrt700cm", "--calibrate", "x.npy", "--json", "d.json")
        run("compare", "net.txt", FILE, "--inputs", "x.npy", "--json", "c.json")
        run("inspect", FILE, "--json", "p.json")
        run("inspect", "m.etrecord", "--json", "e.json")
        for form in C_FORMS:
            run("firmware", FILE, "--board", "mps3-an547", "--as", form, "-o", f"as_{form}")
        run("compile", "net.txt", "--target", "cortex-m55", "--calibrate", "x.npy", "--emit", "c,blob", "-o", "as_emit")
        run("firmware", FILE, "--target", "cortex-m55", "--as", "hpp", "-o", "as_hpp.hpp")
        for name in ("r.json", "t.json", "i.json", "a.json", "d.json", "c.json", "p.json", "e.json"):
            json.loads((where / name).read_text())
        cells = [cell for row in csv.reader((where / "t.csv").read_text().splitlines()) for cell in row]
        expect(any("owned" in c for c in cells), "the table has no names: this test looks at nothing")
        expect(not [c for c in cells if re.match(r"[=@\t\r]|[+-](?![\d.])", c)], f"cells that begin as formulas: {[c for c in cells if re.match('[=@+-]', c)]}")
        for name in PAGES:
            text = (where / name).read_text()
            expect("owned" in text, f"{name} has no names: this test looks at nothing")
            expect("<script>document.title='owned'" not in text and "<img src=x" not in text, f"{name} has a name as markup")
        for folder in ["fw", "as_hpp.hpp", *(f"as_{form}" for form in C_FORMS)]:
            expect(any("owned" in text for _, text in texts_of(where / folder)), f"{folder} has no names: this test looks at nothing")
        for path, text in [t for folder in sorted(where.iterdir()) if folder.name == "fw" or folder.name.startswith("as_") for t in texts_of(folder)]:
            name = path.relative_to(where)
            expect("owned" not in code_of(path, text).replace(SAFE, ""), f"{name} has a name as code")
            if path.suffix == ".pdsc":
                xml.etree.ElementTree.fromstring(text)
        files = sorted(str(p.relative_to(outer)) for p in pathlib.Path(outer).rglob("*") if p.name.startswith("owned"))
        expect(not files, f"made {files}")
        expect(sorted(p.name for p in pathlib.Path(outer).iterdir()) == ["in"] and [p.name for p in (where.parent).iterdir()] == ["here"], "something was written outside")
        pages = 0
        if browser.find():
            with browser.Browser() as page:
                for name in PAGES:
                    page.open(where / name, 800, 600)
                    expect(page.run("document.title") != "owned", f"{name} ran a name")
                    pages += 1
    for what in wrong:
        print(what)
    print(f"names with scripts, formulas, comments and ways out: {len(wrong)} of them got out; {pages} pages ran in a browser")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
