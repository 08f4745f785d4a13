# SPDX-License-Identifier: Apache-2.0
"""Arduino libraries: built as Arduino's builder does, all of src/ with one include folder and no flags of the library's own, by a host's compiler and
those of a Cortex-M4 and a Cortex-M55; the example with a stand-in of its core. What it prints on the host, of a digit, against `deuteron run`.

    arduino.py DEUTERON SOURCE_DIR

The stand-in declares what the language reference documents (Serial.begin, print, println, micros, delay). Standard library only."""
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import checks
from checks import check

TOOL, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
where = pathlib.Path(tempfile.mkdtemp(prefix="deuteron_arduino_"))
# What arduino:mbed_nano and arduino:avr pass, but for warnings, which are off there: ours are errors.
FLAGS = ["-Os", "-g", "-Wall", "-Wextra", "-Werror", "-ffunction-sections", "-fdata-sections"]
CXX = ["-std=gnu++17", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"]
ARDUINO_H = """#pragma once
#include <cstdio>
#include <cstddef>
struct Stand {
  void begin(unsigned long) {}
  void print(const char *text) { std::printf("%s", text); }
  void println(unsigned long v) { std::printf("%lu\\n", v); }
  void println(double v, int digits) { std::printf("%.*f\\n", digits, v); }
};
extern Stand Serial;
unsigned long micros();
void delay(unsigned long);
"""
MAIN = """#include "Arduino.h"
void setup();
void loop();
Stand Serial;
unsigned long micros() { return 0; }
void delay(unsigned long) {}
int main() {
  setup();
  loop();
}
"""


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=where, timeout=300)
    if done.returncode:
        sys.exit(f"FAILED {' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-3000:]}kept: {where}")
    return done.stdout


def with_sample(sketch, sample):
    """The sketch with the digit where it has zeros."""
    zeros = re.compile(r"memset\((arena \+ \w+_INPUT0_OFFSET), 0, (\w+_INPUT0_BYTES)\);")
    check(len(zeros.findall(sketch)) == 1, f"the sketch has one input: {sketch}")
    words = ", ".join(f"{word:#x}u" for (word,) in struct.iter_unpack("<I", sample))
    return f"static const unsigned sample[] = {{{words}}};\n" + zeros.sub(r"static_assert(sizeof sample == \2); memcpy(\1, sample, \2);", sketch)


def build(library, prefix, flags, out, sample):
    """Every source below src/, and the sketch, which the builder makes a C++ file that begins with Arduino.h."""
    out.mkdir()
    (out / "Arduino.h").write_text(ARDUINO_H)
    sketch = next(library.glob("examples/*/*.ino"))
    (out / "sketch.cpp").write_text('#include <Arduino.h>\n' + with_sample(sketch.read_text(), sample))
    (out / "main.cpp").write_text(MAIN)
    sources = sorted(p for p in (library / "src").rglob("*") if p.suffix in (".c", ".cpp", ".S"))
    check(len(sources) > 3, f"sources of {library}: {sources}")
    objects = []
    for source in [*sources, out / "sketch.cpp", out / "main.cpp"]:
        objects.append(out / f"{len(objects)}.o")
        compiler = [f"{prefix}g++", *CXX] if source.suffix == ".cpp" else [f"{prefix}gcc"] + (["-std=gnu11"] if source.suffix == ".c" else [])
        run(*compiler, *flags, *FLAGS, f"-I{library}/src", f"-I{out}", "-c", source, "-o", objects[-1])
    return objects


def properties(library):
    lines = (library / "library.properties").read_text().splitlines()
    check(all("=" in line for line in lines), f"lines of library.properties: {lines}")
    return dict(line.split("=", 1) for line in lines)


def main():
    model = SOURCE / "models" / "digits_cnn"
    data = (model / "calibrate.npy").read_bytes()
    sample = data[10 + int.from_bytes(data[8:10], "little"):][:4 * 64]  # f32[1,8,8]
    (where / "digit.bin").write_bytes(sample)
    for target, board in (("cortex-m4", "mps2-an386"), ("cortex-m55", "mps3-an547")):
        run(TOOL, "compile", model / "float.pt2", "--calibrate", model / "calibrate.npy", "--target", target, "-o", f"digits_{target}.pte")
        pte = where / f"digits_{target}.pte"
        run(TOOL, "firmware", pte, "--as", "arduino,host", "--board", board, "-o", f"host_{target}")
        objects = build(where / f"host_{target}", "", [], where / f"on_host_{target}", sample)
        run("g++", *objects, "-o", f"{target}.run")
        printed = run(where / f"{target}.run").splitlines()
        out = where / f"out_{target}"
        run(TOOL, "run", pte, "--input", "digit.bin", "--output-dir", out)
        data = (out / "output0.npy").read_bytes()
        data = data[10 + int.from_bytes(data[8:10], "little"):]
        expected = [f"{v:.6f}" for (v,) in struct.iter_unpack("<f", data)]
        check(printed[1:] == expected and len(set(expected)) > 2, f"{target} on the host printed {printed}, expected {expected}")
        about = properties(where / f"host_{target}")
        check(about["name"] == pte.stem.replace("-", "_") and about["includes"] == f"{about['name']}.h" and about["version"].count(".") == 2, about)
        if not shutil.which("arm-none-eabi-g++"):
            continue
        run(TOOL, "firmware", pte, "--as", "arduino", "--board", board, "-o", f"core_{target}")
        flags = [f"-mcpu={target}", "-mthumb", *(["-mfloat-abi=softfp", "-mfpu=fpv4-sp-d16"] if target == "cortex-m4" else ["-mfloat-abi=hard"])]
        build(where / f"core_{target}", "arm-none-eabi-", flags, where / f"on_core_{target}", sample)
    print(checks.verdict())
    return 1 if checks.failed else 0


checks.leave(main(), where)
