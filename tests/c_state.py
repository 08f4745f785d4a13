# SPDX-License-Identifier: Apache-2.0
"""Models with state as C: step by step the bits of `deuteron run`, twice from the beginning, in an arena that is full of other bytes.

    c_state.py DEUTERON SOURCE_DIR

Built with gcc and clang for this computer, from programs for four cores, and with gcc for two emulated boards; warnings are errors. Standard library
only."""
import math
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile

import checks
import pt2_text
from checks import check
from cross_build import build_environment

HERE = pathlib.Path(__file__).resolve().parent
TOOL, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
BOARDS = {"cortex-m55": "mps3-an547", "cortex-m33": "mps2-an505", "cortex-m4": "mps2-an386", "cortex-m3": "mps2-an385"}
STEPS = 7
sys.path.insert(0, str(SOURCE))
from boards.boards import emulated_boards

ON_BOARDS = {"kws": ("cortex-m55", "cortex-m4")}
# name: (text of the model, its kind, shape of a step, options of compile[, shape of a sample])
MODELS = {
    # Begins with something else than zeros, which lies among the constants.
    "sum": ("input x : f32[1,4]\nparameter h : f32[1,4] 0.5\nsum = aten.add_.Tensor(self=h, other=x) : f32[1,4]\noutput sum\n", "pt2", [1, 4], []),
    # Two states, each pair named, which begin with zeros.
    "pair": ("input x : f32[1,8]\ninput h : f32[1,8]\ninput c : f32[1,8]\na = add(x, h)\nt = unary(a) fn=tanh\nb = mul(t, x)\nd = add(b, c)\n"
             "u = unary(d) fn=sigmoid\ny = mul(u, t)\noutput y\noutput t\noutput u\n", "txt", [1, 8], ["--state", "h=t", "--state", "c=u"]),
    # A cache that moves on by a row, and one that attention reads along its other axis.
    "cache": ("input x : f32[1,1,8]\ninput k : f32[1,6,8]\ninput v : f32[1,6,8]\nkeys = slice(k) axis=1 start=1 count=5\nall = concat(keys, x) axis=1\n"
              "t = unary(x) fn=tanh\nvalues = slice(v) axis=1 start=1 count=5\nboth = concat(values, t) axis=1\ns = matmul(x, all)\np = softmax(s) axis=2\n"
              "turned = permute(both) perm=0,2,1\ny = matmul(p, turned)\noutput y\noutput all\noutput both\n",
              "txt", [1, 1, 8], ["--state", "k=all", "--state", "v=both"]),
    # Keyword spotting over 25 frames of 10 features, a frame a step: joins and cuts frames, and rows that are late.
    "kws": ("input x : f32[1,25,1,10]\na = conv2d(x, random f32[16,5,1,10]) bounds=0,inf\nb = conv2d(a, random f32[16,3,1,1]) groups=16 dilation=2,1\n"
            "c = conv2d(b, random f32[16,1,1,16]) bounds=0,inf\nlate = slice(a) axis=1 start=4 count=17\nsum = add(c, late)\nmean = avg_pool2d(sum) kernel=17,1\n"
            "y = conv2d(mean, random f32[12,1,1,16])\noutput y\n", "txt", [1, 1, 1, 10], ["--stream", "1"], [1, 25, 1, 10]),
    # Frames along the columns, two a step: pieces of every row.
    "columns": ("input x : f32[1,6,12,3]\na = conv2d(x, random f32[4,3,3,3]) bounds=0,inf\nb = conv2d(a, random f32[5,4,2,4])\ny = avg_pool2d(b) kernel=1,9\noutput y\n",
                "txt", [1, 6, 2, 3], ["--stream", "2=2"], [1, 6, 12, 3]),
}
where = pathlib.Path(tempfile.mkdtemp(prefix="deuteron_c_state_"))


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=where, timeout=300, **options)
    if done.returncode:
        sys.exit(f"FAILED {' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-3000:]}kept: {where}")
    return done.stdout


def build(project, folder, *settings):
    """The kernels of the models are the same files, which the compiler cache finds again."""
    environment = build_environment(project)
    run("cmake", "-S", project / "use", "-B", folder, *settings, env=environment)
    run("cmake", "--build", folder, "-j", "2", env=environment)


def write_npy(path, shape, values):
    header = str({"descr": "<f4", "fortran_order": False, "shape": tuple(shape)})
    header += " " * (64 - (10 + len(header) + 1) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}f", *values))


def read_npy(path):
    data = path.read_bytes()
    return data[10 + int.from_bytes(data[8:10], "little"):]


MAIN = """#include <stdio.h>
#include "NAME.h"
static uint8_t arena[UPPER_ARENA_BYTES] __attribute__((aligned(16)));
static uint8_t in[UPPER_INPUT0_BYTES] __attribute__((aligned(16)));
static uint8_t out[UPPER_OUTPUT0_BYTES] __attribute__((aligned(16)));
int main(void) {
  const struct NAME_inputs from = {(const void *)in};
  const struct NAME_outputs to = {(void *)out};
  for (unsigned i = 0; i < sizeof arena; ++i) arena[i] = 0xa5;
  for (int time = 0; time < 2; ++time) {
    rewind(stdin);
    NAME_reset_state(arena);
    while (fread(in, 1, sizeof in, stdin) == sizeof in) {
      if (NAME_run(arena, &from, &to) != 0) return 1;
      fwrite(out, 1, sizeof out, stdout);
    }
  }
  return UPPER_STATE_BYTES > 0 ? 0 : 1;
}
"""


def compare(name, target):
    text, kind, shape, options, *window = MODELS[name]
    window = window[0] if window else shape
    model, pte = where / f"{name}.{kind}", where / f"{name}_{target.replace('-', '_')}.pte"
    if kind == "pt2":
        model.write_bytes(pt2_text.archive(text))
    else:
        model.write_text(text)
    draw = random.Random(name)
    count, whole = math.prod(shape), math.prod(window)
    write_npy(where / "samples.npy", [9, *window], [draw.uniform(-1, 1) for _ in range(9 * whole)])
    run(TOOL, "compile", model, "--target", target, "--calibrate", "samples.npy", *options, "-o", pte)
    values = [draw.uniform(-1, 1) for _ in range(STEPS * count)]
    write_npy(where / "steps.npy", [STEPS, *shape], values)
    (where / "steps.bin").write_bytes(struct.pack(f"<{len(values)}f", *values))
    run(TOOL, "run", pte, "--input", "steps.npy", "--output-dir", "out")
    expected = read_npy(where / "out" / "output0.npy")
    folder = where / f"c_{pte.stem}"
    run(TOOL, "firmware", pte, "--as", "c,host", "--board", BOARDS[target], "-o", folder)
    (folder / "main.c").write_text(MAIN.replace("NAME", pte.stem).replace("UPPER", pte.stem.upper()))
    (folder / "use").mkdir()
    (folder / "use" / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(use LANGUAGES C CXX ASM)\nset(CMAKE_C_FLAGS \"-Wall -Wextra -Wpedantic -Wconversion -Werror\")\n"
        f"add_subdirectory(.. models)\nadd_executable(use ../main.c)\ntarget_link_libraries(use {pte.stem})\n")
    for c, cxx in (("gcc", "g++"), ("clang", "clang++")):
        if not shutil.which(cxx):
            continue
        build(folder, folder / c, f"-DCMAKE_C_COMPILER={c}", f"-DCMAKE_CXX_COMPILER={cxx}")
        with open(where / "steps.bin", "rb") as steps:
            done = subprocess.run([folder / c / "use"], stdin=steps, capture_output=True, timeout=60)
        check(done.returncode == 0, f"{pte.stem} by {c}: exit {done.returncode}")
        half = len(done.stdout) // 2
        check(len(expected) > 0 and done.stdout[:half] == expected, f"{pte.stem} by {c}: {STEPS} steps differ from `deuteron run`")
        check(done.stdout[half:] == expected, f"{pte.stem} by {c}: after a reset the steps differ")
    if target in ON_BOARDS.get(name, ()):
        on_board(pte, target, expected)
    # Every step depends on those before it: else nothing was tested.
    size = len(expected) // STEPS
    run(TOOL, "run", pte, "--input", "steps.npy", "--reset-state", "--output-dir", "alone")
    check(read_npy(where / "alone" / "output0.npy")[size:] != expected[size:], f"{pte.stem} has no state that matters")


BOARD_MAIN = """#include "NAME.h"
#include "port.h"
extern const uint8_t steps[];
static uint8_t arena[UPPER_ARENA_BYTES] __attribute__((aligned(16)));
static uint8_t out[2 * STEPS][UPPER_OUTPUT0_BYTES] __attribute__((aligned(16)));
int run_models(void) {
  for (uint32_t i = 0; i < sizeof arena; ++i) arena[i] = 0xa5;
  for (uint32_t i = 0; i < 2 * STEPS; ++i) {
    const struct NAME_inputs from = {(const void *)(steps + i % STEPS * UPPER_INPUT0_BYTES)};
    const struct NAME_outputs to = {(void *)out[i]};
    if (i % STEPS == 0) NAME_reset_state(arena);
    if (NAME_run(arena, &from, &to) != 0) return 1;
  }
  write_file("board.out", out, sizeof out);
  return 0;
}
"""


def on_board(pte, target, expected):
    """The steps of steps.bin on an emulated core, twice from the beginning."""
    if not all(map(shutil.which, ("arm-none-eabi-g++", "qemu-system-arm"))):
        print(f"left out: {pte.stem} on a board: no arm-none-eabi-g++ or qemu-system-arm")
        return
    board = next(b for b in emulated_boards() if b.target == target)
    folder = where / f"board_{pte.stem}"
    run(TOOL, "firmware", pte, "--as", "c", "--board", board.name, "-o", folder)
    (folder / "main.c").write_text(BOARD_MAIN.replace("NAME", pte.stem).replace("UPPER", pte.stem.upper()).replace("STEPS", f"{STEPS}u"))
    (folder / "steps.S").write_text(f'  .section .rodata.steps, "a"\n  .balign 16\n  .global steps\nsteps:\n  .incbin "{where}/steps.bin"\n')
    memory = next(line for line in (SOURCE / "boards" / board.name / "memory.ld").read_text().splitlines() if line.startswith("MEMORY"))
    (folder / "board.ld").write_text(memory + """
ENTRY(reset)
SECTIONS
{
  .vectors : { KEEP(*(.vectors)) . = ALIGN(1024); } > CODE
  .text : { *(.text .text.*) *(.rodata .rodata.*) } > CODE
  .ARM.exidx : { *(.ARM.exidx*) } > CODE
  .stack (NOLOAD) : { stack_bottom = .; . += 0x4000; stack_top = .; } > RAM
  .bss (NOLOAD) : { . = ALIGN(4); bss_begin = .; *(.bss .bss.* COMMON) . = ALIGN(4); bss_end = .; } > RAM
  /DISCARD/ : { *(.ARM.extab*) *(.init_array*) *(.fini_array*) }
}
""")
    (folder / "use").mkdir()
    (folder / "use" / "CMakeLists.txt").write_text(
        f'cmake_minimum_required(VERSION 3.16)\nproject(use LANGUAGES C CXX ASM)\nset(flags "{board.flags}")\n'
        'set(CMAKE_C_FLAGS "${flags} -O2 -ffunction-sections -fdata-sections -Wall -Wextra -Wpedantic -Wconversion -Werror")\n'
        'set(CMAKE_CXX_FLAGS "${flags} -Wall -Wextra -Werror")\nset(CMAKE_ASM_FLAGS "${flags}")\n'
        f"add_subdirectory(.. models)\nadd_executable(use ../main.c ../steps.S {HERE}/c_output/board.c)\ntarget_include_directories(use PRIVATE {HERE}/c_output)\n"
        f"target_link_libraries(use {pte.stem})\ntarget_link_options(use PRIVATE -nostartfiles -T{folder}/board.ld -Wl,--gc-sections)\n")
    build(folder, folder / "build", "-DCMAKE_SYSTEM_NAME=Generic", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY", "-DCMAKE_C_COMPILER=arm-none-eabi-gcc",
          "-DCMAKE_CXX_COMPILER=arm-none-eabi-g++", "-DCMAKE_ASM_COMPILER=arm-none-eabi-gcc")
    run("qemu-system-arm", "-M", board.name, "-kernel", folder / "build" / "use", "-nodefaults", "-no-user-config", "-display", "none", "-monitor", "none",
        "-serial", "null", "-semihosting-config", "enable=on,target=native")
    got = (where / "board.out").read_bytes()
    check(got == expected * 2, f"{pte.stem} on {board.name}: {sum(a != b for a, b in zip(got, expected * 2))} of {len(got)} bytes differ from `deuteron run`")


def main():
    for name in MODELS:
        for target in BOARDS:
            compare(name, target)
    print(checks.verdict())
    return 1 if checks.failed else 0


checks.leave(main(), where)
