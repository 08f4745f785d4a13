"""Prints what failed and what was left out in ctest logs, and closes with one line that counts all tests."""
import re
import sys

passed = failed = skipped = 0
for name in sys.argv[1:]:
    text = open(name, encoding="utf-8", errors="replace").read()
    results = re.findall(r"^\s*\d+/\d+ Test\s+#\d+: (\S+) .*?(Passed|\*\*\*Skipped|\*\*\*\S.*?)\s+[\d.]+ sec", text, re.M)
    if not results:
        print(f"{name}: no test ran\n{text[-3000:]}")
        failed += 1
    for test, result in results:
        if result == "Passed":
            passed += 1
        elif result == "***Skipped":
            skipped += 1
        else:
            failed += 1
            print(f"FAILED {test}")
    for line in sorted(set(re.findall(r"^left out: .*$", text, re.M))):
        print(line)
    if any(result not in ("Passed", "***Skipped") for _, result in results):
        print(text[-20000:])
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(1 if failed else 0)
