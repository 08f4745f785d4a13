# SPDX-License-Identifier: Apache-2.0
"""Fits [cpu.cost] and [cpu.cycles] to what build/cpu_cost prints, and prints what the fit is worth. docs/cpu-cost.md

    python3 bench/cpu_cost_fit.py fit calls.csv...      the lines of [cpu.cost]
    python3 bench/cpu_cost_fit.py cycles calls.csv...   the lines of [cpu.cycles]
    python3 bench/cpu_cost_fit.py errors calls.csv...   predicted against counted instructions, by kernel and by model
    python3 bench/cpu_cost_fit.py cycle-errors calls.csv...   predicted against estimated cycles, likewise

Instructions: least squares of the error over the square root of the count, with coefficients that are not negative, for each kernel alone:
relative errors alone predict small calls well and take large ones for too cheap, absolute errors alone see nothing but the largest. A kernel
that is called once only has the line `*`, which is fitted to those and to all that move elements, or, where it touches floats, `*.f32`.
Cycles: of all calls of a kernel together, for 256 of their instructions; `*` of all calls, where a kernel is called less than three times.
Standard library only.
"""
import csv
import math
import sys

WORK = ("macs", "results", "operands", "taps", "constants", "windows")
KEYS = ("mac", "result", "operand", "tap", "constant", "window")
LEAST_CALLS, LEAST_PRICED = 2, 3
# Kernels with the loops of another one, which no model here calls.
ALIKE = {
    "deuteron::packed_conv2d": [f"deuteron::packed_{k}" for k in ("conv2d_add", "conv2d_add_shifts", "conv2d_shifts", "conv2d_w4",
                                                                  "conv_transpose2d", "linear")],
    "deuteron::lstm": ["deuteron::gru", "deuteron::rnn", "deuteron::sequence_lstm"],
}


def read(paths):
    rows = []
    for path in paths:
        with open(path, newline="") as file:
            rows += [r for r in csv.DictReader(file) if int(r["instructions"]) > 0]
    return rows


def fit(rows):
    """[call, mac, result, operand, tap, constant, window], by coordinate descent on the normal equations: the problem is convex, so it ends at the least."""
    n = 1 + len(WORK)
    a = [[0.0] * n for _ in range(n)]
    b = [0.0] * n
    for row in rows:
        counted = float(row["instructions"])
        weight = counted**-0.5
        x = [weight] + [float(row[k]) * weight for k in WORK]
        for i in range(n):
            b[i] += x[i] * counted * weight
            for j in range(n):
                a[i][j] += x[i] * x[j]
    c = [0.0] * n
    for _ in range(20000):
        moved = 0.0
        for i in range(n):
            if a[i][i] == 0:
                continue
            new = max(0.0, (b[i] - sum(a[i][j] * c[j] for j in range(n) if j != i)) / a[i][i])
            moved = max(moved, abs(new - c[i]) * math.sqrt(a[i][i]))
            c[i] = new
        if moved < 1e-9:
            break
    return c


def line_of(name, c):
    numbers = [f"call = {round(c[0])}"] + [f"{key} = {round(v * 256)}" for key, v in zip(KEYS, c[1:]) if round(v * 256) > 0]
    return f'"{name}" = {{ {", ".join(numbers)} }}'


def by(rows, key):
    groups = {}
    for row in rows:
        groups.setdefault(row[key], []).append(row)
    return groups


def print_fit(rows):
    groups = by(rows, "line")
    for name in sorted(groups):
        if len(groups[name]) >= LEAST_CALLS:
            print(line_of(name, fit(groups[name])))
    floats = [r for r in rows if r["line"].endswith(".f32")]
    plain = [r for r in rows if not r["line"].endswith(".f32") and (r["line"].startswith("aten::") or len(groups[r["line"]]) < LEAST_CALLS)]
    if floats:
        print(line_of("*.f32", fit(floats)))
    if plain:
        print(line_of("*", fit(plain)))


def print_cycles(rows):
    def of_256(group):
        return round(256 * sum(float(r["cycles"]) for r in group) / sum(int(r["instructions"]) for r in group))

    rows = [r for r in rows if float(r["cycles"]) > 0]
    lines = {"*": of_256(rows)}
    for name, group in by(rows, "line").items():
        if len(group) >= LEAST_PRICED:
            for kernel in [name, *ALIKE.get(name, [])]:
                lines[kernel] = of_256(group)
    for name in sorted(lines):
        print(f'"{name}" = {lines[name]}')


def print_errors(rows, actual, guess):
    rows = [r for r in rows if r[guess] and float(r[actual]) > 0]

    def table(key, title):
        print(f"{title:<44} calls   {actual:>12}   sum    typical  largest")
        for name, group in sorted(by(rows, key).items(), key=lambda g: -sum(int(r[actual]) for r in g[1])):
            counted = sum(int(r[actual]) for r in group)
            predicted = sum(int(r[guess]) for r in group)
            errors = sorted(abs(int(r[guess]) / int(r[actual]) - 1) for r in group)
            short = name.split("fixtures/")[-1]
            print(f"{short:<44} {len(group):>5} {counted:>14} {100 * predicted / counted - 100:>+6.1f} % {100 * errors[len(errors) // 2]:>6.1f} % "
                  f"{100 * errors[-1]:>6.0f} %")

    table("line", "kernel")
    alike = {}  # calls of the same work count once, by the worst of them
    for r in rows:
        work = tuple(v for k, v in r.items() if k not in ("model", "instructions", "cycles"))
        alike[work] = max(alike.get(work, 0), abs(int(r[guess]) / int(r[actual]) - 1))
    off = sorted(alike.values())
    print(f"{len(off)} different calls: half of them within {100 * off[len(off) // 2]:.1f} %, all within {100 * off[-1]:.0f} %, "
          f"{sum(e > 0.15 for e in off)} off by more than 15 %")
    models = [r for r in rows if "/models/" in r["model"]]
    if models:
        print()
        rows = models
        table("model", "model")


def main():
    what = {
        "fit": print_fit,
        "cycles": print_cycles,
        "errors": lambda rows: print_errors(rows, "instructions", "predicted"),
        "cycle-errors": lambda rows: print_errors(rows, "cycles", "predicted_cycles"),
    }
    if len(sys.argv) < 3 or sys.argv[1] not in what:
        sys.exit(__doc__)
    what[sys.argv[1]](read(sys.argv[2:]))


if __name__ == "__main__":
    main()
