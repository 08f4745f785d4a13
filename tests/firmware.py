# SPDX-License-Identifier: Apache-2.0
"""Projects of `deuteron firmware`, built with the cross compiler alone and run in QEMU: the bits of `deuteron run`, and refusals by name.

    firmware.py DEUTERON SOURCE_DIR BUILD_DIR"""
import array
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import checks
from checks import check
from cross_build import build_environment

TOOL, SOURCE, BUILD = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
sys.path.insert(0, str(SOURCE))
from boards.boards import emulated_boards

BOARDS = {board.name: board for board in emulated_boards()}
for needed in (*(board.missing() for board in BOARDS.values()), "cmake", "ninja"):
    if needed and not shutil.which(needed):
        print(f"left out: no {needed}")
        sys.exit(77)

where = pathlib.Path(tempfile.mkdtemp(prefix="deuteron_firmware_"))
environment = build_environment(where)


stack_bounds, stacks = {}, []  # of each image, as its build prints it; what runs took, and that


def tool(*arguments, fails=False):
    done = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    if (done.returncode != 0) != fails or done.returncode > 1:
        sys.exit(f"{' '.join(map(str, arguments))}: exit {done.returncode}\n{done.stdout}{done.stderr}"[:3000])
    return done.stderr if fails else done.stdout


def build(project, *options):
    for command in (["cmake", "-S", project, "-B", project / "build", "-G", "Ninja", *options], ["cmake", "--build", project / "build"]):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=environment, timeout=600)
        if done.returncode:
            sys.exit(f"{command}: {done.stdout[-3000:]}{done.stderr[-2000:]}")
    image, said = project / "build" / "firmware.elf", done.stdout + done.stderr
    bound = re.search(r"^all, and an interrupt's frame +(\d+) of stack at most$", said, re.M)
    check(bound or "ninja: no work to do" in said, f"the stack has no bound: {said[-600:]}")
    if bound:
        stack_bounds[image] = int(bound[1])
    return image


def emulate(image, board, outputs=None):
    command = BOARDS[board].emulate(image, *(("firmware", f"outputs={outputs}") if outputs else ()))
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)  # a hang ends here
    if used := re.search(r"^@stack (\d+) of", done.stdout + done.stderr, re.M):
        stacks.append((int(used[1]), stack_bounds[image]))
        check(stacks[-1][0] <= stacks[-1][1], f"{image}: the stack took {used[1]} bytes, and stack.cmake says {stack_bounds[image]} at most")
    return done.returncode, done.stdout + done.stderr


def text_bytes(image):
    lines = subprocess.run(["arm-none-eabi-size", "-A", str(image)], capture_output=True, text=True, check=True).stdout.splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(".text"))


def host_outputs(project, names):
    """The bytes that `deuteron run` gives for the inputs that lie in the project."""
    joined = b""
    for name in names:
        inputs = [a for p in sorted((project / "models").glob(f"{name}.input*.npy")) for a in ("--input", p)]
        tool("run", project / "models" / f"{name}.pte", *inputs, "--output-dir", where / "out" / name)
        for p in sorted((where / "out" / name).glob("output*.npy")):
            data = p.read_bytes()
            joined += data[10 + struct.unpack("<H", data[8:10])[0]:]
    return joined


def graph(name, text):
    (where / f"{name}.txt").write_text(text)
    return where / f"{name}.txt"


def compiled(model, target, name, *options):
    tool("compile", model, "--target", target, "-o", where / f"{name}.pte", *options)
    return where / f"{name}.pte"


# Two models on the Cortex-M33 with the NPU's model, one selection.
digits = SOURCE / "models" / "digits_cnn"
calibrate = ["--calibrate", digits / "calibrate.npy"]
one = compiled(digits / "float.pt2", "imxrt700cm", "digits", *calibrate)
other = compiled(digits / "float.pt2", "cortex-m33", "digits_cpu", *calibrate)
fw = where / "fw"
tool("firmware", one, other, "--board", "mps2-an505", "-o", fw, "--json", where / "fw.json")
report = json.loads((where / "fw.json").read_text())
check(report["tables_measured_on_board"], "tables were not measured on the board")
selection = (fw / "firmware.sel").read_text()
check("deuteron::packed_conv2d.dsp_4x4  # digits_cpu\n" in selection and "neutron::Conv2DPointwise  # digits\n" in selection, "selection: " + selection)
image = build(fw)
code, text = emulate(image, "mps2-an505", where / "outputs.bin")
check(code == 0 and text.count("as on the host") == 2 and "NOT" not in text, f"two models: {code} {text}")
check((where / "outputs.bin").read_bytes() == host_outputs(fw, ["digits", "digits_cpu"]), "other bits than deuteron run")


def counts(text, name):
    """Instructions of the processor's own work, and those with which it plays the NPU; 0: none printed."""
    found = re.search(rf"^@run {name} instructions (\d+)(?: and to play the NPU (\d+))?$", text, re.M)
    return (int(found.group(1)), int(found.group(2) or 0)) if found else (0, 0)


# The NPU is counted apart: with it the processor's own work is a small part of that on the CPU alone, and the same as `deuteron run` counts.
with_npu, alone = counts(text, "digits"), counts(text, "digits_cpu")
check(0 < 4 * with_npu[0] < alone[0] and with_npu[1] > 0 and alone[1] == 0, f"instructions: {with_npu} with the NPU, {alone} without")
for name, here in (("digits", with_npu), ("digits_cpu", alone)):
    tool("run", fw / "models" / f"{name}.pte", "--input", fw / "models" / f"{name}.input0.npy", "--on", "qemu:mps2-an505", "--output-dir",
         where / "on_board", "--json", where / "run.json")
    run = json.loads((where / "run.json").read_text())
    there = run["instructions"][0] if isinstance(run["instructions"], list) else run["instructions"]
    # The runner asks before each run whether it is traced: two dozen instructions. And here what hands a kernel its arguments is compiled
    # for size: some more for each of 13 calls. Depthwise calls go to their loop at once, which the runner's kernel chooses: some 40 fewer each.
    check(-5 * 40 <= here[0] - there <= 24 + 13 * 6, f"{name}: {here[0]} instructions of its own, {there} in the runner")
everything = BUILD / "boards" / "mps2-an505.elf"
print(f"code and constants of the runtime: {text_bytes(image)} bytes for digits on NPU and CPU, {text_bytes(everything)} in the image with all kernels")
check(text_bytes(image) < text_bytes(everything) / 2, "the image is not half of that with all kernels")

# No kernel of any core has a way that stack.cmake cannot follow.
for board in emulated_boards():
    command = ["cmake", f"-DOBJDUMP={board.family.prefix}objdump", f"-DIMAGE={BUILD / 'boards' / (board.name + '.elf')}", f"-DCORES={board.cores}",
               "-P", SOURCE / "runtime/ports/stack.cmake"]
    said = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120).stderr
    found = re.findall(r"^(load|run) +(\d+) of stack at most$", said, re.M)
    check([name for name, _ in found] == ["load", "run"], f"{board.name}: {said[:600]}")
    print(f"stack with all kernels, {board.name}: " + ", ".join(f"{name} {n}" for name, n in found))

# What the image and the selection say to the compiler, NPU kernels too.
softmax = graph("softmax", 'input x : f32[3,10]\ny = softmax(x) axis=1 : f32[3,10]\noutput y\n')
pooled = graph("pooled", 'input x : f32[1,8,8,8]\nw = const f32[8,3,3,8] random(3)\nb = const f32[8] random(4)\n'
               'c = conv2d(x, w, b) pad_before=1,1 pad_after=1,1 : f32[1,8,8,8]\ny = max_pool2d(c) kernel=2,2 stride=2,2 : f32[1,4,4,8]\noutput y\n')


def samples(name, count):
    data = array.array("f", [((k * 7919) % 2001 - 1000) / 500 for k in range(count)])
    (where / name).write_bytes(data.tobytes())
    return ["--calibrate", where / name]


for firmware_ops in (image, fw / "firmware.sel"):
    tool("compile", digits / "float.pt2", "--target", "imxrt700cm", *calibrate, "-o", where / "again.pte", "--firmware-ops", firmware_ops)
    said = tool("compile", softmax, "--target", "cortex-m33", *samples("s.bin", 30), "-o", where / "no.pte", "--firmware-ops", firmware_ops, fails=True)
    check("the firmware has no kernel cortex_m::softmax.out, which " in said, said)
    said = tool("compile", pooled, "--target", "imxrt700cm", *samples("p.bin", 512), "-o", where / "no.pte", "--firmware-ops", firmware_ops, fails=True)
    check("the firmware has no NPU kernel Conv2DStandardV1Pool, which " in said, said)
    check(not (where / "no.pte").exists(), "a refused program was written")

# A model of other kernels in the place of the first: refused when it is loaded, by name.
for model, target, options, name in ((softmax, "cortex-m33", samples("s.bin", 30), "op cortex_m::softmax"),
                                     (pooled, "imxrt700cm", samples("p.bin", 512), "the NPU kernel Conv2DStandardV1Pool is not linked in")):
    shutil.copy(compiled(model, target, "stranger", *options), fw / "models" / "digits.pte")
    code, text = emulate(build(fw), "mps2-an505")
    check(code == 65 and "@model digits refused" in text and name in text, f"{name}: {code} {text}")
shutil.copy(one, fw / "models" / "digits.pte")

# The vendor's driver, by a stand-in: our objects as a library.
library = where / "libDriver.a"
ours = BUILD / "boards/mps2-an505"
objects = [o for folder in ("npu/neutron/machine", "npu/neutron/kernels", "kernels") for o in sorted((ours / folder).rglob("*.o"))]
subprocess.run(["arm-none-eabi-ar", "qcs", str(library), *map(str, objects)], check=True)  # q: many of them have one name
code, text = emulate(build(fw, f"-DNEUTRON_DRIVER={library}"), "mps2-an505")
check(code == 0 and text.count("as on the host") == 2, f"another driver: {code} {text}")
said = tool("firmware", one, "--board", "mps2-an505", "-o", where / "vendor", "--driver", "vendor", fails=True)
check("[firmware.driver]" in said and not (where / "vendor").exists(), said)

# Every core, and a selection of several.
for board in emulated_boards():
    small = where / board.name
    tool("firmware", compiled(softmax, board.target, "soft", *samples("s.bin", 30)), "--board", board.name, "-o", small, "--input", where / "s.bin")
    code, text = emulate(build(small), board.name, where / "outputs.bin")
    check(code == 0 and text.count("as on the host") == 1, f"{board.name}: {code} {text}")
    check((where / "outputs.bin").read_bytes() == host_outputs(small, ["soft"]), f"{board.name}: other bits than deuteron run")
tool("firmware", "--merge", fw / "firmware.sel", small / "firmware.sel", "-o", where / "all.sel")
merged = (where / "all.sel").read_text()
check("cortex_m::softmax.out  # soft\n" in merged and "cortex_m::quantize_per_tensor.out  # digits digits_cpu soft\n" in merged, merged)
both = where / "both"
tool("firmware", where / "digits_cpu.pte", "--board", "mps2-an505", "-o", both, "--kernels", where / "all.sel")
shutil.copy(compiled(softmax, "cortex-m33", "stranger", *samples("s.bin", 30)), both / "models" / "digits_cpu.pte")
code, text = emulate(build(both), "mps2-an505")
check("@model digits_cpu loaded" in text and "bad_input" in text, f"a kernel of the merged selection: {code} {text}")



# Loops that no call comes to are left out, and a program that needs one is refused by name.
def deep(kernel):
    pad = kernel // 2
    return graph(f"deep{kernel}", f'input x : f32[1,12,12,8]\nw = const f32[8,{kernel},{kernel},1] random(3)\nb = const f32[8] random(4)\n'
                 f'y = conv2d(x, w, b) groups=8 pad_before={pad},{pad} pad_after={pad},{pad} : f32[1,12,12,8]\noutput y\n')


known, sizes = where / "known", []
tool("firmware", compiled(deep(3), "cortex-m33", "deep", *samples("d.bin", 1152)), "--board", "mps2-an505", "-o", known)
code, text = emulate(build(known), "mps2-an505")
check(code == 0 and text.count("as on the host") == 1, f"one loop: {code} {text}")
shutil.copy(compiled(deep(5), "cortex-m33", "deep", *samples("d.bin", 1152)), known / "models" / "deep.pte")
for options in ([], ["-DALL_FORMS=ON"]):
    image = build(known, *options)
    sizes.append(text_bytes(image))
    code, text = emulate(image, "mps2-an505")
    refused = "missing_kernel" in text and "takes a loop that no model of this firmware takes" in text
    check(refused == (options == []), f"another loop with {options}: {code} {text}")
check(sizes[0] + 4000 < sizes[1], f"an image without the other loops has {sizes[0]} bytes, with them {sizes[1]}")

# What is refused before anything is written.
for arguments, rule in ((["--board", "mps2-an999"], "board.unknown"), ([], "board.unknown"), (["--board", "mps3-an547"], "firmware.isa")):
    said = tool("firmware", one, *arguments, "-o", where / "none", fails=True)
    check(f"[{rule}]" in said and not (where / "none").exists(), f"{arguments}: {said}")
said = tool("firmware", one, "--board", "mps2-an505", "-o", fw, fails=True)
check("--force" in said, said)
check(not [p for p in where.iterdir() if ".tmp" in p.name], "a temporary folder is left")
shutil.rmtree(where)
# A bound counts every branch of every kernel that is linked, such as the one of depthwise convolution without scratch; no model takes all.
used, bound = min(stacks, key=lambda s: s[0] / s[1])
check(len(stacks) > 5 and bound <= 5 * used, f"a stack of {used} bytes has a bound of {bound}, more than five times as much")
print("stack, bytes used of at most: " + ", ".join(f"{u} of {b}" for u, b in sorted(set(stacks))))
print(f"firmware projects: {checks.verdict()}")
sys.exit(1 if checks.failed else 0)
