# SPDX-License-Identifier: Apache-2.0
"""Do the tests notice a fault? Makes random small changes of product code, one at a time, and lists those that no test fails for.

    mutate.py BUILD [--count N] [--seed S] [--only PREFIX]... [--journal FILE] [--timeout SECONDS] [--again FILE:LINE:COLUMN:CHANGE]...
              [--program-tests [REGEX]]

BUILD is a configured folder of this checkout: with the sanitizers more is seen, without them a mutant takes half the time. Where it compiles in units,
the changed file's unit is compiled anew. Tests whose source lies in the folder of the changed file run first, then, where those see nothing, the golden
texts with a changed program, then the whole test binary: a mutant survives if all pass. With --program-tests it then meets the tests of ctest that take
the program, as `./dev test` has them, the quickest first: minutes for each mutant that lives. A change that does not compile, or that comes to the same
code, is no mutant and is not counted. A test that does not end in TIMEOUT seconds, or that ends by a signal, has seen the fault.

The journal (JSON, a line for each mutant) is appended to, and its mutants are not tried again: a run that was stopped goes on. `--again` tries one of
its lines once more. Neither the checkout nor BUILD is changed.
Same seed, files and count: the same mutants."""
import argparse
import collections
import hashlib
import json
import os
import pathlib
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What is mutated, and which binary has its tests.
PLACES = [
    ("runtime_tests", ["runtime/*.cpp", "kernels/**/*.cpp", "npu/neutron/machine/*.cpp",
                       "npu/neutron/delegate/*.cpp", "npu/neutron/kernels/*/kernel.cpp", "npu/neutron/kernels/*/check.cpp"]),
    ("compiler_tests", ["base/**/*.cpp", "ir/**/*.cpp", "compile/**/*.cpp", "write/pte/*.cpp", "write/firmware/*.cpp", "targets/*.cpp",
                        "frontends/**/*.cpp", "ops/*/*.cpp", "npu/neutron/converter/*.cpp", "npu/neutron/kernels/*/*.cpp",
                        "npu/neutron/vendor/*.cpp", "explain/**/*.cpp"]),
]
# Device code whose other half is the compiler's: a mutant that the first binary lets live meets these tests too.
ALSO = {"runtime/": ("compiler_tests", "emit"), "kernels/": ("compiler_tests", "emit")}
PROGRAM = "deuteron"  # which tests/golden.py runs
PROGRAMS = [PROGRAM, "float_runner"]  # with what is mutated in them, of which ctest has tests
NOT_MUTATED = re.compile(r"(_test|_fuzz|_host)\.cpp$|/test_|/kernel_[a-z0-9]+\.cpp$|/frontends/pt2/examples/")

# name, what is looked for, what takes its place. Binary operators have spaces around them in formatted code, template brackets have not.
CHANGES = [
    ("relation", r" (<=|>=|<|>) ", {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}),
    ("equality", r" (==|!=) ", {"==": "!=", "!=": "=="}),
    ("logic", r" (&&|\|\|) ", {"&&": "||", "||": "&&"}),
    ("sum", r" (\+|-) ", {"+": "-", "-": "+"}),
    ("product", r" (\*|/|%) ", {"*": "/", "/": "*", "%": "/"}),
    ("assignment", r" (\+=|-=) ", {"+=": "-=", "-=": "+="}),
    ("shift", r" (<<|>>) (?!\")", {"<<": ">>", ">>": "<<"}),
    ("truth", r"\b(true|false)\b", {"true": "false", "false": "true"}),
    ("constant", r"(?<![\w.])(\d+)(?![\w.'])", None),
    ("condition", r"\bif \((?!const|auto)(.+)\) ?(?:return|\{$|[a-z_]+(?:\(| = ))", None),
    ("statement", r"^\s+((?!return|const|auto|using|case|break|continue|else|if|for|while|static|int|uint|size_t|bool|float|double|char|#|\})"
                  r"[\w.:>\[\]*()-]+(?: [-+|&*]?= .+|\(.*\)|\+\+|--);)$", None),
]
SKIPPED = re.compile(r"^\s*(#|//)|static_assert|DEUTERON_CHECK|^\s*case |^(static |inline )?constexpr|^\s*switch|template")


def code_of(line):
    """The line without its comment, with its literals blanked: columns stay."""
    line = re.sub(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'', lambda m: '"' + " " * (len(m[0]) - 2) + '"', line)
    at = line.find("//")
    return line if at < 0 else line[:at]


def balanced(text):
    depth = 0
    for c in text:
        depth += (c == "(") - (c == ")")
        if depth < 0:
            return False
    return depth == 0


def sites_of(path):
    """(line, column, name, before, after) of every change that the file offers."""
    sites = []
    for number, line in enumerate((ROOT / path).read_text().splitlines(), 1):
        if SKIPPED.search(line):
            continue
        code = code_of(line)
        for name, pattern, table in CHANGES:
            for match in re.finditer(pattern, code):
                before = line[match.start(1):match.end(1)]
                if name == "condition":
                    if not balanced(before):
                        continue
                    after = f"!({before})"
                elif name == "statement":
                    after = ";"
                elif name == "constant":
                    after = str(int(before) + 1)
                else:
                    after = table[before]
                sites.append((number, match.start(1), name, before, after))
    return sites


def gtest_filter(folder):
    """The suites of the tests that lie in the folder: "Suite.*:*/Suite.*"."""
    suites = {m for p in (ROOT / folder).glob("*_test.cpp") for m in re.findall(r"^(?:TYPED_)?TEST(?:_F|_P)?\((\w+),", p.read_text(), re.M)}
    return ":".join(f"{s}.*:*/{s}.*:{s}/*" for s in sorted(suites))


class Tree:
    """Compiles a changed copy of a file and links it in front of the libraries that hold the real one: neither checkout nor build folder change."""

    def __init__(self, build, folder, timeout):
        self.build, self.folder, self.timeout = build, folder, timeout
        self.source, self.unit, self.assembly, self.object, self.binary = (folder / f"mutant.{x}" for x in ("cpp", "unit.cpp", "s", "o", "tests"))
        self.commands = {c["file"]: c for c in json.loads((build / "compile_commands.json").read_text())}
        self.links = {}
        self.sound = {}  # program tests that pass without a change, once they were asked
        for unit in (build / "units").glob("*/*.cpp"):  # as units.cmake makes them
            if str(unit) in self.commands:
                for file in re.findall(r'^#include "(.+)"$', unit.read_text(), re.M):
                    self.commands[str(ROOT / file)] = self.commands[str(unit)]

    def builds(self, binary):
        return subprocess.run(["ninja", "-C", self.build, "-j2", binary], stdout=subprocess.DEVNULL).returncode == 0

    def compile(self, path, text):
        """What the code comes to without sanitizers, which put lines and columns into it. None: it does not compile."""
        command = self.commands[str(ROOT / path)]
        words = shlex.split(command["command"])
        words = words[next(k for k, w in enumerate(words) if w.endswith(("g++", "c++", "clang++"))):]
        self.source.write_text(text)
        compiled = self.source
        if command["file"] != str(ROOT / path):
            unit = pathlib.Path(command["file"]).read_text()
            self.unit.write_text(re.sub(rf'^#include "(?:{re.escape(str(ROOT))}/)?{re.escape(path)}"$', f'#include "{self.source}"', unit, flags=re.M))
            compiled = self.unit
        words[words.index("-o") + 1] = str(self.object)
        self.words = [str(compiled) if w == command["file"] else w for w in words if w != "-Werror"]
        changed = {"-c": "-S", str(self.object): str(self.assembly)}
        plain = [changed.get(w, w) for w in self.words if not w.startswith(("-g", "-fsanitize", "-fno-sanitize"))]
        done = subprocess.run(plain, cwd=self.build, stderr=subprocess.DEVNULL)
        return hashlib.sha256(self.assembly.read_bytes()).hexdigest() if done.returncode == 0 else None

    def link(self, binary, output=None):
        if binary not in self.links:
            commands = subprocess.run(["ninja", "-C", self.build, "-t", "commands", binary], capture_output=True, text=True, check=True).stdout
            self.links[binary] = commands.splitlines()[-1]
        line = self.links[binary].replace(f" -o {binary} ", f" -o {output or self.binary} {self.object} ", 1)
        compiled = subprocess.run(self.words, cwd=self.build, stderr=subprocess.DEVNULL)
        return compiled.returncode == 0 and subprocess.run(line, shell=True, cwd=self.build, stdout=subprocess.DEVNULL).returncode == 0

    def program_tests(self, chosen):
        """Name, command and the exit code that leaves the test out; the quickest first."""
        tests = []
        listed = subprocess.run(["ctest", "--show-only=json-v1"], cwd=self.build, capture_output=True, text=True, check=True).stdout
        costs = self.build / "Testing" / "Temporary" / "CTestCostData.txt"
        seconds = {w[0]: float(w[2]) for w in map(str.split, costs.read_text().splitlines()) if len(w) == 3} if costs.exists() else {}
        for test in json.loads(listed)["tests"]:
            words = test.get("command", [])
            if test["name"] != "golden" and re.search(chosen, test["name"]) and any(str(self.build / p) in words for p in PROGRAMS):
                skip = next((p["value"] for p in test["properties"] if p["name"] == "SKIP_RETURN_CODE"), None)
                tests.append((test["name"], words, skip))
        return sorted(tests, key=lambda t: seconds.get(t[0], 0))

    def failing_program_test(self, chosen):
        """The first one that fails with the changed programs and passes with them as they are."""
        changed = {str(self.build / p): str(self.folder / f"mutant.{p}") for p in PROGRAMS}
        for program, mutant in changed.items():
            if not self.link(pathlib.Path(program).name, mutant):
                return f"{program} does not link"
        for name, words, skip in self.program_tests(chosen):
            skipped = f"exit {skip}"
            passed, what = self.passes([changed.get(w, w) for w in words], r"(?!)")
            if passed or what == skipped:
                continue
            if name not in self.sound:
                self.sound[name] = self.passes(words, r"(?!)")[0]
            if self.sound[name]:
                return name
        return None

    def failing_as_it_is(self, binaries):
        """What a test of these binaries, or a golden text, says of the code without a change; empty: nothing."""
        ends = [self.tests_pass(self.build / b) for b in sorted(binaries)] + [self.golden_passes(self.build / PROGRAM)]
        return ", ".join(what for passed, what in ends if not passed)

    def golden_passes(self, program):
        return self.passes([sys.executable, ROOT / "tests" / "golden.py", "--deuteron", program], r"^FAILED (\S+)")

    def tests_pass(self, binary, chosen=""):
        words = [binary, "--gtest_brief=1", "--gtest_fail_fast"] + ([f"--gtest_filter={chosen}"] if chosen else [])
        return self.passes(words, r"\[  FAILED  \] (\S+?)[ ,]")

    def passes(self, words, failure):
        """Whether the command ends well; else what its output names where it has `failure`."""
        with subprocess.Popen(words, cwd=self.build, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, start_new_session=True) as process:
            try:
                out, err = process.communicate(timeout=self.timeout)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)  # with what it has started: a mutant that never ends
                return False, "time"
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                raise
        failed = re.search(failure, out, re.M)
        what = failed[1] if failed else "sanitizer" if "Sanitizer" in err or "runtime error" in err else f"exit {process.returncode}"
        return process.returncode == 0, what


def try_mutant(tree, binary, path, site, before_hash, program_tests):
    """"killed", "survived" or why it is no mutant, and what saw it."""
    number, column, _, before, after = site
    lines = (ROOT / path).read_text().split("\n")
    line = lines[number - 1]
    lines[number - 1] = line[:column] + after + line[column + len(before):]
    code = tree.compile(path, "\n".join(lines))
    if code is None:
        return "does not compile", ""
    if code == before_hash:
        return "same code", ""
    folder = str(pathlib.PurePath(path).parent)
    near = gtest_filter(folder)
    rounds = [(binary, near)] * bool(near) + [(PROGRAM, ""), (binary, "")]
    rounds += [(other, gtest_filter(f)) for start, (other, f) in ALSO.items() if path.startswith(start)]
    for linked, chosen in rounds:
        if not tree.link(linked):
            return "does not link", ""
        passed, what = tree.golden_passes(tree.binary) if linked == PROGRAM else tree.tests_pass(tree.binary, chosen)
        if not passed:
            return "killed", what
    if program_tests is not None and (name := tree.failing_program_test(program_tests)):
        return "killed", name
    return "survived", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", help="files whose path begins so")
    parser.add_argument("--journal", type=pathlib.Path)
    parser.add_argument("--timeout", type=int, default=300)
    parser.add_argument("--again", action="append", default=[], help="FILE:LINE:COLUMN:CHANGE of a journal")
    parser.add_argument("--program-tests", nargs="?", const="", metavar="REGEX", help="ask also what ctest runs with the programs, or those of this name")
    options = parser.parse_args()
    build = options.build.resolve()
    with tempfile.TemporaryDirectory() as folder:
        return mutate(options, Tree(build, pathlib.Path(folder), options.timeout))


def mutate(options, tree):
    places = {}
    for binary, patterns in PLACES:
        for pattern in patterns:
            for p in ROOT.glob(pattern):
                path = str(p.relative_to(ROOT))
                if str(p) in tree.commands and not NOT_MUTATED.search(path) and any(path.startswith(o) for o in options.only or [""]):
                    places.setdefault(path, binary)
    every = [(path, site) for path in sorted(places) for site in sites_of(path)]
    if options.again:
        wanted = set(options.again)
        queue = [(p, s) for p, s in every if f"{p}:{s[0]}:{s[1]}:{s[2]}" in wanted]
    else:
        queue = random.Random(options.seed).sample(every, len(every))
    print(f"{len(every)} changes in {len(places)} files, seed {options.seed}", flush=True)
    for binary in sorted({places[path] for path, _ in queue} | {PROGRAM}):  # without a change everything passes
        if not tree.builds(binary):
            raise SystemExit(f"{binary} does not build as it is")
    if failing := tree.failing_as_it_is({places[path] for path, _ in queue}):
        raise SystemExit(f"{failing} fails without a change: it would kill every mutant")
    hashes, counts = {}, collections.Counter()
    tried = set()
    if options.journal and options.journal.exists() and not options.again:
        for row in map(json.loads, options.journal.read_text().splitlines()):
            tried.add((row["mutant"], row["after"]))
            counts[row["verdict"]] += 1
    for path, site in queue:
        if (f"{path}:{site[0]}:{site[1]}:{site[2]}", site[4]) in tried:
            continue
        if counts["killed"] + counts["survived"] >= (len(queue) if options.again else options.count):
            break
        if path not in hashes:
            hashes[path] = tree.compile(path, (ROOT / path).read_text())
        began = time.monotonic()
        verdict, what = try_mutant(tree, places[path], path, site, hashes[path], options.program_tests)
        counts[verdict] += 1
        if verdict not in ("killed", "survived"):
            continue
        row = {"mutant": f"{path}:{site[0]}:{site[1]}:{site[2]}", "before": site[3], "after": site[4], "verdict": verdict, "by": what,
               "seconds": round(time.monotonic() - began), "seed": options.seed}
        if options.journal:
            with options.journal.open("a") as journal:
                journal.write(json.dumps(row) + "\n")
        print(f"{verdict:9} {row['mutant']}  `{site[3]}` -> `{site[4]}`  {what}", flush=True)
    real = counts["killed"] + counts["survived"]
    print(f"{real} mutants: {counts['killed']} killed, {counts['survived']} survived ({100 * counts['killed'] / max(1, real):.1f} % killed); "
          f"{sum(counts.values()) - real} changes were none")
    return 0


if __name__ == "__main__":
    sys.exit(main())
