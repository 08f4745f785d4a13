"""Counts what a test checks and names what fails."""
count = failed = 0


def check(condition, what):
    global count, failed
    count += 1
    if not condition:
        failed += 1
        print("FAILED", what)
    return condition


def verdict():
    return f"{count - failed} of {count} checks hold"
