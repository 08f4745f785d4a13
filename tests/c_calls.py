# SPDX-License-Identifier: Apache-2.0
"""Every call that a program's loader takes has a form in C: torch's examples of each operator as C, and one of each portable kernel built and run.

    c_calls.py DEUTERON SOURCE_DIR

Each example that compiles compiles to C. Those that bring a portable kernel which none before them has are built together with the compiler of this
computer, warnings as errors, and run twice in an arena full of other bytes: the outputs have the bits of `deuteron run`. Standard library only."""
import concurrent.futures
import json
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile

import checks
import pt2_text
from checks import check
from cross_build import build_environment

TOOL, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
WARNINGS = "-Wall -Wextra -Wpedantic -Wconversion -Werror"
LEAST_KERNELS = 49  # portable kernels that some example calls, beside those that only move elements
where = pathlib.Path(tempfile.mkdtemp(prefix="deuteron_c_calls_"))
FORMATS = {"f32": "f", "s64": "q", "s32": "i", "s16": "h", "s8": "b", "u8": "B", "b8": "?", "f64": "d"}


def run(*command, **more):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600, **more)


def examples():
    text = (SOURCE / "frontends/pt2/examples/torch_examples.inc").read_text()
    for k, (target, body) in enumerate(re.findall(r"^# (\S+)\n(.*?)\n(?=\n|\)torch)", text.split('R"torch(', 1)[1], re.S | re.M)):
        yield "m%d" % k, target, body + "\n"


def write_inputs(folder, text):
    """Random numbers for each input of the model, and the options that give them to a verb."""
    numbers, options = random.Random(text), []
    for k, (form, sizes) in enumerate(re.findall(r"^input \w+ : (\w+)\[([\d,]*)\]", text, re.M)):
        count = 1
        for size in sizes.split(",") if sizes else []:
            count *= int(size)
        values = [numbers.uniform(-2, 2) if form in ("f32", "f64") else numbers.randrange(2) for _ in range(count)]
        path = folder / ("user%d.bin" % k)
        path.write_bytes(struct.pack("<%d%s" % (count, FORMATS.get(form, "f")), *values))
        options.append(path)
    return options


def as_c(example):
    """The calls of portable kernels that its C has; none where the model does not compile."""
    name, target, text = example
    folder = where / name
    folder.mkdir()
    (folder / "net.pt2").write_bytes(pt2_text.archive(text))
    options = ["compile", folder / "net.pt2", "--target", "cortex-m55"]
    for path in write_inputs(folder, text):
        options += ["--calibrate", path]
    done = run(TOOL, *options, "--emit", "c,host", "--name", name, "-o", folder / "c")
    if done.returncode == 0:
        return set(re.findall(r"if \((deuteron_call_\w+)\(", (folder / "c" / (name + ".c")).read_text()))
    check(run(TOOL, *options, "-o", folder / "net.pte").returncode != 0, "%s compiles, and not to C: %s" % (target, done.stderr[-500:]))
    return set()


class Model:
    def __init__(self, name, text):
        self.name, self.folder = name, where / name
        self.pte = self.folder / (name + ".pte")
        files = sorted(self.folder.glob("user*.bin"), key=lambda p: int(p.stem[4:]))
        done = run(TOOL, "compile", self.folder / "net.pt2", "--target", "cortex-m55", "-o", self.pte, *[o for f in files for o in ("--calibrate", f)])
        about = json.loads(run(TOOL, "inspect", self.pte, "--json", "-").stdout) if done.returncode == 0 else {"inputs": [], "outputs": []}
        self.outputs = about["outputs"]
        command = [TOOL, "run", self.pte, "--output-dir", self.folder / "out"]
        self.inputs = []
        for k, port in enumerate(about["inputs"]):
            command += ["--input", files[k]]
            self.inputs.append(stored(files[k].read_bytes(), port, struct.calcsize(FORMATS[port["dtype"]])))
        done = run(*command)
        check(done.returncode == 0, "%s runs: %s" % (name, done.stderr[-300:]))
        self.expected = []
        for k, port in enumerate(self.outputs):
            data = (self.folder / "out" / ("output%d.npy" % k)).read_bytes()
            self.expected.append(stored(data[10 + int.from_bytes(data[8:10], "little"):], port, struct.calcsize(FORMATS[port["dtype"]])))

    def function(self):
        n, capital = self.name, self.name.upper()
        text = ""
        for k, data in enumerate(self.inputs):
            text += "static const unsigned char %s_in%d[] __attribute__((aligned(16))) = {%s};\n" % (n, k, ",".join(map(str, data)))
        text += "static int run_%s(int fill) {\n  static unsigned char arena[%s_ARENA_BYTES] __attribute__((aligned(16)));\n" % (n, capital)
        for k in range(len(self.outputs)):
            text += "  static unsigned char out%d[%s_OUTPUT%d_BYTES + 1] __attribute__((aligned(16)));\n" % (k, capital, k)
        text += "  struct %s_inputs in;\n  struct %s_outputs out;\n  memset(arena, fill, sizeof arena);\n" % (n, n)
        if not self.inputs:
            text += "  in.unused = NULL;\n"
        for k in range(len(self.inputs)):
            text += "  in.input%d = (const void *)%s_in%d;\n" % (k, n, k)
        for k in range(len(self.outputs)):
            text += "  out.output%d = (void *)out%d;\n" % (k, k)
        text += "  if (%s_run(arena, &in, &out) != 0) return 1;\n" % n
        for k in range(len(self.outputs)):
            text += "  show(\"%s.%d\", out%d, %s_OUTPUT%d_BYTES);\n" % (n, k, k, capital, k)
        return text + "  return 0;\n}\n"


def stored(data, port, element):
    """From the user's order to the order in memory."""
    sizes, order = port["sizes"], port["storage_order"]
    strides, step = [0] * len(sizes), element
    for axis in reversed(range(len(sizes))):
        strides[axis], step = step, step * sizes[axis]
    places = [0]
    for axis in order:
        places = [p + i * strides[axis] for p in places for i in range(sizes[axis])]
    return b"".join(data[p:p + element] for p in places)


def build_and_run(models):
    folder, environment = where / "all", build_environment(where)
    done = run(TOOL, "firmware", *[m.pte for m in models], "--as", "c,host", "--board", "mps3-an547", "-o", folder)
    check(done.returncode == 0, "one folder for all: " + done.stderr[-500:])
    main = "#include <stdio.h>\n#include <string.h>\n" + "".join('#include "%s.h"\n' % m.name for m in models)
    main += ("static void show(const char *name, const unsigned char *data, unsigned bytes) {\n  printf(\"%s \", name);\n"
             "  for (unsigned k = 0; k < bytes; ++k) printf(\"%02x\", data[k]);\n  printf(\"\\n\");\n}\n")
    main += "".join(m.function() for m in models)
    main += "int main(void) {\n  int failed = 0;\n  for (int time = 0; time < 2; ++time) {\n"
    main += "".join("    if (run_%s(time ? 0x3c : 0xa5)) failed = 1, printf(\"%s failed\\n\");\n" % (m.name, m.name) for m in models) + "  }\n  return failed;\n}\n"
    use = where / "use"
    use.mkdir()
    (use / "main.c").write_text(main)
    (use / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(use LANGUAGES C CXX ASM)\nset(CMAKE_C_STANDARD 99)\nadd_compile_options(%s)\nadd_subdirectory(%s all)\n"
        "add_executable(use main.c)\ntarget_link_libraries(use %s)\n" % (WARNINGS, folder, " ".join(m.name for m in models)))
    for command in (["cmake", "-S", use, "-B", use / "build", "-G", "Ninja"], ["cmake", "--build", use / "build"]):
        done = run(*command, env=environment)
        check(done.returncode == 0, "built with warnings as errors: " + (done.stdout + done.stderr)[-3000:])
    done = run(use / "build" / "use")
    check(done.returncode == 0, "every call runs: " + done.stdout[-500:])
    return done.stdout.splitlines()


def main():
    known, chosen, all_examples = set(), [], list(examples())
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for example, calls in zip(all_examples, pool.map(as_c, all_examples)):
            if calls - known:
                known |= calls
                chosen.append(example)
    check(len(known) >= LEAST_KERNELS, "%d portable kernels are called" % len(known))
    models = [Model(name, text) for name, _, text in chosen]
    lines = build_and_run(models)
    for model in models:
        for k, data in enumerate(model.expected):
            shown = [line.split()[1] if " " in line else "" for line in lines if line.startswith("%s.%d " % (model.name, k))]
            check(shown == [data.hex()] * 2, "%s: output %d has the bits of `deuteron run`" % (model.name, k))
    print("%d examples, %d of them built, %d portable kernels" % (len(all_examples), len(chosen), len(known)))
    print(checks.verdict())
    return 1 if checks.failed else 0


checks.leave(main(), where)
