# SPDX-License-Identifier: Apache-2.0
"""Small graphs whose border between NPU and CPU lies where it is awkward: on the host and on an emulated Cortex-M33.

    neutron_borders.py DEUTERON

For each: which operators run where; within the bound of the float graph that follows from the steps (tests/op_cases.py); no transpose at run time; the same
bits on the board; and, quantized once, the same bits with every operator kept off the NPU in turn, and all of them. Where the user's order of axes is not the
NPU's: the same bits whoever transposes."""
import array
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

TOOL = sys.argv[1]
wrong = []


def conv(name, x, shape, extra="pad_before=1,1 pad_after=1,1"):
    return f"{name}.w = const f32[8,3,3,8] random({ord(name[0])})\n{name}.b = const f32[8] random({len(name)})\n{name} = conv2d({x}, {name}.w, {name}.b) {extra} : f32[{shape}] from {name}\n"


# name: (the operators with their ATen names, the graph with `from` by name, elements of each input, what must run on the NPU, what on the CPU)
GRAPHS = {
    "padded_conv_channels_last": (
        {"padded": "pad", "y": "conv2d"},
        "input x : f32[2,7,5,8] order=0,3,1,2\npadded = pad(x) before=0,1,2,0 after=0,2,1,0 : f32[2,10,8,8] from padded\n"
        + conv("y", "padded", "2,4,3,8", "stride=2,2") + "output y order=0,3,1,2\n",
        [560], {"y"}, set()),
    "two_branches_one_refused": (
        {"i": "conv2d", "left": "conv2d", "right": "sin", "y": "add"},
        "input x : f32[1,6,10,8]\n" + conv("i", "x", "1,6,10,8") + conv("left", "i", "1,6,10,8")
        + "right = unary(i) fn=sin : f32[1,6,10,8] from right\ny = add(left, right) : f32[1,6,10,8] from y\noutput y\n",
        [480], {"i", "left", "y"}, {"right"}),
    "refused_at_the_first_place": (
        {"g": "sin", "y": "conv2d"},
        "input x : f32[1,5,9,8]\ng = unary(x) fn=sin : f32[1,5,9,8] from g\n" + conv("y", "g", "1,5,9,8") + "output y\n",
        [360], {"y"}, {"g"}),
    "refused_at_the_last_place": (
        {"c": "conv2d", "y": "sin"},
        "input x : f32[1,5,9,8]\n" + conv("c", "x", "1,5,9,8") + "y = pointwise(c) program=\"mul(x,0.125) sin(%0,0)\" : f32[1,5,9,8] from y\noutput y\n",
        [360], {"c"}, {"y"}),
    "two_inputs_two_outputs": (
        {"p": "conv2d", "q": "conv2d", "g": "sin", "s": "add", "m": "mul"},
        "input a : f32[1,6,4,8]\ninput b : f32[1,6,4,8]\n" + conv("p", "a", "1,6,4,8") + conv("q", "b", "1,6,4,8")
        + "g = unary(q) fn=sin : f32[1,6,4,8] from g\ns = add(p, g) : f32[1,6,4,8] from s\nm = mul(p, q) : f32[1,6,4,8] from m\noutput s\noutput m\n",
        [192, 192], {"p", "q", "s", "m"}, {"g"}),
    "functions_of_numbers": (
        {"a": "add", "b": "mul", "c": "mul", "d": "neg", "e": "sub"},
        "input x : f32[2,7,9,8]\n" + "".join(f'{n} = pointwise(x) program="{p}" : f32[2,7,9,8] from {n}\noutput {n}\n' for n, p in
                                             (("a", "add(x,0.37)"), ("b", "mul(x,x)"), ("c", "mul(x,-0.61)"), ("e", "sub(x,1.3)")))
        + "d = unary(x) fn=neg : f32[2,7,9,8] from d\noutput d\n",
        [1008], {"a", "b", "c", "d", "e"}, set()),
    "linear_layer": (
        {"y": "linear"},  # one scale, and so many rows that an accumulator which one side rounds twice shows
        "input x : f32[2000,24]\nw = const f32[1,24] random(3)\nb = const f32[1] random(4)\ny = linear(x, w, b) : f32[2000,1] from y\noutput y\n",
        [48000], {"y"}, set()),
    "slopes_of_every_kind": (
        {"a": "prelu", "b": "prelu", "c": "prelu"},
        "input x : f32[2,7,9,4]\n" + "".join(f'{n}.s = const f32[4] {s}\n{n} = prelu(x, {n}.s) : f32[2,7,9,4] from {n}\noutput {n}\n' for n, s in
                                             (("a", "0.25,-0.61,0.93,0"), ("b", "1.7,1.01,2.3,1.25"), ("c", "1.9,-0.4,0.3,-2.2"))),
        [504], {"a", "b", "c"}, set()),
    "nothing_for_the_npu": (
        {"g": "sin", "y": "erf"},
        "input x : f32[3,7,5]\ng = unary(x) fn=sin : f32[3,7,5] from g\ny = unary(g) fn=erf : f32[3,7,5] from y\noutput y\n",
        [105], set(), {"g"}),
    "everything_on_the_npu": (
        {"c": "conv2d", "k": "max_pool2d", "d": "conv2d", "y": "relu"},
        "input x : f32[1,8,12,8]\n" + conv("c", "x", "1,8,12,8") + "k = max_pool2d(c) kernel=2,2 stride=2,2 : f32[1,4,6,8] from k\n"
        + conv("d", "k", "1,4,6,8") + "y = clamp(d) bounds=0,inf : f32[1,4,6,8] from y\noutput y\n",
        [768], {"c", "k", "d"}, set()),
}


# Quantized graphs in the user's order of axes. name: (the graph, elements of each input, transposes by [NPU, CPU in its calls] for auto, npu and cpu)
PARAMETERS = "q(scale=0.03125 zero=-7)"
TURNED = {
    "small_image_in_and_out": (
        "input x : s8[2,5,3,7] @\na = permute(x) perm=0,2,3,1 : s8[2,3,7,5] @\nb = max_pool2d(a) kernel=2,2 stride=1,1 : s8[2,2,6,5] @\n"
        "y = permute(b) perm=0,3,1,2 : s8[2,5,2,6] @\noutput y\n", [210], {"auto": [1, 1], "npu": [2, 0], "cpu": [0, 2]}),
    "large_in_small_out": (
        "input x : s8[1,3,40,44] @\na = permute(x) perm=0,2,3,1 : s8[1,40,44,3] @\nb = avg_pool2d(a) kernel=8,4 stride=8,4 : s8[1,5,11,3] @\n"
        "y = permute(b) perm=0,3,1,2 : s8[1,3,5,11] @\noutput y\n", [5280], {"auto": [1, 1], "npu": [2, 0], "cpu": [0, 2]}),
    "matrices_behind_views": (
        "input x : s8[3,28] @\ni = reshape(x) shape=3,7,4 : s8[3,7,4] @\na = permute(i) perm=0,2,1 : s8[3,4,7] @\nb = clamp(a) bounds=-1,1 : s8[3,4,7] @\n"
        "y = reshape(b) shape=12,7 : s8[12,7] @\noutput y\n", [84], {"auto": [0, 1], "npu": [1, 0], "cpu": [0, 1]}),
    "the_cpu_wants_it_as_it_is": (
        "input x : s8[1,4,6,5] @\na = permute(x) perm=0,2,3,1 : s8[1,6,5,4] @\nb = max_pool2d(a) kernel=3,2 stride=1,1 : s8[1,4,4,4] @\n"
        "c = permute(b) perm=0,3,1,2 : s8[1,4,4,4] @\nd = unary(c) fn=sin : s8[1,4,4,4] @\ne = permute(d) perm=0,2,3,1 : s8[1,4,4,4] @\n"
        "y = clamp(e) bounds=0,inf : s8[1,4,4,4] @\noutput y\noutput c\n", [120], {"auto": [1, 1], "npu": [2, 0], "cpu": [1, 1]}),
}


def tool(*arguments):
    done = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, arguments))}: exit {done.returncode}: {done.stderr[-1500:]}")
    return done.stdout


def compiled(model, where, *options):
    tool("compile", model, "--target", "imxrt700cm", "--prefer", "npu", *options, "-o", where / "m.pte", "--json", where / "r.json")
    return json.loads((where / "r.json").read_text())


def results(inputs, where, *options):
    tool("run", where / "m.pte", *inputs, "--output-dir", where / "out", *options)
    return [p.read_bytes() for p in sorted((where / "out").glob("*.npy"))]


def floats(npy):
    return array.array("f", npy[10 + int.from_bytes(npy[8:10], "little"):])


def sources(report, placement=None):
    return {s.split(" (")[0] for o in report["operators"] if placement in (None, o["placement"]) for s in o["source"].split(", ")}


def check(right, what):
    if not right:
        wrong.append(what)


def transposes(where):
    tool("inspect", where / "m.pte", "--json", where / "i.json")
    text = (where / "i.json").read_text()
    return text.count("cortex_m::transpose") + text.count("TransposeCHW") + text.count("aten::permute")


def try_graph(name, where):
    names, body, shapes, on_npu, on_cpu = GRAPHS[name]
    numbers = {n: k for k, n in enumerate(names)}
    text = f'graph "{name}"\n' + "".join(f'source {k} "{n}" "aten.{names[n]}.default"\n' for n, k in numbers.items())
    body = re.sub(r"from (\w+)", lambda m: f"from {numbers[m[1]]}", body)
    (where / "float.txt").write_text(text + body)
    seeded = random.Random(5)
    given, calibrate = [], []
    for k, elements in enumerate(shapes):
        (where / f"{k}.bin").write_bytes(array.array("f", [seeded.gauss(0, 1) for _ in range(elements)]).tobytes())
        given += ["--input", where / f"{k}.bin"]
        calibrate += ["--calibrate", where / f"{k}.bin"]
    report = compiled(where / "float.txt", where, *calibrate, "--intermediates", where / "passes")
    check(sources(report, "npu") >= on_npu, f"{name}: on the NPU only {sources(report, 'npu')}, wanted {on_npu}")
    check(sources(report, "cortex_m") >= on_cpu, f"{name}: on the CPU only {sources(report, 'cortex_m')}, wanted {on_cpu}")
    if not on_npu:
        check(report["npu_delegates"] == 0, f"{name}: a delegate")
    elif not on_cpu:
        check(report["npu_delegates"] == 1 and report["npu_macs"] == report["macs"], f"{name}: {report['npu_delegates']} delegates")
    reference = results(given, where)
    check(results(given, where, "--on", "qemu:mps2-an505") == reference, f"{name}: other bits on the board")
    moved = transposes(where)
    check(moved == 0, f"{name}: {moved} transposes at run time")
    bound = len(report["operators"]) + len(report["quantization"])
    steps = report["max_abs_error"] / (max(max(floats(r)) - min(min(floats(r)), 0) for r in reference) / 255)
    check(steps <= bound, f"{name}: {steps:.1f} steps from the float graph, bound {bound}")
    quantized = next((where / "passes").glob("*-quantize.txt"))
    operators = sorted(n for n in sources(report) if n)
    compiled(quantized, where)
    reference = results(given, where)
    most = 0
    for excluded in [[n] for n in operators] + [operators]:
        report = compiled(quantized, where, *[a for n in excluded for a in ("--layer", f"{n}=cpu")])
        most = max(most, report["npu_delegates"])
        check(not sources(report, "npu") & set(excluded), f"{name} without {excluded}: on the NPU although excluded")
        check(results(given, where) == reference, f"{name} without {excluded}: other bits")
        check(results(given, where, "--on", "qemu:mps2-an505") == reference, f"{name} without {excluded}: other bits on the board")
    return f"{name}: {len(operators) + 2} ways, up to {most} delegates, {moved} transposes, {steps:.1f} of {bound} steps from float"


def try_turned(name, where):
    body, shapes, wanted = TURNED[name]
    types = dict(re.findall(r"(?:^|\n)(?:input )?(\w+) (?:: s8|=.*: s8)(\[[\d,]*\]) @", body))
    body = re.sub(r"input (\w+) : s8(\S+) @", r"input \1.given : f32\2\n\1 = quantize(\1.given) quant=@ : s8\2 @", body)
    body = re.sub(r"output (\w+)", lambda m: f"{m[1]}.made = dequantize({m[1]}) : f32{types[m[1]]}\noutput {m[1]}.made", body)
    (where / "int8.txt").write_text(f'graph "{name}"\n' + body.replace("@", PARAMETERS))
    seeded = random.Random(7)
    given = []
    for k, elements in enumerate(shapes):
        (where / f"{k}.bin").write_bytes(array.array("f", [seeded.gauss(0, 1) for _ in range(elements)]).tobytes())
        given += ["--input", where / f"{k}.bin"]
    operators = sorted(set(re.findall(r"= (\w+)\(", body)) - {"quantize", "dequantize", "unary", "reshape"})
    compiled(where / "int8.txt", where, "--io", "contiguous", *[a for o in operators for a in ("--layer", f"{o}=cpu")])
    reference = results(given, where)
    cycles = {}
    for by, counts in wanted.items():
        way = [] if by == "auto" else ["--neutron-option", f"use_neutron_for_format_conversion={str(by == 'npu').lower()}"]
        report = compiled(where / "int8.txt", where, "--io", "contiguous", *way)
        cycles[by] = report["cycles"]["total"]
        found = [report["npu_transposes"], report["border_transposes"]]
        check(found == counts, f"{name}, {by}: transposes {found}, wanted {counts}")
        check(results(given, where) == reference, f"{name}, {by}: other bits than on the CPU alone")
        check(results(given, where, "--on", "qemu:mps2-an505") == reference, f"{name}, {by}: other bits on the board")
    check(cycles["auto"] == min(cycles.values()), f"{name}: not the cheapest way, {cycles}")
    return f"{name}: the same bits whoever transposes, cycles {cycles}"


for name in sys.argv[2:] or TURNED:
    if name in TURNED:
        with tempfile.TemporaryDirectory() as folder:
            print(try_turned(name, pathlib.Path(folder)))
for name in [n for n in sys.argv[2:] if n in GRAPHS] if sys.argv[2:] else GRAPHS:
    with tempfile.TemporaryDirectory() as folder:
        print(try_graph(name, pathlib.Path(folder)))
for problem in wrong:
    print(f"WRONG {problem}")
print(f"borders: {len(wrong)} wrong")
sys.exit(1 if wrong else 0)
