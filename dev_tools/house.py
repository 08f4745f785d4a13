#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the shape of the code and fails where a figure is over its bound.

  dev_tools/house.py              every figure with its bound; exit code 1 if one is over
  dev_tools/house.py --details    and what each figure is made of
  dev_tools/house.py --tighten    writes today's figures as the bounds below, where they are lower

dev_tools/house_test.py makes small trees with one fault in each and sees that every figure finds its own.
Product files are what the compiler, the device and the tools are built of: .cpp, .h and .inc, without tests and what only tests include.
Standard library only; git is asked for the list of files and for the last commits that added an operator, a kernel or a target.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys

# figure: (bound, goal). A bound may only fall. Where it is above the goal, the code is not there yet.
BOUNDS = {
    "includes that point up": (0, 0),
    "circles of folders": (0, 0),
    "files touched outside its folder by a new operator, kernel or target": (43, 4),
    "files that name prelu outside its folders": (3, 3),
    "files that name an operator outside its folders, all operators": (305, None),
    "lines that test for an operator's type outside ops/": (60, 60),
    "lines that read a call's argument by its position": (0, 0),
    "bytes of the longest product file": (25600, 25600),
    "columns of the longest line of C++": (100, 100),
    "lines of the longest function": (60, 60),
    "limits of the NPU typed in two files": (0, 0),
    "lists of names typed in two files": (7, None),
    "lines of code repeated in another place": (0, 0),
    "lines of prose over 120 characters": (0, 0),
}

NPU_FILES = re.compile(r"^(npu/|compile/place/npu|ops/npu|ops/\w+/npu|targets/.*neutron)")
GENERATED = re.compile(r"_generated\.h$|^build/|^frontends/pt2/(schema/torch_schemas|examples/torch_examples)\.inc$")  # by commands


# ---------------------------------------------------------------------------------------------------------------------- reading

class Tree:
    """The files of a checkout: those that git knows, else every file."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True)
        if listed.returncode == 0 and listed.stdout:
            names = sorted(set(listed.stdout.split("\n")) - {""})
        else:
            names = sorted(str(p.relative_to(root)) for p in self.root.rglob("*") if p.is_file())
        self.names = [n for n in names if (self.root / n).is_file() and not GENERATED.search(n)]
        self.texts = {}
        self.codes = {}

    def text(self, name):
        if name not in self.texts:
            self.texts[name] = (self.root / name).read_text(encoding="utf-8", errors="replace")
        return self.texts[name]

    def code(self, name):
        """The text with comments, characters and the inside of strings blanked: the same lines and columns."""
        if name not in self.codes:
            self.codes[name] = blank(self.text(name))
        return self.codes[name]

    def product(self):
        return [n for n in self.names if is_product(n)]


def is_product(name):
    if not name.endswith((".cpp", ".h", ".inc")) or name.startswith(("tests/", "bench/")):
        return False
    stem = name.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return not (stem.endswith(("_test", "_fuzz")) or stem.startswith("test_") or stem in ("random_graph", "hand_made_graph"))


TOKEN = re.compile(r'''//[^\n]*|/\*.*?\*/|R"(?P<d>[^()\\\s]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+\'''', re.S)


def blank(text):
    def spaces(match):
        piece = match.group(0)
        inside = re.sub(r"[^\n]", " ", piece)
        return inside if piece[0] == "/" else '"' + inside[1:-1] + '"'
    return TOKEN.sub(spaces, text)


# ------------------------------------------------------------------------------------------------------------ folders and includes

def levels(tree):
    """Folder: its line in the block of docs/design.md, 0 at the top."""
    block = re.search(r"^```folders\n(.*?)^```", tree.text("docs/design.md"), re.S | re.M) if "docs/design.md" in tree.names else None
    if not block:
        sys.exit("docs/design.md has no block ```folders: one line of folders for each level, the highest first")
    lines = [line.split("#")[0].split() for line in block.group(1).splitlines()]
    return {folder: level for level, line in enumerate(l for l in lines if l) for folder in line}


def folder_of(name, level):
    """The longest listed folder that holds the file, or the file where that is listed; a folder that is not listed stands for itself."""
    if name in level:
        return name
    parts = name.split("/")[:-1]
    for end in range(len(parts), 0, -1):
        if "/".join(parts[:end]) in level:
            return "/".join(parts[:end])
    return parts[0] if parts else ""


def arrows(tree, level):
    """(folder, folder): the includes, as "file includes file"."""
    found = collections.defaultdict(list)
    for name in tree.product():
        for included in re.findall(r'^\s*#\s*include "([^"]+/[^"]+)"', tree.text(name), re.M):
            a, b = folder_of(name, level), folder_of(included, level)
            if a != b:
                found[a, b].append(f"{name} includes {included}")
    return found


def includes_that_point_up(tree):
    level = levels(tree)
    wrong = []
    for (a, b), uses in sorted(arrows(tree, level).items()):
        for folder in (a, b):
            if folder not in level:
                wrong.append(f"{folder}/ is on no line of the block in docs/design.md: {uses[0]}")
        if a in level and b in level and level[a] >= level[b]:
            wrong += uses
    return len(wrong), wrong


def circles_of_folders(tree):
    level = levels(tree)
    next_of = collections.defaultdict(set)
    for a, b in arrows(tree, level):
        next_of[a].add(b)

    def reach(start):
        seen, todo = set(), [start]
        while todo:
            for b in next_of[todo.pop()] - seen:
                seen.add(b)
                todo.append(b)
        return seen

    reached = {a: reach(a) for a in list(next_of)}
    circles = {frozenset(b for b in reached[a] if a in reached.get(b, ())) for a in reached if a in reached[a]}
    return len(circles), [" -> ".join(sorted(c)) for c in sorted(circles, key=sorted)]


# ------------------------------------------------------------------------------------------------------------------- history

def git(tree, *arguments):
    done = subprocess.run(["git", "-C", str(tree.root), *arguments], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def new_units(tree, commit, added):
    """The operators, kernels and targets that a commit brought, as the folders or files of their own. Moved files are not new."""
    units = []
    for name in added:
        operator = re.fullmatch(r"ops/(\w+)/\1\.h", name)
        kernel = re.fullmatch(r"npu/neutron/kernels/(\w+)/\w+\.h", name)
        if operator and operator.group(1) in operators(tree):
            units.append(f"ops/{operator.group(1)}/")
        elif kernel and re.search(rf"^\+.*\b{kernel.group(1)}\b", git(tree, "show", "--format=", commit, "--", "npu/neutron/machine/kinds.inc") or "", re.M):
            units.append(f"npu/neutron/kernels/{kernel.group(1)}/")
        elif re.fullmatch(r"targets/[\w.+-]+\.toml", name):
            units.append(name)
    return sorted(set(units))


def last_additions(tree):
    """The newest five commits that brought one to three operators, kernels or targets: (commit, subject, units, product files elsewhere)."""
    log = git(tree, "log", "-M", "--no-merges", "--diff-filter=A", "--name-only", "--format=%x01%h %s", "--", "ops/*/*.h",
              "npu/neutron/kernels/*/*.h", "targets/*.toml")
    found = []
    for entry in (log or "").split("\x01")[1:]:
        head, *added = [line for line in entry.split("\n") if line]
        commit, subject = head.split(" ", 1)
        units = new_units(tree, commit, added)
        if not 1 <= len(units) <= 3:  # more are a reorganisation
            continue
        touched = (git(tree, "show", "-M", "--format=", "--name-only", commit) or "").split()
        elsewhere = [n for n in touched if is_product(n) and not GENERATED.search(n) and not any(n.startswith(u) for u in units)]
        found.append((commit, subject, units, elsewhere))
        if len(found) == 5:
            break
    return found


def files_touched_by_a_new_unit(tree):
    shallow = git(tree, "rev-parse", "--is-shallow-repository")
    if shallow is None:
        return None, ["not counted: this is no git repository"]
    found = last_additions(tree)
    if shallow.strip() == "true" and len(found) < 5:
        return None, [f"not counted: the clone is shallow, and only {len(found)} of 5 such commits are in it"]
    lines = [f"{len(elsewhere):3} {commit} {subject} ({' '.join(units)}): {' '.join(elsewhere)}" for commit, subject, units, elsewhere in found]
    return max((len(f[3]) for f in found), default=0), lines


# --------------------------------------------------------------------------------------------------------------------- operators

def operators(tree):
    """Folder: type, from the list of operators."""
    folders = re.findall(r'#include "ops/(\w+)/\1\.h"', tree.text("ops/all.h"))
    return {f: "".join(part[0].upper() + part[1:] for part in f.split("_")) for f in folders}


# An operator has a row in each front end, which is what a front end is: those are not counted. Nor is the list of the nodes that another's format has.
FRONT_END_ROWS = re.compile(r"^frontends/\w+/operators/|^explain/inspect/foreign_parts\.cpp$")


def named_outside(tree, folder, pattern):
    own = (f"ops/{folder}/", f"kernels/{folder}/", f"npu/neutron/kernels/{folder}/")
    return [n for n in tree.product() if not n.startswith(own) and not FRONT_END_ROWS.search(n) and re.search(pattern, tree.code(n))]


def files_that_name_prelu(tree):
    # By the whole text: a comment that names an operator is knowledge of it too.
    names = [n for n in tree.product() if not n.startswith(("ops/prelu/", "kernels/prelu/", "npu/neutron/kernels/prelu/")) and not FRONT_END_ROWS.search(n) and "prelu" in tree.text(n).lower()]
    return len(names), names


def files_that_name_an_operator(tree):
    total, lines = 0, []
    for folder, name in operators(tree).items():
        files = [n for n in named_outside(tree, folder, rf"\b{name}\b") if n not in ("ops/all.h", "ops/operators.inc")]  # the list
        total += len(files)
        lines.append(f"{len(files):3} {name}: {' '.join(files)}")
    return total, sorted(lines, reverse=True)


def tests_for_a_type(tree):
    # Operators of the graph and of the Neutron IR: no other variants are asked for a type. An operator's own folder may.
    # A type that is told by the names of its members is one, too.
    any_type = "|".join(operators(tree).values())
    test = re.compile(rf"\b(holds_alternative|get_if|op_as|producer_as)<(const )?(\w+::)*[A-Z]\w+>"
                      rf"|\b(is\w*|holds\w*|as|any\w*)<[^<>;]*\b({any_type})\b|\bconstexpr \(requires\b")
    lines = []
    for name in tree.product():
        if not name.startswith(("ops/", "npu/neutron/kernels/")):
            lines += [f"{name}:{number}: {line.strip()}" for number, line in enumerate(tree.code(name).splitlines(), 1) if test.search(line)]
    return len(lines), lines


# What runs on a device gets its arguments in order.
DEVICE_CODE = re.compile(r"^(runtime|kernels|write/firmware/c_call|npu/neutron/(delegate|machine))/")


def positional_reads(tree):
    # args[i] is a walk through all of them.
    test = re.compile(r"\bargs(\[(?![a-z]\])[^\"]|\.(back|front|at)\()")
    lines = []
    for name in tree.product():
        if not DEVICE_CODE.search(name):
            lines += [f"{name}:{number}: {line.strip()}"
                      for number, line in enumerate(tree.code(name).splitlines(), 1) if test.search(line)]
    return len(lines), lines


# -------------------------------------------------------------------------------------------------------------- files and functions

def longest_file(tree):
    sizes = sorted(((len(tree.text(n).encode()), n) for n in tree.product()), reverse=True)
    return sizes[0][0], [f"{size:5} {name}" for size, name in sizes[:10]]


def longest_line(tree):
    lines = [(len(line), f"{name}:{number}") for name in tree.names if name.endswith((".cpp", ".h", ".inc", ".S", ".c"))
             for number, line in enumerate(tree.text(name).splitlines(), 1)]
    lines.sort(reverse=True)
    return lines[0][0], [f"{size:4} {where}" for size, where in lines[:10]]


MACROS = re.compile(r"(\s*[A-Z][A-Z0-9_]+\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)[ \t]*\n)*")  # without a semicolon
NO_BODY = re.compile(r"^\s*(namespace|extern|class|struct|union|enum|using)\b")


def functions(code):
    """(first line, last line, name) of every function with a body, out of text that blank() has been over."""
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), code, flags=re.M)
    found, scopes, head_start, depth, body = [], [], 0, 0, None
    for at, c in enumerate(code):
        if body is not None:  # inside a function: only its end counts
            depth += (c == "{") - (c == "}")
            if depth == 0:
                start, head = body
                after = code[at + 1:at + 200].lstrip()
                if re.search(r"\)\s*:(?!:)[^;]*$", head) and after[:1] in tuple(",{)"):
                    head_start = start  # a member's value in braces: the body is still to come
                else:
                    name = re.search(r"(\boperator\s*[^\w\s]+|[~\w:]+)\s*\(", head)
                    found.append((code.count("\n", 0, start) + 1, code.count("\n", 0, at) + 1, name.group(1) if name else "?"))
                    head_start = at + 1
                body = None
        elif c == "{":
            head = code[head_start:at]
            head = head[MACROS.match(head).end():]
            start = at - len(head.lstrip())
            data = scopes[-1:] == ["data"] or re.search(r"(^|[=(,?:]|\breturn)\s*$", head)
            bare = re.sub(r"^\s*template\s*<[^{;]*?>\s*(?=\w)", "", re.sub(r"\[\[.*?\]\]|\b(public|private|protected):", "", head))
            returns_record = re.match(r"\s*(struct|enum|class|extern)\b[^={]*\)\s*(const|noexcept|override|\s)*$", bare)
            if not data and "(" in head and (returns_record or not NO_BODY.match(bare)):
                body, depth = (start, bare), 1
            else:
                scopes.append("data" if data else "names")
                head_start = at + 1
        elif c == "}":
            if scopes:
                scopes.pop()
            head_start = at + 1
        elif c == ";":
            head_start = at + 1
    return found


def longest_function(tree):
    sizes = []
    for name in tree.product():
        if name.endswith(".inc") and re.search(r"^\.macro\b", tree.text(name), re.M):
            continue  # assembly
        sizes += [(last - first + 1, f"{name}:{first} {function}") for first, last, function in functions(tree.code(name))]
    sizes.sort(reverse=True)
    return sizes[0][0] if sizes else 0, [f"{size:4} {where}" for size, where in sizes[:20]]


# --------------------------------------------------------------------------------------------------------------------- duplicates

# Powers of two up to 2048, widths and full ranges of integers say nothing by themselves.
PLAIN_NUMBERS = {1 << k for k in range(12)} | {(1 << k) - 1 for k in (7, 8, 31, 32, 63, 64)} | {1 << k for k in (30, 31, 32)} | {1000, 1000000}


def npu_limits_typed_twice(tree):
    where = collections.defaultdict(set)
    for name in tree.names:
        if not NPU_FILES.match(name) or not (is_product(name) or name.endswith(".toml")):
            continue
        code = re.sub(r"#.*", "", tree.text(name)) if name.endswith(".toml") else tree.code(name)
        for number in re.findall(r"(?<![\w.])(\d[\d']*)(?:u|l|U|L)*(?![\w.])", code):
            value = int(number.replace("'", ""))
            if value >= 100 and value not in PLAIN_NUMBERS:
                where[value].add(name)
    twice = {v: names for v, names in where.items() if len(names) > 1}
    return len(twice), [f"{value}: {' '.join(sorted(names))}" for value, names in sorted(twice.items())]


LIST_RUN = 4  # names in a row that make a list


def lists_typed_twice(tree):
    """Runs of four string literals that follow one another with nothing but punctuation and short words between, in two files. What an
    asm statement says of its operands and registers is no name."""
    where = collections.defaultdict(set)
    for name in tree.product():
        strings = [(m.start(), m.end(), m.group(0)) for m in TOKEN.finditer(tree.text(name)) if m.group(0)[0] == '"']
        code = tree.code(name)
        run = []
        for (start, end, string), before in zip(strings, [None] + strings):
            near = before and not re.search(r"[;#]", code[before[1]:start]) and start - before[1] < 80
            run = (run if near else []) + ([string] if re.fullmatch(r'"(?![+=]&?\w"|q\d"|lr"|memory")[\w.:+-]{2,}"', string) else [])
            if len(run) >= LIST_RUN:
                where[tuple(run[-LIST_RUN:])].add(name)
    pairs = collections.defaultdict(set)
    for run, names in where.items():
        if len(names) > 1:
            pairs[tuple(sorted(names))].add(run)
    return len(pairs), [f"{' '.join(names)}: {' '.join(sorted(runs)[0])} and {len(runs) - 1} more" for names, runs in sorted(pairs.items())]


REPEAT = 8  # lines in a row that make a repetition


def repeated_lines(tree):
    """Lines of code that stand, eight or more in a row and to the letter, in two places. Includes, braces and blank lines do not count;
    nor do the members of a definition (`.name = value,`), which every operator gives in full on purpose."""
    where = collections.defaultdict(list)
    for name in tree.product():
        lines = []
        for number, (code, text) in enumerate(zip(tree.code(name).splitlines(), tree.text(name).splitlines()), 1):
            if re.search(r"\w", code) and not re.match(r"\s*(#|namespace\b|using\b|\.\w+ = )", code):
                # The strings count, comments do not.
                lines.append((number, "".join(text[:len(code.rstrip())].split())))
        for k in range(len(lines) - REPEAT + 1):
            where["\n".join(line for _, line in lines[k:k + REPEAT])].append((name, [number for number, _ in lines[k:k + REPEAT]]))
    repeated, lines = set(), set()
    for places in where.values():
        if len(places) > 1:
            first = places[0]
            for name, numbers in places[1:]:
                repeated |= {(name, number) for number in numbers}
                lines.add((name, first[0]))
    counts = collections.Counter(name for name, _ in repeated)
    return len(repeated), [f"{count:4} {name}, as in {', '.join(sorted(b for a, b in lines if a == name))}" for name, count in counts.most_common()]


# -------------------------------------------------------------------------------------------------------------------------- prose

def long_prose(tree):
    wrong = []
    for name in tree.names:
        if name.endswith(".md") and not name.startswith(("build/", "explain/page/node_modules/")):
            fenced = False
            for number, line in enumerate(tree.text(name).splitlines(), 1):
                fenced ^= line.lstrip().startswith("```")
                words = re.sub(r"\]\([^)]*\)|https?://\S+", "", line)  # the address of a link cannot be wrapped
                if not fenced and not line.lstrip().startswith("|") and len(words) > 120:
                    wrong.append(f"{name}:{number}")
    counts = collections.Counter(w.split(":")[0] for w in wrong)
    return len(wrong), [f"{count:4} {name}" for name, count in counts.most_common()]


FIGURES = dict(zip(BOUNDS, [includes_that_point_up, circles_of_folders, files_touched_by_a_new_unit, files_that_name_prelu,
                            files_that_name_an_operator, tests_for_a_type, positional_reads, longest_file, longest_line,
                            longest_function, npu_limits_typed_twice, lists_typed_twice, repeated_lines, long_prose]))


# --------------------------------------------------------------------------------------------------------------------------- running

def report(tree, bounds, details, names=None):
    """Prints the table; the names of the figures that are over their bounds."""
    over, values = [], {}
    print(f"{'today':>7} {'bound':>7} {'goal':>7}")
    for name in names or bounds:
        bound, goal = bounds[name]
        value, lines = FIGURES[name](tree)
        values[name] = value
        shown = "-" if value is None else str(value)
        print(f"{shown:>7} {bound:>7} {'' if goal is None else goal:>7}  {name}")
        if value is not None and value > bound:
            over.append(name)
        if details or value is None or name in over:
            for line in lines if details else lines[:20]:
                print(f"{'':25}{line}")
    for name in over:
        print(f"OVER: {name}: {values[name]}, bound {bounds[name][0]}")
    lower = [n for n in values if values[n] is not None and values[n] < bounds[n][0]]
    if lower:
        print(f"{len(lower)} bounds can be lowered: dev_tools/house.py --tighten")
    return over, values


def tighten(values):
    path = pathlib.Path(__file__)
    text = path.read_text()
    for name, value in values.items():
        if value is not None and value < BOUNDS[name][0]:
            goal = BOUNDS[name][1]
            bound = value if goal is None else max(value, goal)
            text = text.replace(f'    "{name}": ({BOUNDS[name][0]}, {goal}),', f'    "{name}": ({bound}, {goal}),')
    path.write_text(text)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--details", "--tighten"):
        arguments.add_argument(option, action="store_true")
    arguments.add_argument("--root", default=str(pathlib.Path(__file__).resolve().parent.parent), help="the checkout to measure")
    given = arguments.parse_args()
    over, values = report(Tree(given.root), BOUNDS, given.details)
    if given.tighten:
        tighten(values)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
