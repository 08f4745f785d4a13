#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Golden tests: a file in tests/golden is a command, its input, and exactly what it prints.

  python3 tests/golden.py [--deuteron build/deuteron] [--write] [NAME ...]      NAME: files whose names contain it

    # RUN: deuteron analyze %s --target cortex-m55 --stop-after=fuse    %s: this file; several lines are run one after another
    # EXIT: 1                                                           the exit code of the last one, if it is not 0
    <a graph in the text form: ir/text_form.md>
    --- file board.toml                                                 other files: as they stand,
    --- npy x.npy                                                       an array (f32[2,3] 1,2,3,4,5,6),
    --- npz all.npz                                                     or several (a line `name = f32[2,3] 0.5` for each),
    --- pt2 net.pt2                                                     a model of torch.export (tests/pt2_text.py),
    --- tflite net.tflite                                               a model of TFLite (tests/tflite_made.py),
    --- onnx net.onnx                                                   a model of ONNX (tests/onnx_made.py),
    --- etdump t.etdp                                                   a trace (tests/etdump_made.py),
    --- zip r.etrecord                                                  an archive (a line `name = text` for each entry; `fault name size`),
    --- hex damaged.pte                                                 or bytes
    --- expect
    <standard output and errors>

--write writes what is printed into the files instead; look at the difference before you commit it.

Every rewrite rule and every rule of a diagnostic has a file here, or, where the command line cannot reach it, a line `RULE  TEST` in
tests/golden/not_reached.txt: that test names the rule in a string. A line whose rule has a file here or is none any more is a failure too: that
list can only become shorter.
"""
import argparse
import concurrent.futures
import difflib
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import etdump_made  # noqa: E402
import onnx_made  # noqa: E402
import pt2_text  # noqa: E402
import tflite_made  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "golden"
NOT_REACHED = FOLDER / "not_reached.txt"
MOST_NOT_REACHED = 29  # may only fall
MARK = "--- expect\n"
TIMEOUT_SECONDS = 300  # of sanitized commands on a busy machine

# ------------------------------------------------------------------------------------------------------------------- one file


def npy(text):
    """f32[2,3] 1,2,3,4,5,6 as a .npy file; a single number stands for all elements."""
    dtype, shape, data = re.fullmatch(r"(\w+)\[([\d,]*)\]\s*(.*)", text.strip(), re.S).groups()
    letter, descr = {"f32": ("f", "<f4"), "f64": ("d", "<f8"), "s8": ("b", "|i1"), "u8": ("B", "|u1"), "s32": ("i", "<i4"), "s64": ("q", "<i8"),
                     "f16": ("e", "<f2"), "b8": ("?", "|b1")}[dtype]
    extents = [int(n) for n in shape.split(",") if n]
    count = 1
    for n in extents:
        count *= n
    numbers = [(float if letter in "fde" else int)(n) for n in data.replace("\n", "").split(",") if n.strip()]
    if len(numbers) == 1:
        numbers *= count
    sizes = "(" + "".join(f"{n}, " for n in extents) + ")"
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {sizes}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(numbers)}{letter}", *numbers)


def npz(text):
    """NAME = f32[2,3] 1,2,3,4,5,6 on each line, or `fault NAME.npy checksum`."""
    return archive(text, lambda name, array: (f"{name}.npy", npy(array)))


def archive(text, entry=lambda name, content: (name, content.encode())):
    """An entry on each line, and `fault NAME checksum` (or another of the faults of pt2_text.py)."""
    lines = [line for line in text.split("\n") if line.strip()]
    faults = dict(line.split()[1:] for line in lines if line.startswith("fault "))
    entries = [line.partition(" =") for line in lines if not line.startswith("fault ")]
    return pt2_text.stored_zip(dict(entry(name, content.strip()) for name, _, content in entries), faults)


MAKERS = {
    "file": lambda text: text.encode(),
    "npy": npy,
    "npz": npz,
    "pt2": pt2_text.archive,
    "tflite": tflite_made.model,
    "onnx": onnx_made.model,
    "etdump": etdump_made.trace,
    "zip": archive,
    "hex": lambda text: bytes.fromhex(re.sub(r"#.*", "", text)),
}


class Golden:
    def __init__(self, path):
        self.path = path
        self.text = path.read_text(encoding="utf-8")
        self.given, found, self.expected = self.text.partition(MARK)
        self.commands = re.findall(r"^# RUN: (.*)$", self.given, re.M)
        exits = re.findall(r"^# EXIT: (\d+)$", self.given, re.M)
        self.exit = int(exits[0]) if exits else 0
        self.left_out = False  # this build has no board runners
        self.fault = None if found and self.commands else "has no line `# RUN: deuteron ...` or no line `--- expect`"

    def files(self):
        """(name, bytes) of the file itself and of its sections."""
        parts = re.split(r"^--- (\w+) (\S+)\n", self.given, flags=re.M)
        yield self.path.name, parts[0].encode()
        for kind, name, text in zip(parts[1::3], parts[2::3], parts[3::3]):
            yield name, MAKERS[kind](text)

    def run(self, tool):
        """What the commands print, and the exit code of the last one."""
        with tempfile.TemporaryDirectory() as folder:
            for name, data in self.files():
                pathlib.Path(folder, name).write_bytes(data)
            script = f"deuteron() {{ '{tool}' \"$@\"; }}\n" + "\n".join(c.replace("%s", self.path.name).replace("%root", str(ROOT)) for c in self.commands)
            done = subprocess.run(["sh", "-c", script], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=TIMEOUT_SECONDS)
        return done.stdout.decode("utf-8", "replace").replace(str(ROOT), "%root"), done.returncode

    def check(self, tool, write):
        """None, or why it fails."""
        if self.fault:
            return self.fault
        try:
            printed, code = self.run(tool)
            # UBSan looks behind a pointer to an object through a pipe: where no file is left it takes one in a hundred for bad.
            for _ in range(3):
                if "ulimit -n" not in self.given or " vptr" not in printed:
                    break
                printed, code = self.run(tool)
        except subprocess.TimeoutExpired:
            return f"not done after {TIMEOUT_SECONDS} s"
        if "[board.not_built]" in printed:
            self.left_out = True
            return None
        if code != self.exit:
            return f"exit code {code}, expected {self.exit}:\n{printed}"
        if printed == self.expected:
            return None
        if write:
            self.path.write_text(self.given + MARK + printed, encoding="utf-8")
            return None
        return "".join(difflib.unified_diff(self.expected.splitlines(True), printed.splitlines(True), "expected", "printed"))


# -------------------------------------------------------------------------------------------------------------- what has a file


def product_texts():
    for folder in ("base", "boards", "cli", "compile", "explain", "frontends", "ir", "kernels", "npu", "ops", "runtime", "targets", "write"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".cpp", ".h", ".inc") and not re.search(r"(_test|_fuzz)\.|/test_|random_graph", str(path)):
                yield re.sub(r"(^|\s)// .*$", r"\1", path.read_text(encoding="utf-8"), flags=re.M)  # what a comment names is no rule


# A function that looks at one node and answers with a patch is a rewrite rule.
RULE = re.compile(r"^(?:static )?std::optional<Patch>\s+(\w+)\(\s*(?:const )?\w+&[^;{]*?\bNodeId \w+(?:,\s+(?:PassContext|const RuleContext)&(?: \w+)?)?\) \{", re.M)
# What an operator becomes by itself (ops/form.h) is one too.
FORM = re.compile(r"^static bool (\w+)\(\s*const \w+&(?: \w+)?,\s+FormBuilder& b\) \{", re.M)
# The rule of a diagnostic, as it is printed: [conv2d.rank].
DIAGNOSTIC = re.compile(r'"((?:[a-z][a-z0-9_]*\.)+[a-z][a-z0-9_]*)"')
# What has the form of one and is none: names of operators and of files, keys, and names in made-up models.
NO_DIAGNOSTIC = re.compile(r"^(aten|ai|com|higher_order|quantized_decomposed|dim_order_ops|torch|stem|backbone|nets?|random|c0|x|m|a)\.|^deuteron\.operator\.|^(cortex_m|int16)\.(minimum|maximum)$|"
                           r"\.(pt2|pt|pte|npy|npz|h|cpp|c|tflite|onnx|bin|txt|json|html|cmake|ld|py|page|weight|toml|elf|sel|properties|conf|yml)$")


def rewrite_rules(texts):
    generic = {"form_of", "simpler_form", "last_form", "kernel_form_on"}  # they put a form into a graph
    return {name for text in texts for name in RULE.findall(text) + FORM.findall(text)} - generic


def diagnostic_rules(texts, tool):
    rules = {rule for text in texts for rule in DIAGNOSTIC.findall(text) if not NO_DIAGNOSTIC.search(rule)}
    # Those of the NPU are made of an operator and a limit; the table of operators names them all.
    table = subprocess.run([tool, "ops", "--target", "imxrt700", "--csv"], capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
    return rules | set(re.findall(r"\b(neutron\.\w+(?:\.\w+)*)\b", table.stdout))


def other_tests():
    """{rule: path of the test that shows it}, of the rules that the command line cannot reach, and what is wrong with that list."""
    tests, failures = {}, []
    for line in NOT_REACHED.read_text(encoding="utf-8").split("\n"):
        if not line.strip() or line.startswith("#"):
            continue
        rule, _, test = (part.strip() for part in line.partition(" "))
        if rule in tests:
            failures.append(f"{rule}: twice in tests/golden/not_reached.txt")
        tests[rule] = test
        path = ROOT / test
        if not test or not re.search(r"(_test\.cpp|/test\w*\.py|^tests/.*\.(cpp|py))$", test) or not path.is_file():
            failures.append(f"{rule}: tests/golden/not_reached.txt names no test for it: `{test}`")
        elif not re.search(r"""["'][^"'\n]*(?<![\w.])""" + re.escape(rule) + r"""(?![\w.])[^"'\n]*["']""", path.read_text(encoding="utf-8")):
            failures.append(f"{rule}: {test} does not have it in a string")
    return tests, failures


def coverage(goldens, tool):
    """Failures, and a line of counts."""
    texts = list(product_texts())
    rules, diagnostics = rewrite_rules(texts), diagnostic_rules(texts, tool)
    printed = set()
    for golden in goldens:
        found = re.findall(r"\[((?:[a-z][a-z0-9_]*\.)+[a-z][a-z0-9_]*)\]", golden.expected)
        # What the inference of shapes refuses has the reader's name before it.
        printed |= set(found) | {rule.removeprefix("pt2.").removeprefix("tflite.").removeprefix("onnx.").removeprefix("text.") for rule in found}
    named = {golden.path.stem for golden in goldens}
    reached = (rules & named) | (diagnostics & printed)
    listed, failures = other_tests()
    failures += [f"{rule}: a rewrite rule without tests/golden/{rule}.txt" for rule in sorted(rules - named - set(listed))]
    failures += [f"{rule}: no golden file prints this rule" for rule in sorted(diagnostics - printed - set(listed))]
    failures += [f"{rule}: has a golden file now: take it from tests/golden/not_reached.txt" for rule in sorted(reached & set(listed))]
    failures += [f"{rule}: no such rule: take it from tests/golden/not_reached.txt" for rule in sorted(set(listed) - rules - diagnostics)]
    if len(listed) > MOST_NOT_REACHED:
        failures.append(f"{len(listed)} rules in tests/golden/not_reached.txt, at most {MOST_NOT_REACHED}")
    return failures, (f"{len(rules & named)} of {len(rules)} rewrite rules and {len(diagnostics & printed)} of {len(diagnostics)} rules of "
                      f"diagnostics have a golden file, {len(listed)} are shown by other tests")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--deuteron", default=str(ROOT / "build" / "deuteron"))
    arguments.add_argument("--write", action="store_true", help="write what is printed into the files")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments.add_argument("names", nargs="*", help="only files whose names contain one of these")
    given = arguments.parse_args()
    tool = str(pathlib.Path(given.deuteron).resolve())
    paths = [p for p in sorted(FOLDER.glob("*.txt")) if p != NOT_REACHED and (not given.names or any(n in p.stem for n in given.names))]
    goldens = [Golden(p) for p in paths]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for golden, why in zip(goldens, pool.map(lambda g: g.check(tool, given.write), goldens)):
            if why:
                failed += 1
                print(f"FAILED tests/golden/{golden.path.name}\n{why}")
    if not given.names:
        failures, counts = coverage([Golden(p) for p in paths] if given.write else goldens, tool)
        for line in failures:
            print("FAILED", line)
        failed += len(failures)
        print(counts)
    if left_out := sum(golden.left_out for golden in goldens):
        print(f"left out: {left_out} golden files, because this build has no board runners")
    print(f"{len(goldens)} golden files, {failed} failures")
    return 1 if failed or not goldens else 0


if __name__ == "__main__":
    sys.exit(main())
