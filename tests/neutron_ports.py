# SPDX-License-Identifier: Apache-2.0
"""Partitions with as many inputs or outputs as a payload can count, and one more: 253 to 256 of them.

    neutron_ports.py DEUTERON

A payload counts 255 arguments, of which one is the partition's scratch. What is too many stays on the CPU with the reason, and is an error where there is no other
backend than the Neutron backend; the numbers are those of a program that has nothing on the NPU, to the bit, and near those of the float graph."""
import array
import json
import pathlib
import random
import subprocess
import sys
import tempfile

TOOL, COLUMNS = sys.argv[1], 8
wrong = []


def chain(count):
    """x0 + x1 + .. : one input more for each operator."""
    lines = [f"input x{k} : f32[1,{COLUMNS}]" for k in range(count)] + ["s1 = add(x0, x1) : f32[1,8] from 0"]
    lines += [f"s{k} = add(s{k - 1}, x{k}) : f32[1,8] from {k - 1}" for k in range(2, count)]
    names = "".join(f'source {k} "s{k + 1}" "aten.add.Tensor"\n' for k in range(count - 1))
    return names + "\n".join(lines) + f"\noutput s{count - 1}\n", count


def joined(count):
    """All at once: the operator itself does not fit."""
    names = 'source 0 "c" "aten.cat.default"\nsource 1 "y" "aten.relu.default"\n'
    lines = [f"input x{k} : f32[1,{COLUMNS}]" for k in range(count)]
    operands = ", ".join(f"x{k}" for k in range(count))
    return names + "\n".join(lines) + f"\nc = concat({operands}) axis=0 : f32[{count},8] from 0\ny = clamp(c) bounds=0,inf : f32[{count},8] from 1\noutput y\n", count


def fan(count):
    names = "".join(f'source {k} "y{k}" "aten.clamp.default"\n' for k in range(count))
    lines = [f"input x0 : f32[1,{COLUMNS}]"] + [f"y{k} = clamp(x0) bounds={-k - 1},{1 + k / 100} : f32[1,8] from {k}" for k in range(count)]
    return names + "\n".join(lines) + "\n" + "".join(f"output y{k}\n" for k in range(count)), 1


def tool(*arguments):
    return subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)


def results(where, inputs):
    done = tool("run", where / "m.pte", *inputs, "--output-dir", where / "out")
    if done.returncode:
        raise RuntimeError(done.stderr[:600])
    return [(where / "out" / f"output{k}.npy").read_bytes() for k in range(len(list((where / "out").glob("*.npy"))))]


def try_graph(kind, count, operator, most, where):
    text, ports = kind(count)
    (where / "m.txt").write_text(f'graph "{kind.__name__}"\n' + text)
    seeded = random.Random(count)
    inputs, calibrate = [], ["--observer", "minmax"]
    for k in range(ports):
        (where / f"{k}.bin").write_bytes(array.array("f", [seeded.uniform(-1, 1) for _ in range(COLUMNS)]).tobytes())
        inputs += ["--input", where / f"{k}.bin"]
        calibrate += ["--calibrate", where / f"{k}.bin"]
    name = f"{kind.__name__} {count}"
    done = tool("compile", where / "m.txt", "--target", "imxrt700cm", "--prefer", "npu", *calibrate, "-o", where / "m.pte", "--json", where / "r.json", "--intermediates", where / "i")
    if done.returncode:
        return wrong.append(f"{name}: {done.stderr[:400]}")
    report = json.loads((where / "r.json").read_text())
    left = [o["reason"] for o in report["operators"] if o["placement"] != "npu" and "neutron.partition.ports" in o["reason"]]
    if bool(left) != (count > most) or report["npu_delegates"] < (kind is not joined or count <= most):
        wrong.append(f"{name}: {report['npu_delegates']} delegates, {len(left)} operators on the CPU: {left[:1]}")
    if any("limit 255" not in reason for reason in left):
        wrong.append(f"{name}: {left[0]}")
    if report["sqnr_db"] < 20:
        wrong.append(f"{name}: {report['sqnr_db']} dB")
    (quantized,) = (where / "i").glob("*-quantize.txt")
    both = []
    for exclude in ([], ["--layer", f"{operator}=cpu", "--layer", "relu=cpu"][:4 if kind is joined else 2]):
        if tool("compile", quantized, "--target", "imxrt700cm", "--prefer", "npu", *exclude, "-o", where / "m.pte").returncode:
            return wrong.append(f"{name}: the quantized graph does not compile {exclude}")
        both.append(results(where, inputs))
    if both[0] != both[1] or not both[0]:
        wrong.append(f"{name}: other bits on the CPU")
    alone = tool("compile", where / "m.txt", "--target", "imxrt700", *calibrate, "-o", where / "alone.pte")
    if count <= most and alone.returncode:
        wrong.append(f"{name}: imxrt700 refuses it: {alone.stderr[:300]}")
    if count > most and (alone.returncode != 1 or "[neutron.partition.ports]" not in alone.stderr or "Neutron backend" not in alone.stderr or (where / "alone.pte").exists()):
        wrong.append(f"{name}: imxrt700 should refuse it: {alone.returncode} {alone.stderr[:300]}")


tried = 0
for kind, operator, most in ((chain, "add", 254), (joined, "cat", 254), (fan, "clamp", 255)):
    for count in (253, 254, 255, 256):
        with tempfile.TemporaryDirectory() as folder:
            try_graph(kind, count, operator, most, pathlib.Path(folder))
        tried += 1
for problem in wrong:
    print(f"WRONG {problem}")
print(f"{tried} graphs: {len(wrong)} wrong")
sys.exit(1 if wrong else 0)
