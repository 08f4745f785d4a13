# SPDX-License-Identifier: Apache-2.0
"""DeuteronBackend beside ExecuTorch's own Cortex-M kernels, in one image of stock firmware on emulated boards.

    python bench/stock_delegate.py [BUILD] [SHARED] [CORE..]

Each model is quantized by CortexMQuantizer. Its program for cortex_m:: kernels (../shared/fixtures/stock) and the one
with parts of ours run in the same image; then our part as a program of its own, on our runtime. `bytes more` is method
memory beyond what our runtime takes; the program's inputs and outputs are planned by ExecuTorch once more. BUILD was
configured with -DDEUTERON_STOCK_SOURCES, and has stock/board/MACHINE/stock.elf. A `!` marks what is over its bar (the
loading form has none for its flash, nor for what it takes over our runtime); the exit code is then 1.
"""

import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build").resolve()
SHARED = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ROOT.parent / "shared")
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "stock"), str(BUILD / "python")]
import numpy as np
import torch
from cortex_m import CortexMQuantizer
from delegated import written
from executorch.exir import to_edge_transform_and_lower
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

import deuteron
from deuteron.executorch import DeuteronPartitioner

MODELS = ["resnet8", "dscnn_kws", "mobilenet_v1_025_vww", "autoencoder_ad", "cifarnet"]
MOST_OF_STOCK, MOST_FLASH, MOST_OVER_OURS, MOST_BYTES = 0.45, 24 * 1024, 0.02, 512
FLAGS = {
    "mps2-an386": "-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16",
    "mps2-an505": "-mcpu=cortex-m33 -mfloat-abi=hard -mfpu=fpv5-sp-d16",
    "mps3-an547": "-mcpu=cortex-m55 -mfloat-abi=hard",
}
IN_ELF = "-DDEUTERON_MESSAGES_IN_ELF"
BARE = ["-DCMAKE_SYSTEM_NAME=Generic", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY"]
BARE += [f"-DCMAKE_{language}_COMPILER=arm-none-eabi-{name}" for language, name in (("C", "gcc"), ("CXX", "g++"), ("ASM", "gcc"))]
STOCK = {"cortex-m33": "cortex-m4"}  # the same instructions
BOARDS = {"cortex-m55": "mps3-an547", "cortex-m4": "mps2-an386", "cortex-m33": "mps2-an505"}
missed = 0


def call(*words, **more):
    words = [str(w) for w in words]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, **more)
    if done.returncode:
        sys.exit(f"{words[0]}: {(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def bar(text, holds):
    global missed
    missed += not holds
    return text if holds else text + " !"


def sources_of(folder):
    """Of ExecuTorch, below a folder."""
    line = next(s for s in (BUILD / "CMakeCache.txt").read_text().splitlines() if s.startswith("DEUTERON_STOCK_SOURCES:"))
    return pathlib.Path(line.partition("=")[2], "executorch", folder).rglob("*.cpp")


class Image:
    """Stock firmware with our backend, as `table` of kernels."""

    def __init__(self, board, where):
        self.board, self.where = board, where
        self.core = next(core for core, its in BOARDS.items() if its == board)
        self.folder = BUILD / "stock" / "board" / board
        self.flags = [*FLAGS[board].split(), "-Os", "-ffunction-sections", "-fdata-sections", "-w"]
        # What registers ours is another object. The network whose flash is counted calls no kernel of ATen.
        aten = [p for p in sources_of("kernels/portable") if p.stem != "broadcast_util"]
        aten.append(BUILD / "stock/generated_aten/RegisterCodegenUnboxedKernelsEverything.cpp")
        self.stock = self.objects_without([ROOT / "tests/stock/upstream_kernels.cpp"])
        self.without_aten = [o for o in self.objects_without(aten) if o in self.stock]
        self.ours = (BUILD / "boards" / f"{board}.objects").read_text().split()
        start = f"/boards/{board}/boards/|/runtime/ports/cortex_m/start"
        self.ours = [o for o in self.ours if not re.search(start, o)]

    def objects_without(self, sources):
        names = {hashlib.md5(str(p).encode()).hexdigest() for p in sources}
        objects = (self.folder / "objects").read_text().split()
        return [o for o in objects if pathlib.Path(o).stem not in names]

    def compiled(self, source, *more):
        made = self.where / f"{self.board}.{source.stem}{len(more)}.o"
        places = [BUILD / "stock/board/include", BUILD / "stock/board/include/schema", ROOT]
        places.append(BUILD / "stock/board/include/executorch/runtime/core/portable_type/c10")
        words = "-std=c++17 -fno-exceptions -fno-rtti -fno-threadsafe-statics -DC10_USING_CUSTOM_GENERATED_MACROS"
        call("arm-none-eabi-g++", *self.flags, *words.split(), *more, *(f"-I{p}" for p in places), "-c", source, "-o", made)
        return made

    def linked(self, name, objects, *more):
        image = self.where / f"{self.board}.{name}.elf"
        call("arm-none-eabi-g++", *self.flags, "-nostartfiles", "--specs=rdimon.specs", "-Wl,--gc-sections,--no-warn-rwx-segments",
             f"-Wl,-Map={image}.map", f"-L{ROOT}/tests/stock", *more, f"-T{self.folder}/memory.ld", "-o", image, *objects)  # fmt: skip
        return image

    def with_backend(self, name, stock, table, ours, *defined):
        sources = sorted((ROOT / "runtime" / "executorch").glob("*.cpp"))
        parts = [self.compiled(p, *defined) for p in sources]
        glue = self.compiled(ROOT / "tests/stock/upstream_kernels.cpp", f"-DDEUTERON_TABLE={table}")
        texts = f"-T{ROOT}/runtime/ports/messages.ld"
        return self.linked(name, [*stock, glue, *parts, *ours], *([texts] if IN_ELF in defined else []))

    def alone(self):
        return self.linked("alone", [*self.without_aten, self.compiled(ROOT / "tests/stock/upstream_kernels.cpp")])

    def as_c(self, name, program, stock):
        """With the parts of one program as C, built as `deuteron firmware --as executorch,c` has them built, with events of
        single calls."""
        project = self.where / f"{self.board}.as_c"
        call(BUILD / "deuteron", "firmware", program, "--target", self.core, "--as", "executorch,c", "-o", project, "--force")
        headers = BUILD / "stock/board/include"
        words = [f"-DCMAKE_{language}_FLAGS={FLAGS[self.board]}" for language in ("C", "CXX", "ASM")]
        call("cmake", "-S", project, "-B", project / "build", f"-DDEUTERON_EXECUTORCH_HEADERS={headers}",
             "-DEXECUTORCH_ENABLE_EVENT_TRACER=ON", *BARE, *words)  # fmt: skip
        call("cmake", "--build", project / "build", "-j1")
        ours = [o for o in (project / "build/CMakeFiles/deuteron_backend.dir").rglob("*") if o.suffix in (".o", ".obj")]
        glue = self.compiled(ROOT / "tests/stock/upstream_kernels.cpp", "-DDEUTERON_COMPILED=16", f"-I{project}/src")
        return self.linked(name, [*stock, glue, *ours])

    def flash_for(self, program):
        """What the backend adds with the kernels of one network, built as its own firmware builds them; and with
        the texts of refusals in the ELF alone."""
        alone = self.alone()
        project = self.where / f"{self.board}.project"
        call(BUILD / "deuteron", "firmware", program, "--board", self.board, "-o", project)
        call("cmake", "-S", project, "-B", project / "build")
        call("cmake", "--build", project / "build", "-j1")
        made = (project / "build/CMakeFiles/firmware.dir").rglob("*")
        ours = [o for o in made if o.suffix in (".o", ".obj") and not re.search(r"/(main|models)\.|/boards/|/start", str(o))]
        for more in ([], [IN_ELF]):
            one = self.with_backend("one", self.without_aten, "kFirmwareKernels", ours, "-DDEUTERON_ONE_MEMORY", "-DET_EVENT_TRACER_ENABLED", *more)
            yield bytes_of(one) - bytes_of(alone)

    def run(self, image, file, sample, where):
        np.asarray(sample).tofile(where / "x.bin")
        words = ",".join(f"arg={a}" for a in ["runner", f"--method-bytes={1 << 20}", file, where / "stock", where / "x.bin"])
        said = call("qemu-system-arm", "-M", self.board, "-kernel", image, "-icount", "shift=0,sleep=off", "-nodefaults", "-display", "none",
                    "-monitor", "none", "-serial", "none", "-semihosting-config", f"enable=on,target=native,{words}")  # fmt: skip
        number = lambda name: int(re.search(rf"{name} (\d+)", said)[1])
        memory = number("method memory"), number("planned")
        return number("instructions"), memory, (where / "stock0.bin").read_bytes()


def bytes_of(image):
    row = call("arm-none-eabi-size", image).splitlines()[1].split()
    return int(row[0]) + int(row[1])


def quantized(name):
    folder = SHARED / "fixtures" / "models" / name
    program = torch.export.load(folder / "float.pt2")
    (given,) = program.graph_signature.user_inputs
    shape = next(n.meta["val"].shape for n in program.graph.nodes if n.name == given)
    samples = [torch.from_numpy(np.fromfile(f, "<f4").reshape(shape)) for f in sorted((folder / "inputs").glob("*.bin"))[:4]]
    if len(shape) == 4:
        samples = [s.contiguous(memory_format=torch.channels_last) for s in samples]
    # The quantizer takes images whose graph says that they lie channels last.
    again = torch.export.export(program.module(check_guards=False), (samples[0],))
    prepared = prepare_pt2e(again.module(check_guards=False), CortexMQuantizer())
    for sample in samples:
        prepared(sample)
    return torch.export.export(convert_pt2e(prepared), (samples[0],)), samples[0]


def stored(sample):
    return (sample.permute(0, 2, 3, 1) if sample.dim() == 4 else sample).contiguous().numpy()


def ours_alone(program, core, board, sample, where):
    """Instructions and bytes of memory on our own runtime, and the bits."""
    whole = deuteron.compile(program, target=core)
    whole.save(where / "whole.pte")
    np.save(where / "x.npy", sample.numpy())
    call(BUILD / "deuteron", "run", where / "whole.pte", "--input", where / "x.npy", "-o", where / "ours", "--on", f"qemu:{board}", "--json", where / "run.json")  # fmt: skip
    figures = json.loads((where / "run.json").read_text())
    return figures, np.load(where / "ours" / "output0.npy").tobytes()


def check_core(core, where):
    board = BOARDS[core]
    image = Image(board, where)
    both = image.with_backend("both", image.stock, "deuteron::kAllKernels", image.ours)
    for name in MODELS:
        program, sample = quantized(name)
        theirs = SHARED / "fixtures" / "stock" / f"{name}.{STOCK.get(core, core)}.pte"
        partitioner = DeuteronPartitioner(core)
        parts = to_edge_transform_and_lower(program, partitioner=[partitioner])
        if partitioner.report:
            sys.exit(f"{name}: {partitioner.report}")
        ours = written(parts, where / "ours.pte")
        stock, theirs_takes, _ = image.run(both, theirs, stored(sample), where)
        count, takes, bits = image.run(both, ours, stored(sample), where)
        figures, wanted = ours_alone(program, core, board, sample, where)
        alone = figures["instructions"]
        ratio, over = count / stock, count / alone - 1
        more = takes[0] - figures["planned_bytes"] - figures["tables_bytes"]
        cells = [core, name, stock, count, bar(f"{ratio:.3f}", ratio <= MOST_OF_STOCK), alone,
                 f"{100 * over:.1f} %", bar(str(more), more <= MOST_BYTES),
                 sum(theirs_takes), sum(takes)]  # fmt: skip
        if bits != wanted:
            cells.append(bar("other bits than on our runtime", False))
        print(f"| {' | '.join(map(str, cells))} |", flush=True)
        as_c = image.as_c("as_c", ours, image.stock)
        count, takes, bits = image.run(as_c, ours, stored(sample), where)
        more = takes[0] - figures["planned_bytes"]
        flash = bytes_of(image.as_c("one_as_c", ours, image.without_aten)) - bytes_of(image.alone())
        ratio, over = count / stock, count / alone - 1
        cells = [core, f"{name}, part as C", stock, count, bar(f"{ratio:.3f}", ratio <= MOST_OF_STOCK), alone,
                 bar(f"{100 * over:.1f} %", over <= MOST_OVER_OURS), bar(str(more), more <= MOST_BYTES), sum(theirs_takes), sum(takes),
                 f"flash added {bar(f'{flash} bytes', flash <= MOST_FLASH)}"]  # fmt: skip
        if bits != wanted:
            cells.append(bar("other bits than on our runtime", False))
        print(f"| {' | '.join(map(str, cells))} |", flush=True)
        if name == MODELS[0]:
            whole, without_texts = image.flash_for(where / "whole.pte")
            print(f"| {core} | {name} | | | | flash added by the loading form | {whole} bytes |")
            print(f"| {core} | {name} | | | | with texts in the ELF alone | {without_texts} bytes |", flush=True)


heads = "core|model|stock, instructions|with our part|ratio|our runtime|more|bytes more|RAM of stock|with our part"
print(f"| {heads.replace('|', ' | ')} |")
print("| --- | --- |" + " ---: |" * 8)
with tempfile.TemporaryDirectory() as folder:
    for one in sys.argv[3:] or BOARDS:
        if (BUILD / "stock" / "board" / BOARDS[one] / "objects").exists():
            check_core(one, pathlib.Path(folder))
sys.exit(missed != 0)
