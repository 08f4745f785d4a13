# SPDX-License-Identifier: Apache-2.0
"""Prints what failed and what was left out in runs of ctest, and closes with one line that counts all tests.

    summarize_ctest.py LOG FOLDER [LOG FOLDER...]

LOG is what ctest printed, FOLDER what it tested. There it keeps what each test printed: a suite of gtest counts as the tests that it ran."""
import pathlib
import re
import sys


def suites(folder):
    """{number of the entry: (tests that passed, that were skipped, names of those that failed)}, of those that are suites of gtest."""
    path = pathlib.Path(folder, "Testing", "Temporary", "LastTest.log")
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    found = {}
    parts = re.split(r"^(\d+)/\d+ Testing: ", text, flags=re.M)
    for number, block in zip(parts[1::2], parts[2::2]):
        if "\n[==========] Running " in block:
            ends = {what: re.findall(rf"\[ *{what} *\] (\S+\.\S+?),? .*\(\d+ ms\)$", block, re.M) for what in ("OK", "SKIPPED", "FAILED")}
            begun = re.findall(r"\[ RUN      \] (\S+)$", block, re.M)  # a test that ends the process has no end
            found[number] = len(ends["OK"]), len(ends["SKIPPED"]), [t for t in begun if t not in ends["OK"] + ends["SKIPPED"]]
    return found


def main():
    passed = failed = skipped = 0
    for name, folder in zip(sys.argv[1::2], sys.argv[2::2]):
        text = pathlib.Path(name).read_text(encoding="utf-8", errors="replace")
        results = re.findall(r"^\s*\d+/\d+ Test\s+#(\d+): (\S+) .*?(Passed|\*\*\*Skipped|\*\*\*\S.*?)\s+[\d.]+ sec", text, re.M)
        if not results:
            print(f"{name}: no test ran\n{text[-3000:]}")
            failed += 1
        tests = suites(folder)
        for number, test, result in results:
            ran, left_out, wrong = tests.get(number, (0, 0, []))
            passed += ran + (result == "Passed" and not (ran or left_out))
            skipped += left_out + (result == "***Skipped")
            if result not in ("Passed", "***Skipped"):
                wrong = wrong or [test]
                failed += len(wrong)
                for one in wrong:
                    print(f"FAILED {one}")
        for line in sorted(set(re.findall(r"^left out: .*$", text, re.M))):
            print(line)
        if any(result not in ("Passed", "***Skipped") for *_, result in results):
            print(text[-20000:])
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


sys.exit(main())
