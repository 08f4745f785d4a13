# SPDX-License-Identifier: Apache-2.0
"""Builds the stock runtime with its event tracer and NXP's own NeutronBackend, over the open machine, for the emulated Cortex-M33 of mps2-an505.
OUT/run is then a runner for inspector.py.

    tracing_board.py OUT EXECUTORCH FLATCC FLATBUFFERS [build/boards/mps2-an505.objects]

EXECUTORCH, FLATCC and FLATBUFFERS (24.3.25) are checkouts, fetched by hand; flatc, cmake and arm-none-eabi-gcc are on the PATH. The objects are
those of our runner, of which the kernels and the machine are taken.
"""
import concurrent.futures
import hashlib
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT, EXECUTORCH, FLATCC, FLATBUFFERS = (pathlib.Path(p).resolve() for p in sys.argv[1:5])
OBJECTS = pathlib.Path(sys.argv[5] if len(sys.argv) > 5 else ROOT / "build" / "boards" / "mps2-an505.objects")
CORE = "-mcpu=cortex-m33 -mfloat-abi=hard -mfpu=fpv5-sp-d16 -mthumb".split()
MEMORY = "MEMORY { VECTORS (rx) : ORIGIN = 0x10000000, LENGTH = 1K  POOL (rwx) : ORIGIN = 0x80000000, LENGTH = 16M }\nINCLUDE board.ld\n"
COUNTER = ["-DSTOCK_COUNTER=0x50302018", "-DSTOCK_INSTRUCTIONS_PER_TICK=50"]  # as tests/stock/sources.cmake has them
RUNTIME = """interface evalue tag tensor_layout device_allocator device_memory_buffer tensor_util_portable tensor_impl tensor_shape_to_c_string method
method_meta program program_validation pte_data_map tensor_parser_exec_aten tensor_parser_portable operator_registry abort log platform profiler
runtime minimal""".split()
OWN = ["tests/stock/stock_runner.cpp", "tests/stock/stock_kernels.cpp", "tests/stock/upstream_neutron.cpp", "tests/stock/board_start.cpp",
       "tests/stock/tracing_board.cpp", *(str(p.relative_to(ROOT)) for p in sorted((ROOT / "runtime" / "executorch").glob("*.cpp")))]
RUN = """#!/bin/sh
words=arg=stock
for word in "$@"; do words="$words,arg=$word"; done
exec qemu-system-arm -M mps2-an505 -kernel {image} -icount shift=0,sleep=off -nodefaults -display none -monitor none -serial none \\
  -semihosting-config enable=on,target=native,$words
"""


def call(*words, **options):
    subprocess.run([str(w) for w in words], check=True, **options)


def headers():
    """Those in <executorch/...>, and what the schemas become."""
    made = OUT / "include" / "executorch" / "devtools" / "etdump"
    made.mkdir(parents=True, exist_ok=True)
    links = [(OUT / "include" / "executorch" / d, EXECUTORCH / d) for d in ("runtime", "extension", "schema")]
    links += [(made / p.name, p) for p in (EXECUTORCH / "devtools" / "etdump").iterdir() if p.suffix == ".h" or p.name == "data_sinks"]
    for link, to in links:
        link.unlink(missing_ok=True)
        link.symlink_to(to)
    call("cmake", "-S", FLATCC, "-B", OUT / "flatcc", "-DFLATCC_TEST=OFF", "-DFLATCC_CXX_TEST=OFF", "-DCMAKE_BUILD_TYPE=Release", stdout=subprocess.DEVNULL)
    call("cmake", "--build", OUT / "flatcc", "--target", "flatcc_cli", stdout=subprocess.DEVNULL)
    call(FLATCC / "bin" / "flatcc", "-cwr", "-o", made, "etdump_schema_flatcc.fbs", cwd=EXECUTORCH / "devtools" / "etdump")
    schema = OUT / "schema" / "executorch" / "schema"
    schema.mkdir(parents=True, exist_ok=True)
    call("flatc", "--cpp", "--cpp-std", "c++11", "--gen-mutable", "--scoped-enums", "-o", schema, *(EXECUTORCH / "schema" / f"{n}.fbs" for n in ("program", "scalar_type")))
    for header in schema.glob("*_generated.h"):  # another flatc than the headers': the tables are the same
        header.write_text(re.sub(r"static_assert\(FLATBUFFERS_VERSION_MAJOR[^;]*;", "", header.read_text()))


def sources():
    for path in sorted((EXECUTORCH / "runtime").rglob("*.cpp")):
        if path.stem in RUNTIME and "test" not in path.parent.parts:
            yield path
    yield EXECUTORCH / "schema" / "extended_header.cpp"
    yield from (EXECUTORCH / "devtools" / "etdump" / n for n in ("etdump_flatcc.cpp", "emitter.cpp", "data_sinks/buffer_data_sink.cpp"))
    yield EXECUTORCH / "backends" / "nxp" / "runtime" / "NeutronBackend.cpp"
    yield from (ROOT / name for name in OWN)
    yield from (FLATCC / "src" / "runtime" / f"{n}.c" for n in ("builder", "emitter", "refmap"))


def compiled(source):
    target = OUT / "objects" / (hashlib.md5(str(source).encode()).hexdigest() + ".o")
    language = [] if source.suffix == ".c" else "-std=c++17 -fpermissive -fno-exceptions -fno-rtti -fno-threadsafe-statics".split()
    places = [OUT / "schema", OUT / "include", EXECUTORCH / "runtime/core/portable_type/c10", FLATCC / "include", FLATBUFFERS / "include", ROOT, EXECUTORCH / "backends/nxp/runtime"]
    call("arm-none-eabi-gcc" if source.suffix == ".c" else "arm-none-eabi-g++", *CORE, *language, "-O2", "-ffunction-sections", "-fdata-sections", "-w", "-Wno-psabi", "-DFLATCC_NO_ASSERT",
         "-DC10_USING_CUSTOM_GENERATED_MACROS", "-DFLATBUFFERS_LOCALE_INDEPENDENT=0", "-DET_EVENT_TRACER_ENABLED", "-DEXTERNAL_MEM", *COUNTER, *(f"-I{p}" for p in places),
         "-c", source, "-o", target)
    return target


(OUT / "objects").mkdir(parents=True, exist_ok=True)
headers()
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    objects = list(pool.map(compiled, sources()))
ours = [p for p in OBJECTS.read_text().split() if not re.search("/boards/mps2-an505/boards/|/runtime/ports/cortex_m/start|/handle_memory", p)]
(OUT / "memory.ld").write_text(MEMORY)
call("arm-none-eabi-g++", *CORE, "-nostartfiles", "--specs=rdimon.specs", "-Wl,--gc-sections,--no-warn-rwx-segments", f"-L{ROOT}/tests/stock", f"-T{OUT}/memory.ld",
     "-o", OUT / "stock.elf", *objects, *ours)
(OUT / "run").write_text(RUN.format(image=OUT / "stock.elf"))
(OUT / "run").chmod(0o755)
print(OUT / "run")
