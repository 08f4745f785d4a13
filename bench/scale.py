#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How time and memory of a compilation grow with a model: exponents between neighbouring sizes.

    bench/scale.py DEUTERON [--quick] [KIND:SIZE ...]

chain: operators behind one another. concat: inputs of one operator. split: results that are slices.
alive: values that are alive at once, then added up. dense: operators of which each reads all
before; it holds half of the square of edges. constant: MB of int8. float: MB of float32, which
torch exports. A compilation ends with exit code 0, or with 1 and one diagnostic with measured and
limit. --quick: small sizes, no more memory than MOST_MB and no steeper a time than MAX_EXPONENT:
neither depends on the machine as seconds do."""
import argparse
import math
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

SIZES = {"chain": [500, 2000, 8000, 20000], "concat": [100, 450, 1800], "split": [100, 450, 1800],
         "alive": [100, 450, 1800], "dense": [20, 60, 180], "constant": [8, 32, 60],
         "float": [32, 128, 512]}  # fmt: skip
QUICK = {"chain": [200, 2000], "concat": [60], "split": [60], "alive": [40], "dense": [12],
         "constant": [16]}  # fmt: skip
MAX_EXPONENT = 1.6  # of CPU time: a quadratic step gives 2; 1.15 is the aim, at full size and on a quiet machine
# More than a model of one operator takes, for each of what a model holds: a half more than was measured.
MOST_MB = {"chain": 0.02, "concat": 0.2, "split": 0.15, "alive": 0.15, "dense": 0.16, "constant": 11}


def chain(n):
    names = ["x", *(f"v{k}" for k in range(n))]
    fn = ["sigmoid", "tanh"]
    lines = [f"{names[k + 1]} = unary({names[k]}) fn={fn[k % 2]}" for k in range(n)]
    return [*lines, f"output {names[n]}"]


def concat(n):
    return [*(f"v{k} = mul(x, const f32[1,8] fill({1 + k / n}))" for k in range(n)),
            f"y = concat({', '.join(f'v{k}' for k in range(n))}) axis=1", "output y"]  # fmt: skip


def split(n):
    lines = [f"w = linear(x, random f32[{8 * n},8])"]
    for k in range(n):
        lines += [f"v{k} = slice(w) axis=1 start={8 * k} count=8", f"u{k} = unary(v{k}) fn=tanh"]
    return [*lines, f"y = concat({', '.join(f'u{k}' for k in range(n))}) axis=1", "output y"]


def alive(n):
    lines = [f"v{k} = add(x, const f32[1,8] fill({1 + k / n}))" for k in range(n)]
    lines += [f"s{k} = add({f's{k - 1}' if k > 1 else 'v0'}, v{k})" for k in range(1, n)]
    return [*lines, f"output s{n - 1}"]


def dense(n):
    lines, names = [], ["x"]
    for k in range(n):
        lines.append(f"c{k} = concat({', '.join(names)}) axis=1")
        lines.append(f"l{k} = linear(c{k}, random f32[8,{8 * len(names)}])")
        lines.append(f"v{k} = unary(l{k}) fn=tanh")  # else numbers grow without end
        names.append(f"v{k}")
    return [*lines, f"output {names[-1]}"]


def constant(megabytes):
    return ["q = quantize(x) quant=q(scale=0.01 zero=-3)",
            "v = const s8[1024,8] q(scale=0.01 zero=0) random(3)",
            f"w = const s8[{megabytes << 10},1024] q(scale=0.01 zero=0) random(4)",
            "h = linear(q, v) : s8[1,1024] q(scale=0.01 zero=3)",
            f"y = linear(h, w) : s8[1,{megabytes << 10}] q(scale=0.1 zero=3)",
            "output y"]  # fmt: skip


KINDS = {f.__name__: f for f in (chain, concat, split, alive, dense, constant)}


def exported(megabytes, path):
    import torch  # noqa: PLC0415

    x = torch.zeros(1, 8)
    layers = torch.nn.Linear(8, 1024), torch.nn.Linear(1024, megabytes << 8)
    torch.export.save(torch.export.export(torch.nn.Sequential(*layers).eval(), (x,)), path)


def held(kind, n):
    return n * (n + 1) // 2 if kind == "dense" else n


def measure(deuteron, kind, n, folder):
    """(what became of it, seconds of a CPU, MB)."""
    model = folder / f"{kind}.{'pt2' if kind == 'float' else 'txt'}"
    if kind == "float":
        exported(n, model)
    else:
        model.write_text("\n".join(["input x : f32[1,8]", *KINDS[kind](n), ""]))
    (folder / "x.bin").write_bytes(struct.pack("<64f", *(math.sin(k) for k in range(64))))
    command = [deuteron, "compile", model, "--target", "cortex-m55", "--threads", "2",  # as on the least machine
               "--calibrate", folder / "x.bin", "-o", folder / "o.pte"]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        error = process.stderr.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    errors = re.findall(r"error: .*, limit .*\[(\S+)\]$", error, re.M)
    is_refused = process.returncode == 1 and len(errors) == 1
    became = "compiled" if process.returncode == 0 else errors[0] if is_refused else None
    if became is None:
        print(f"{kind} {n}: exit code {process.returncode}: {error[-400:]}")
    return became, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    raw = argparse.RawDescriptionHelpFormatter
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    arguments.add_argument("deuteron")
    arguments.add_argument("cases", nargs="*", metavar="KIND:SIZE")
    arguments.add_argument("--quick", action="store_true")
    given = arguments.parse_args()
    cases = [(kind, n) for kind, sizes in (QUICK if given.quick else SIZES).items() for n in sizes]
    if given.cases:
        cases = [(kind, int(n)) for kind, n in (case.split(":") for case in given.cases)]
    wrong, before = 0, {}
    with tempfile.TemporaryDirectory() as name:
        start = measure(given.deuteron, "chain", 1, pathlib.Path(name))[2]
        for kind, n in cases:
            became, seconds, megabytes = measure(given.deuteron, kind, n, pathlib.Path(name))
            more = max(megabytes - start, 0.1)
            growth, of_time = "", 0
            if kind in before:
                size, earlier_seconds, earlier_more = before[kind]
                times = math.log(held(kind, n) / size)
                of_time = math.log(seconds / earlier_seconds) / times
                of_memory = math.log(more / earlier_more) / times
                growth = f"  exponents: time {of_time:.2f}, memory {of_memory:.2f}"
            before[kind] = held(kind, n), seconds, more
            print(f"{kind} {n}: {became}, {seconds:.2f} s, {megabytes:.0f} MB{growth}", flush=True)
            most = MOST_MB.get(kind, math.inf) * held(kind, n)
            too_much = given.quick and more > most
            if too_much:
                print(f"{kind} {n}: {more:.0f} MB more than a model of nothing, limit {most:.0f}")
            too_steep = given.quick and of_time > MAX_EXPONENT
            if too_steep:
                print(f"{kind} {n}: exponent of time {of_time:.2f}, limit {MAX_EXPONENT}")
            wrong += became is None or too_much or too_steep
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
