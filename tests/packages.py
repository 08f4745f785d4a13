# SPDX-License-Identifier: Apache-2.0
"""Zephyr modules and CMSIS-Packs of `deuteron firmware --as`: built as their builders would, for a host and a Cortex-M, run on the host, and what the
sample prints against `deuteron run`.

    packages.py DEUTERON SOURCE_DIR

The stand-in for Zephyr is tests/stand_ins/zephyr; for packs the rules of the Open-CMSIS-Pack specification that are written out here. Standard library only."""
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
import zipfile

import checks
from checks import check

TOOL, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
ZEPHYR = SOURCE / "tests" / "stand_ins" / "zephyr"
where = pathlib.Path(tempfile.mkdtemp(prefix="deuteron_packages_"))
CATEGORIES = {"header": {".h", ".inc"}, "sourceC": {".c"}, "sourceCpp": {".cpp"}, "sourceAsm": {".S"}}
FRAMES = 512  # bytes: main() and run(), and what a Cortex-M pushes for an interrupt with floats (104) and for a switch of threads (100)
CXX = ["-std=c++17", "-fno-exceptions", "-fno-rtti"]
CORES = {"cortex-m4": ("mps2-an386", ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=softfp", "-mfpu=fpv4-sp-d16"], "CPU_CORTEX_M4", "Cortex-M4"),
         "cortex-m55": ("mps3-an547", ["-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard"], "CPU_CORTEX_M55", "Cortex-M55"),
         "cortex-m33+nodsp": ("mps2-an521", ["-mcpu=cortex-m33+nodsp", "-mthumb", "-mfloat-abi=soft"], "CPU_CORTEX_M33", "Cortex-M33")}


def run(*command, **more):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=where, timeout=300, **more)
    if done.returncode:
        sys.exit(f"FAILED {' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-3000:]}kept: {where}")
    return done.stdout


def expected_of(pte):
    """What the model gives for zeros, in millionths, towards zero as C rounds."""
    (where / "zeros.bin").write_bytes(bytes(4 * 64))  # f32[1,8,8]
    run(TOOL, "run", pte, "--input", "zeros.bin", "--output-dir", where / "out")
    data = (where / "out" / "output0.npy").read_bytes()
    data = data[10 + int.from_bytes(data[8:10], "little"):]
    return [str(int(1e6 * v)) for (v,) in struct.iter_unpack("<f", data)]


def check_printed(printed, expected, what):
    check(printed[0].startswith("cycles: ") and printed[1:] == expected and len(set(expected)) > 2, f"{what} printed {printed}, expected {expected}")


def kconfig(module):
    """The one symbol, and what it depends on and selects."""
    lines = (module / "zephyr" / "Kconfig").read_text().splitlines()
    symbols = [line.split()[1] for line in lines if line.startswith("config ")]
    check(len(symbols) == 1 and all(line.startswith(("#", "config ", "\t")) for line in lines), f"lines of Kconfig: {lines}")
    return symbols[0], {tuple(line.split()) for line in lines if re.match(r"\t(depends on|select) ", line)}


def check_stack(settings):
    """The sample's thread has room for the hungriest model that was measured, its own frames and an interrupt's."""
    sizes = json.loads((SOURCE / "tests" / "c_output" / "sizes.json").read_text())
    most = max(model["stack"] for target in sizes.values() for model in target.values())
    room = int(settings["CONFIG_MAIN_STACK_SIZE"])
    check(most + FRAMES <= room, f"a model takes {most} bytes of stack, the sample has {room}")


def zephyr_on_host(module, expected):
    sample = next(module.glob("samples/*"))
    symbol, facts = kconfig(module)
    settings = dict(line.split("=") for line in (sample / "prj.conf").read_text().splitlines())
    check(settings[f"CONFIG_{symbol}"] == "y", f"prj.conf sets {symbol}")
    check_stack(settings)
    check(("select", "CPP") in facts and not any(f[0] == "depends" for f in facts), f"facts of {symbol}: {facts}")
    for compiler in (("gcc", "g++"), ("clang", "clang++")):
        out = where / f"{module.name}_{compiler[0]}"
        run("cmake", "-S", sample, "-B", out, f"-DCMAKE_C_COMPILER={compiler[0]}", f"-DCMAKE_CXX_COMPILER={compiler[1]}", env={**os.environ, "ZEPHYR_BASE": str(ZEPHYR)})
        run("cmake", "--build", out, "-j", "2")
        check_printed(run(out / "app").splitlines(), expected, f"{module.name} by {compiler[0]}")


class Pack:
    """A pack whose description keeps the rules: what the components name is there, once, and everything that is there is named."""

    def __init__(self, folder):
        self.folder = folder
        descriptions = list(folder.glob("*.pdsc"))
        check(len(descriptions) == 1, f"descriptions in {folder}: {descriptions}")
        root = xml.parse(descriptions[0]).getroot()
        text = lambda tag: (root.findtext(tag) or "").strip()
        check(root.tag == "package" and re.fullmatch(r"1\.\d+\.\d+", root.get("schemaVersion", "")), f"schema version {root.attrib}")
        check(descriptions[0].name == f"{text('vendor')}.{text('name')}.pdsc", f"{descriptions[0].name} is {text('vendor')}.{text('name')}")
        check(root.find("url") is not None and text("description"), "url and description")
        releases = [r.get("version") for r in root.findall("releases/release")]
        check(releases and all(re.fullmatch(r"\d+\.\d+\.\d+", r) for r in releases), f"releases {releases}")
        self.conditions = {c.get("id"): c for c in root.findall("conditions/condition")}
        self.components = root.findall("components/component")
        names = {(c.get("Cclass"), c.get("Cgroup")) for c in self.components}
        check(len(names) == len(self.components) > 0, f"components {names}")
        for condition in self.conditions.values():
            for require in condition.findall("require"):
                known = (require.get("condition") in self.conditions or require.get("Dcore")
                         or (require.get("Cclass"), require.get("Cgroup")) in names)
                check(known, f"{condition.get('id')} requires {require.attrib}")
        self.files = []
        for c in self.components:
            check(c.get("Cversion") == releases[0] and c.findtext("description"), f"component {c.attrib}")
            check(c.get("condition") is None or c.get("condition") in self.conditions, f"condition of {c.attrib}")
            self.files += [(f.get("category"), f.get("name")) for f in c.findall("files/file")]
        self.includes = [folder / name for category, name in self.files if category == "include"]
        check(len(self.includes) == 1 and all(str(name).endswith("/") for category, name in self.files if category == "include"), f"include folders {self.includes}")
        named = [name for category, name in self.files if category != "include"]
        there = sorted(str(p.relative_to(folder)) for p in (folder / "src").rglob("*") if p.is_file())
        check(sorted(named) == there, f"named and there: {set(named) ^ set(there)}")
        for category, name in self.files:
            check(category == "include" or pathlib.Path(name).suffix in CATEGORIES.get(category, ()), f"{name} is a {category}")

    def cores(self):
        return {r.get("Dcore") for c in self.conditions.values() for r in c.findall("require") if r.get("Dcore")}

    def build(self, prefix, cxx, c, flags, out, more=()):
        out.mkdir()
        objects = []
        for category, name in [*self.files, *more]:
            if not category.startswith("source"):
                continue
            compiler = [prefix + cxx, *CXX] if category == "sourceCpp" else [prefix + c] + (["-std=gnu11"] if category == "sourceC" else [])
            objects.append(out / f"{len(objects)}.o")
            run(*compiler, *flags, "-Os", "-Wall", "-Wextra", "-Werror", *[f"-I{i}" for i in self.includes], f"-I{ZEPHYR}/include", "-c", self.folder / name, "-o", objects[-1])
        return objects


def one_file(pte, board, folder):
    """The pack as one file: what the folder has, the same bytes every time, by the name that its tools expect."""
    names = [next(folder.glob("*.pdsc")).stem + "." + xml.parse(next(folder.glob("*.pdsc"))).getroot().find("releases/release").get("version") + ".pack", "other.pack"]
    said = []
    for name in names:
        said.append(run(TOOL, "firmware", pte, "--as", "cmsis-pack", "--board", board, "-o", name, "--json", "-"))
    first, second = ((where / name).read_bytes() for name in names)
    check(first == second, "two packs of one model differ")
    check("c.package" not in said[0] and names[0] in said[1], f"what is said of the name: {said}")
    with zipfile.ZipFile(where / names[0]) as pack:
        check(pack.testzip() is None, f"damaged: {pack.testzip()}")
        there = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.name != "firmware.sel"}
        check({n: pack.read(n) for n in pack.namelist()} == there, f"in the pack and in the folder: {set(pack.namelist()) ^ set(there)}")
        check(pack.namelist() == sorted(there) and {i.date_time for i in pack.infolist()} == {(1980, 1, 1, 0, 0, 0)}, "names are sorted, dates fixed")


def backend(pte, form, flags, cpu, core):
    """What runs parts in ExecuTorch's runtime: one folder for three build systems, which name the same sources. Compiled where its headers are."""
    folder = where / form.replace(",", "_")
    run(TOOL, "firmware", pte, "--as", form, "-o", folder)
    symbol, facts = kconfig(folder)
    check(symbol == "DEUTERON_BACKEND" and {("depends", "on", "EXECUTORCH"), ("depends", "on", cpu)} <= facts, f"facts of {symbol}: {facts}")
    pack = Pack(folder)
    check(pack.cores() == {core}, f"the backend is for {pack.cores()}")
    listed = re.findall(r"^    (src/\S+?)\)?$", (folder / "sources.cmake").read_text(), re.M)
    compiled = sorted(name for category, name in pack.files if category.startswith("source"))
    check(sorted(listed) == compiled, f"sources of CMake and of the pack: {set(listed) ^ set(compiled)}")
    headers = next(SOURCE.glob("build/venv/lib/python3*/site-packages/executorch/include"), None)
    if not headers or not shutil.which("arm-none-eabi-g++"):
        return print("the backend is not compiled: no ExecuTorch, or no compiler")
    of_executorch = [headers, headers / "executorch/runtime/core/portable_type/c10"]
    more = ["-DC10_USING_CUSTOM_GENERATED_MACROS", *(f"-isystem{h}" for h in of_executorch)]
    objects = pack.build("arm-none-eabi-", "g++", "gcc", [*flags, *more], where / f"{folder.name}_arm")
    run("arm-none-eabi-ld", "-r", *objects, "-o", folder / "backend.o")
    symbols = run("arm-none-eabi-nm", "-C", folder / "backend.o").splitlines()
    check(any("T register_deuteron_backend(" in s for s in symbols), "nothing registers the backend")
    missing = [s for s in symbols if re.search(r" U .*deuteron", s)]
    check(not missing, f"missing in the package: {missing}")


def main():
    model = SOURCE / "models" / "digits_cnn"
    for target, (board, flags, cpu, core) in CORES.items():
        name = target.replace("-", "_").replace("+", "_")
        pte = where / f"digits_{name}.pte"
        run(TOOL, "compile", model / "float.pt2", "--calibrate", model / "calibrate.npy", "--target", target, "-o", pte)
        expected = expected_of(pte)
        if target == "cortex-m55":
            backend(pte, "executorch", flags, cpu, core)
            backend(pte, "executorch,c", flags, cpu, core)
        for form in ("zephyr", "cmsis-pack"):
            run(TOOL, "firmware", pte, "--as", f"{form},host", "--board", board, "-o", f"{form}_host_{name}")
            run(TOOL, "firmware", pte, "--as", form, "--board", board, "-o", f"{form}_{name}")
        zephyr_on_host(where / f"zephyr_host_{name}", expected)
        _, facts = kconfig(where / f"zephyr_{name}")
        check(("depends", "on", cpu) in facts, f"{target} in Kconfig: {facts}")
        check((("depends", "on", "ARMV8_1_M_MVEI") in facts) == (("select", "FPU") in facts) == (target == "cortex-m55"), f"{target} in Kconfig: {facts}")
        sample = next((where / f"zephyr_host_{name}").glob("samples/*/src/main.c"))
        pack = Pack(where / f"cmsis-pack_host_{name}")
        check(pack.cores() == set(), f"a computer is no {pack.cores()}")
        for c, cxx in (("gcc", "g++"), ("clang", "clang++")):
            out = where / f"pack_{name}_{c}"
            objects = pack.build("", cxx, c, [], out, [("sourceC", sample)])
            run(cxx, *objects, "-o", out / "run")
            check_printed(run(out / "run").splitlines(), expected, f"the pack for {target} by {c}")
        pack = Pack(where / f"cmsis-pack_{name}")
        check(pack.cores() == {core}, f"{target} is {pack.cores()}")
        one_file(pte, board, where / f"cmsis-pack_{name}")
        if shutil.which("arm-none-eabi-g++"):
            pack.build("arm-none-eabi-", "g++", "gcc", flags, where / f"pack_{name}_arm")
    print(checks.verdict())
    return 1 if checks.failed else 0


checks.leave(main(), where)
