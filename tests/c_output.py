# SPDX-License-Identifier: Apache-2.0
"""C output: models as C, and as one C++ header, for a computer and for every kind of core, built with warnings as errors, run, and compared with
`deuteron run`, bit for bit; the sizes of the C against tests/c_output/sizes.json.

    c_output.py DEUTERON SOURCE_DIR FIXTURES [--write] [--all | --only MODEL ...]

Without a choice the models of QUICK: `--all` takes minutes. `FIXTURES` has the folder fixtures/models. Standard library only."""
import concurrent.futures
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import checks
from checks import check
from cross_build import build_environment

options = sys.argv[4:]
TOOL, SOURCE, MODELS = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve() / "fixtures" / "models"
HERE, RECORD = SOURCE / "tests" / "c_output", SOURCE / "tests" / "c_output" / "sizes.json"
sys.path.insert(0, str(SOURCE))
from boards.boards import all_boards, emulated_boards

TARGETS = ["cortex-m55", "cortex-m33", "cortex-m4", "cortex-m3", "cortex-m0+"]
WARNINGS = "-Wall -Wextra -Wpedantic -Wconversion -Werror"
NPU = "imxrt700cm"
QUICK = ["cifarnet", "resnet8", "resnet8_tflite"]
TFLITE = {"resnet8_tflite": "resnet8", "dscnn_kws_tflite": "dscnn_kws"}  # as TFLite quantized these: kernels with its two roundings
ONLY = options[options.index("--only") + 1:] if "--only" in options else None if "--all" in options else QUICK
ON_NPU = ["cifarnet"]  # with parts that the NPU runs, and kernels of the processor between them
FLOAT = ["mnist_lstm", "mobilenet_v2", "mobilenet_v3_small"]  # without a quantized form, or with one that leaves a layer in float
WANTED = {("cortex-m55", "resnet8"): {"flash": 9216, "ram": 64, "stack": 1024}}  # bytes: aims, printed where they are missed
where = pathlib.Path(tempfile.mkdtemp(prefix="deuteron_c_"))
environment = build_environment(where)


class Failed(Exception):
    pass


def stage(function, *arguments):
    """None where a command fails: the others are tried all the same."""
    try:
        return function(*arguments)
    except Failed as failure:
        check(False, failure)
        return None


def run(*command, **more):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, stdin=subprocess.DEVNULL, env=environment, timeout=600, **more)
    if done.returncode:
        raise Failed(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-2000:]}")
    return done.stdout


def permuted(data, sizes, order, element, back=False):
    """From the user's order to the order in memory, or back."""
    strides, step = [0] * len(sizes), element
    for axis in reversed(range(len(sizes))):
        strides[axis], step = step, step * sizes[axis]
    places = [0]
    for axis in order:
        places = [p + i * strides[axis] for p in places for i in range(sizes[axis])]
    if not back:
        return b"".join(data[p:p + element] for p in places)
    out = bytearray(len(data))
    for k, p in enumerate(places):
        out[p:p + element] = data[k * element:(k + 1) * element]
    return bytes(out)


BYTES = {"u8": 1, "s8": 1, "b8": 1, "s16": 2, "f16": 2, "s32": 4, "f32": 4, "s64": 8, "f64": 8}


class Model:
    """A program of a target with one sample, and what `deuteron run` gives for it."""

    def __init__(self, name, target):
        self.name, self.target = name, target
        self.folder = where / target / name
        self.folder.mkdir(parents=True)
        self.pte = self.folder.parent / f"{name}.pte"
        folder = MODELS / TFLITE.get(name, name)
        if name in TFLITE:
            run(TOOL, "compile", folder / "original_int8.tflite", "--target", target, "--io", "float", "-o", self.pte)
        elif name in FLOAT:
            run(TOOL, "compile", MODELS / name / "float.pt2", "--calibrate", MODELS / name / "inputs", "--target", target, "-o", self.pte)
        else:
            run(TOOL, "compile", MODELS / name / "qdq.pt2", "--target", target, "-o", self.pte)
        about = json.loads(run(TOOL, "inspect", self.pte, "--json", "-"))
        self.inputs = [self.port(p) for p in about["inputs"]]
        self.outputs = [self.port(p) for p in about["outputs"]]
        command = [TOOL, "run", self.pte, "--output-dir", self.folder]
        samples = sorted((folder / "inputs").glob("*.bin"))
        for i, (sizes, order, element) in enumerate(self.inputs):
            count = element
            for size in sizes:
                count *= size
            data = samples[0].read_bytes() if len(self.inputs) == 1 else samples[i].read_bytes()
            (self.folder / f"user{i}.bin").write_bytes(data[:count])
            (self.folder / f"input{i}.bin").write_bytes(permuted(data[:count], sizes, order, element))
            command += ["--input", self.folder / f"user{i}.bin"]
        run(*command)
        self.expected = []
        for i, (sizes, order, element) in enumerate(self.outputs):
            data = (self.folder / f"output{i}.npy").read_bytes()
            data = data[10 + int.from_bytes(data[8:10], "little"):]
            self.expected.append(permuted(data, sizes, order, element))

    @staticmethod
    def port(p):
        return p["sizes"], p["storage_order"], BYTES[p["dtype"]]

    def write_main(self, folder):
        """Runs twice in an arena full of other bytes, and writes the outputs of both."""
        n, capital = self.name, self.name.upper()
        npu = '#include "deuteron_npu.h"\n' if self.target == NPU else ""
        text = f'#include <stdint.h>\n\n#include "port.h"\n#include "{n}.h"\n{npu}\nextern const uint8_t {n}_in[];\n'
        text += f"static uint8_t arena[{capital}_ARENA_BYTES] __attribute__((aligned(16), section(\".arena\")));\n"
        for i in range(len(self.outputs)):
            text += f"static uint8_t output{i}[{capital}_OUTPUT{i}_BYTES] __attribute__((aligned(16), section(\".arena\")));\n"
        text += f"\nint run_models(void) {{\n  struct {n}_inputs in;\n  struct {n}_outputs out;\n  uint32_t used;\n"
        for i in range(len(self.inputs)):
            text += f"  in.input{i} = (const void *)({n}_in + {sum((self.folder / f'input{k}.bin').stat().st_size + 15 & ~15 for k in range(i))});\n"
        for i in range(len(self.outputs)):
            text += f"  out.output{i} = (void *)output{i};\n"
        if self.target == NPU:
            text += "  if (deuteron_npu_start() != 0) return 1;\n"
        text += "  for (int time = 0; time < 2; ++time) {\n    for (uint32_t i = 0; i < sizeof arena; ++i) arena[i] = time == 0 ? 0xa5 : 0x3c;\n    paint_stack();\n"
        text += f"    if ({n}_run(arena, &in, &out) != 0) return 1;\n    used = stack_used();\n"
        for i in range(len(self.outputs)):
            text += f"    write_file(time == 0 ? \"{n}.first{i}\" : \"{n}.second{i}\", output{i}, sizeof output{i});\n"
        text += f"  }}\n  write_file(\"{n}.stack\", &used, sizeof used);\n  return {n}_run(arena + 1, &in, &out) == {capital}_BAD_ARGUMENT ? 0 : 1;\n}}\n"
        (folder / f"main_{n}.c").write_text(text)
        lines = f"  .section .rodata.{n}_in, \"a\"\n  .balign 16\n  .global {n}_in\n{n}_in:\n"
        for i in range(len(self.inputs)):
            lines += f"  .incbin \"{self.folder}/input{i}.bin\"\n  .balign 16\n"
        (folder / f"in_{n}.S").write_text(lines + "#if defined(__linux__) && defined(__ELF__)\n  .section .note.GNU-stack, \"\", %progbits\n#endif\n")

    def compare(self, folder, what):
        for i, expected in enumerate(self.expected):
            for time in ("first", "second"):
                file = folder / f"{self.name}.{time}{i}"
                got = file.read_bytes() if file.exists() else b""
                differ = sum(a != b for a, b in zip(got, expected)) + abs(len(got) - len(expected))
                check(got == expected, f"{what}, {self.name} of {self.target}: {differ} of {len(expected)} bytes of output {i} differ ({time} run)")


def linker_script(board):
    memory = next(line for line in (SOURCE / "boards" / board.name / "memory.ld").read_text().splitlines() if line.startswith("MEMORY"))
    vectors = "VECTORS" if "VECTORS" in memory else "CODE"
    return memory + f"""
ENTRY(reset)
SECTIONS {{ .vectors : {{ KEEP(*(.vectors)) . = ALIGN(1024); }} > {vectors} }}""" + """
SECTIONS
{
  .harness : { *board.c.o*(.text .text.* .rodata .rodata.*) *main_*.c.o*(.text .text.* .rodata .rodata.*) } > CODE
  .weights : { *(.rodata.*_weights .rodata.*_in) *_weights.c.o*(.rodata .rodata.*) } > POOL
  .text : { *(.text .text.*) *(.rodata .rodata.*) } > CODE
  .ARM.exidx : { *(.ARM.exidx*) } > CODE
  .stack (NOLOAD) : { stack_bottom = .; . += 0x4000; stack_top = .; } > RAM
  .data : { *(.data .data.*) } > RAM
  .bss (NOLOAD) : { . = ALIGN(4); bss_begin = .; *(.bss .bss.* COMMON) . = ALIGN(4); bss_end = .; } > RAM
  .arena (NOLOAD) : { *(.arena) } > POOL
  /DISCARD/ : { *(.ARM.extab*) *(.init_array*) *(.fini_array*) }
}
"""


def project(name, models, c_folder, port, flags="", link=""):
    folder = where / f"project_{name}"
    folder.mkdir()
    for m in models:
        m.write_main(folder)
    text = (f"cmake_minimum_required(VERSION 3.16)\nproject(c_output LANGUAGES C CXX ASM)\nset(CMAKE_C_FLAGS \"{flags} -O2 -ffunction-sections -fdata-sections {WARNINGS}\")\n"
            f"set(CMAKE_CXX_FLAGS \"{flags} -Wall -Wextra -Werror\")\nset(CMAKE_ASM_FLAGS \"{flags}\")\nset(CMAKE_C_STANDARD 99)\nset(CMAKE_C_EXTENSIONS OFF)\n"
            f"add_subdirectory({c_folder} models)\nadd_library(headers OBJECT headers.cpp)\ntarget_include_directories(headers PRIVATE {c_folder})\n"
            f"target_compile_options(headers PRIVATE -std=c++17 {WARNINGS})\n"
            # Their loops stay loops: a library's strlen or memset would count as the model's flash.
            f"set_source_files_properties({HERE}/{port}.c {' '.join(f'main_{m.name}.c' for m in models)} PROPERTIES\n"
            "  COMPILE_OPTIONS \"-fno-builtin;$<$<C_COMPILER_ID:GNU>:-fno-tree-loop-distribute-patterns>\")\n")
    (folder / "headers.cpp").write_text("".join(f'#include "{header.name}"\n' for header in sorted(c_folder.glob("*.h"))))
    for m in models:
        text += (f"add_executable({m.name}_run main_{m.name}.c in_{m.name}.S {HERE}/{port}.c)\ntarget_include_directories({m.name}_run PRIVATE {HERE})\n"
                 f"target_link_libraries({m.name}_run {m.name})\ntarget_link_options({m.name}_run PRIVATE {link} -Wl,--gc-sections)\n")
    (folder / "CMakeLists.txt").write_text(text)
    return folder


def header_folder(models, name, form="hpp", together=False):
    """The models as C++ headers, and libraries of them: each from a file of its own, or all implementations in one file, with two warnings more."""
    folder = where / f"hpp_{name}"
    folder.mkdir()
    warnings = f"{WARNINGS} -Wshadow -Wunused-macros"
    text = "cmake_minimum_required(VERSION 3.16)\nproject(headers LANGUAGES CXX)\nset(CMAKE_CXX_STANDARD 17)\nset(CMAKE_CXX_EXTENSIONS OFF)\n"
    for m in models:
        board = next(b for b in all_boards() if b.target == m.target)
        run(TOOL, "firmware", m.pte, "--board", board.name, "--as", form, "-o", folder / f"{m.name}.hpp")
        (folder / f"{m.name}.h").write_text(f'#include "{m.name}.hpp"\n')
        (folder / f"{m.name}.cpp").write_text(f'#define {m.name.upper()}_IMPLEMENTATION\n#include "{m.name}.hpp"\n')
    (folder / "all.cpp").write_text("".join(f'#include "{m.name}.cpp"\n' for m in models))
    for k, m in enumerate(models):
        sources = ("all.cpp" if k == 0 else "") if together else f"{m.name}.cpp"
        kind = "STATIC" if sources else "INTERFACE"
        scope, public = ("PRIVATE", "PUBLIC") if sources else ("INTERFACE", "INTERFACE")
        text += f"add_library({m.name} {kind} {sources})\ntarget_include_directories({m.name} {public} ${{CMAKE_CURRENT_SOURCE_DIR}})\n"
        text += f"target_compile_options({m.name} {scope} -O2 -fno-exceptions -ffunction-sections -fdata-sections {warnings})\n" if sources else f"target_link_libraries({m.name} {public} {models[0].name})\n"
    (folder / "CMakeLists.txt").write_text(text)
    return folder


def build(folder, *settings):
    run("cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=", *settings)
    run("cmake", "--build", folder / "build")


def on_host(models, compiler):
    c, cpp = compiler
    c_folder = where / f"c_host_{models[0].target}"
    if not c_folder.exists():
        board = next(b for b in all_boards() if b.target == models[0].target)
        run(TOOL, "firmware", *[m.pte for m in models], "--as", "c,host,blob", "--board", board.name, "-o", c_folder)
    run_on_host(models, compiler, project(f"host_{c}_{models[0].target}", models, c_folder, "host"), c)


def run_on_host(models, compiler, folder, what):
    build(folder, f"-DCMAKE_C_COMPILER={compiler[0]}", f"-DCMAKE_CXX_COMPILER={compiler[1]}")
    for m in models:
        run(folder / "build" / f"{m.name}_run", cwd=folder)
        m.compare(folder, f"{what} on this computer")


def headers_on_host(models, compiler):
    """All of them in one file."""
    name = f"header_{compiler[0]}_{models[0].target}"
    run_on_host(models, compiler, project(name, models, header_folder(models, name, "hpp,host", together=True), "host"), f"one header, {compiler[0]}")


def sizes_of(board, image, m, folder):
    rows = {r[0]: int(r[1]) for r in (line.split() for line in run(board.family.prefix + "size", "-A", image).splitlines()) if len(r) > 2 and r[0].startswith(".")}
    stack = int.from_bytes((folder / f"{m.name}.stack").read_bytes(), "little")
    return {"flash": rows.get(".text", 0), "ram": rows.get(".data", 0) + rows.get(".bss", 0), "stack": stack}


def on_board(board, models):
    c_folder = where / f"c_{board.target}"
    run(TOOL, "firmware", *[m.pte for m in models], "--as", "c,blob", "--board", board.name, "-o", c_folder)
    found = run_on_board(board, models, c_folder, board.target)
    if board.target == "cortex-m4":
        with_flags_of_c(board, models[0], c_folder)
    return found


def with_flags_of_c(board, model, c_folder):
    """A project that names its core in CMAKE_C_FLAGS and nowhere else; with C++ in it, g++ links."""
    for languages in ("C", "C CXX"):
        folder = where / f"c_alone_{languages[-1]}"
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.16)\nproject(c_alone LANGUAGES {languages})\nadd_subdirectory({c_folder} models)\n"
                                               f"add_executable(image main.c)\ntarget_link_libraries(image {model.name})\n"
                                               "target_link_options(image PRIVATE -nostartfiles -Wl,--gc-sections,--entry=start)\n")
        (folder / "main.c").write_text(f'#include "{model.name}.h"\nint start(void);\nint start(void) {{ return {model.name}_run(0, 0, 0); }}\n')
        build(folder, "-DCMAKE_SYSTEM_NAME=Generic", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY", f"-DCMAKE_C_COMPILER={board.family.prefix}gcc",
              f"-DCMAKE_CXX_COMPILER={board.family.prefix}g++", f"-DCMAKE_C_FLAGS={board.compiler_flags()}")


def headers_on_board(board, models):
    name = f"header_{board.target}"
    return run_on_board(board, models, header_folder(models, name), name)


def run_on_board(board, models, c_folder, name):
    folder = project(name, models, c_folder, "board", board.compiler_flags(), f"-nostartfiles -T{where}/{board.name}.ld")
    (where / f"{board.name}.ld").write_text(linker_script(board))
    build(folder, "-DCMAKE_SYSTEM_NAME=Generic", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY",
          *(f"-DCMAKE_{language}_COMPILER={board.family.prefix}{program}" for language, program in (("C", "gcc"), ("CXX", "g++"), ("ASM", "gcc"))))
    found = {}

    def one(m):
        image = folder / "build" / f"{m.name}_run"
        run(*board.emulate(image), cwd=folder)
        m.compare(folder, f"{name} on {board.name}")
        found[m.name] = sizes_of(board, image, m, folder)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(one, models))
    return found


def compare_sizes(found):
    known = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    for target, models in found.items():
        for name, now in models.items():
            was = known.get(target, {}).get(name)
            print(f"{target} {name}: {now['flash']} bytes of flash without weights, {now['ram']} of RAM beside the arena, {now['stack']} of stack")
            for what, most in WANTED.get((target, name), {}).items():
                if now[what] > most:
                    print(f"{target} {name}: {what} misses {most} bytes by {now[what] - most}")
            check(now["ram"] <= 64, f"{name} on {target}: {now['ram']} bytes of RAM beside the arena, limit 64")
            if "--write" not in options:
                check(was and all(abs(now[k] - was[k]) <= max(0.01 * was[k], 0 if k == "ram" else 8) for k in now), f"sizes of {name} on {target}: {now}, recorded {was}")
            known.setdefault(target, {})[name] = now
    if "--write" in options:
        RECORD.write_text(json.dumps({t: dict(sorted(m.items())) for t, m in sorted(known.items())}, indent=1) + "\n")


def compare_headers(found):
    """A header costs no RAM either, and the flash of the folder within a fourth: the compiler inlines differently where it sees everything,
    and compiles all of it for speed (optimization.cmake has what the folder compiles for size)."""
    known = json.loads(RECORD.read_text())
    for target, models in found.items():
        for name, now in models.items():
            folder = known.get(target, {}).get(name)
            print(f"{target} {name} as a header: {now['flash']} bytes of flash without weights ({folder and folder['flash']} as a folder), {now['ram']} of RAM, {now['stack']} of stack")
            check(now["ram"] <= 64, f"{name} on {target} as a header: {now['ram']} bytes of RAM beside the arena, limit 64")
            check(folder and now["flash"] <= 1.25 * folder["flash"], f"{name} on {target} as a header: {now['flash']} bytes of flash, as a folder {folder}")


def main():
    if not MODELS.is_dir():
        print(f"left out: there is no {MODELS}")
        return 77
    known = [*(m.name for m in MODELS.iterdir()), *TFLITE]
    names = sorted(m for m in known if not ONLY or m in ONLY)
    unknown = set(ONLY or ()) - set(known)
    if unknown or not names:
        sys.exit(f"{MODELS} has no model {', '.join(sorted(unknown))}")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        models = dict(zip(TARGETS, [[] for _ in TARGETS]))
        for m in pool.map(lambda pair: Model(*pair), [(name, target) for target in TARGETS for name in names]):
            models[m.target].append(m)
    compilers = [pair for pair in (("gcc", "g++"), ("clang", "clang++")) if shutil.which(pair[1])]
    for compiler in compilers:
        for target in TARGETS[:2]:
            stage(on_host, models[target], compiler)
        stage(headers_on_host, models[TARGETS[0]], compiler)
    with_npu = [Model(name, NPU) for name in ON_NPU if name in names]
    if with_npu:
        stage(on_host, with_npu, compilers[0])
    if not all(map(shutil.which, ("arm-none-eabi-g++", "qemu-system-arm"))):
        print("left out: the boards: no arm-none-eabi-g++ or qemu-system-arm")
        return 1 if checks.failed else 77
    else:
        boards = [b for b in emulated_boards() if b.target in TARGETS]
        compare_sizes({b.target: stage(on_board, b, models[b.target]) or {} for b in boards})
        compare_headers({b.target: stage(headers_on_board, b, [m for m in models[b.target] if ONLY != QUICK or m.name in QUICK[1:]]) or {} for b in boards})
    print(f"{len(names)} models as C, {len(compilers)} compilers here, {len(TARGETS)} cores: {f'{checks.failed} wrong' if checks.failed else 'the same bits'}")
    return 1 if checks.failed else 0


checks.leave(main(), where)
