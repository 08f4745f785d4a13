# SPDX-License-Identifier: Apache-2.0
"""Small pages with one fault in each: tests/documents.py finds it, and passes the page without it.

    documents_test.py
"""
import pathlib
import tempfile

import documents

# what the page is called, its text, what the fault says (None: no fault)
CASES = [
    ("a true output", "```console\n$ echo one\none\n```\n", None),
    ("a wrong output", "```console\n$ echo one\ntwo\n```\n", "the page says\ntwo"),
    ("an output that is missing", "```console\n$ echo one\n```\n", "printed\none"),
    ("anything", "```console\n$ echo a; echo b; echo c\na\n...\nc\n```\n", None),
    ("anything, but not this", "```console\n$ echo a; echo b\n...\nc\n```\n", "the page says"),
    ("a count within 1 %", "```console\n$ echo 40684 of 1 000 000\n40680 of 995 000\n```\n", None),
    ("a count that is off", "```console\n$ echo 40684 of 1 000 000\n40680 of 989 000\n```\n", "the page says"),
    ("a small count", "```console\n$ echo 999 bytes\n998 bytes\n```\n", "the page says"),
    ("a count in a name", "```console\n$ echo mps2-an1386 1.2345\nmps2-an1385 1.2344\n```\n", "the page says"),
    ("a command that fails", "```console\n$ false\n```\n", "exit 1, not 0"),
    ("a command that should fail", "```console\n$ true  # exit 1\n```\n", "exit 0, not 1"),
    ("a command that fails, as told", "```console\n$ false  # exit 1\n```\n", None),
    ("a command over two lines", "```console\n$ echo \\\n  one\none\n```\n", None),
    ("a check that lacks what it needs", "```console\n$ exit 77\n1 passed\n```\n", None),
    ("a failing sh block", "```sh\nfalse\n```\n", "exit 1"),
    ("commands that no test runs", "```\ndeuteron compile m.pt2\n```\n", "no test runs"),
    ("commands that are marked", "<!-- not run: a model of yours -->\n```\ndeuteron compile m.pt2\n```\n", None),
    ("a mark for another block", "<!-- not run: this one -->\n```\ndeuteron a\n```\ntext\n```\ndeuteron b\n```\n", "deuteron b"),
    ("a file", '```toml title="a/b.toml"\nx = 1\n```\n```console\n$ cat a/b.toml\nx = 1\n```\n', None),
    ("Python", "```python\nx = 2\n```\n```python\nprint(x + 1)\n```\n```output\n3\n```\n", None),
    ("Python that prints something else", "```python\nprint(1)\n```\n```output\n2\n```\n", "the page says\n2"),
    ("Python that raises", "```python\n1 / 0\n```\n", "ZeroDivisionError"),
    ("an output of nothing", "```output\n2\n```\n", "without a ```python block"),
    ("a figure that is shown", "```console\n$ echo RAM 2176\nRAM 2176\n```\nIt takes 2 176 bytes, or 2.18 KB.\n", None),
    ("a figure that is not", "```console\n$ echo RAM 2176\nRAM 2176\n```\nIt takes\n6 512 bytes.\n", "page.md:6: 6 512 bytes"),
    ("a figure that rounds otherwise", "```\n1 841 000\n```\n1.83 M instructions\n", "1.83 M"),
    ("a figure with its source", "<!-- figures: a data sheet -->\nIt has 64 KB.\n\nAnd 1.5 MB.\n", None),
    ("a source ends with its section", "<!-- figures: a data sheet -->\nIt has 64 KB.\n\n## Next\n\n1.5 MB.\n", "1.5 MB"),
    ("a page without the figure", "<!-- figures: SECURITY.md -->\nresnet8 takes 31.4159 MB.\n", "31.4159 MB"),
    ("figures of code and links", "`-O 500 KB` and [a](b-500-bytes.md), 16 bytes, 3 %\n", None),
]


def main():
    wrong = []
    for name, text, wanted in CASES:
        with tempfile.TemporaryDirectory() as folder:
            page = documents.Page("page.md", "/bin/true", folder, pathlib.Path(folder), write=False)
            try:
                page.run(text)
                said = None
            except documents.Fault as fault:
                said = str(fault)
        if (said is None) != (wanted is None) or (wanted and wanted not in said):
            wrong.append(f"{name}: {said!r}, not {wanted!r}")
    with tempfile.TemporaryDirectory() as folder:  # --write puts the true output in, and nothing else
        after = documents.Page("page.md", "/bin/true", folder, pathlib.Path(folder), write=True).run("a\n```console\n$ echo 40684\n40680\n```\nb\n")
    if after != "a\n```console\n$ echo 40684\n40684\n```\nb\n":
        wrong.append(f"--write: {after!r}")
    if documents.elided("a 1\n...\nc 3\n", "a 2\nb\nbb\nc 4\n") != "a 2\n...\nc 4\n":
        wrong.append("--write: lines that the page leaves out")
    for line in wrong:
        print(f"FAILED {line}")
    print(f"{len(CASES) + 1} pages")
    raise SystemExit(1 if wrong else 0)


main()
