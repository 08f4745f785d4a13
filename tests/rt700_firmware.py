# SPDX-License-Identifier: Apache-2.0
"""The firmware project of the MIMXRT700-EVK, built over a stand-in for the SDK, and over the SDK itself where MCUX_SDK says where it is:
what lies in which of the chip's memories, and, linked for the memories of an emulated board, what it prints.

    rt700_firmware.py DEUTERON SOURCE_DIR BUILD_DIR"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import checks
from checks import check
from cross_build import build_environment

TOOL, SOURCE, BUILD = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
for needed in ("arm-none-eabi-g++", "qemu-system-arm", "cmake", "ninja"):
    if not shutil.which(needed):
        print(f"left out: no {needed}")
        sys.exit(77)

BOARD = "mimxrt700-evk"
SCRIPT = f"deuteron/boards/{BOARD}/memory.ld"
where = pathlib.Path(tempfile.mkdtemp(prefix="deuteron_rt700_"))
environment = build_environment(where)


def tool(*arguments, code=0):
    done = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    if done.returncode != code:
        sys.exit(f"{' '.join(map(str, arguments))}: exit {done.returncode}\n{done.stdout}{done.stderr}"[:3000])
    return done.stderr if code else done.stdout


def build(project, *options, fails=False):
    """The image, or with `fails` what CMake said."""
    for command in (["cmake", "-S", project, "-B", project / "build", "-G", "Ninja", *options], ["cmake", "--build", project / "build"]):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=environment, timeout=600)
        if done.returncode and fails:
            return " ".join((done.stdout + done.stderr).split())
        if done.returncode:
            sys.exit(f"{command}: {done.stdout[-3000:]}{done.stderr[-2000:]}")
    return project / "build" / "firmware.elf"


def stand_in_sdk():
    """The stand-in, with an empty file for each source that nothing here calls."""
    sdk = where / "mcuxsdk"
    shutil.copytree(SOURCE / "tests" / "stand_ins" / "mcux_sdk", sdk)
    text = (SOURCE / "boards" / BOARD / "build.cmake").read_text()
    folders = dict(re.findall(r"^set\((device|board_files) (\S+)\)", text, re.M))
    sources = re.search(r"^set\(SDK_SOURCES (.*?)\)", text, re.M | re.S).group(1)
    for source in re.sub(r"\$\{(\w+)\}", lambda m: folders[m.group(1)], sources).split():
        (sdk / source).parent.mkdir(parents=True, exist_ok=True)
        (sdk / source).touch()
    return sdk


def lines_of(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout.splitlines()


def sections(image):
    """Name: (bytes, address), of what takes memory."""
    rows = [line.split() for line in lines_of("arm-none-eabi-size", "-A", image)]
    return {r[0]: (int(r[1]), int(r[2])) for r in rows if len(r) == 3 and r[1].isdigit() and int(r[2]) and int(r[1])}


def symbols(image):
    return {name: int(address, 16) for address, _, name in (line.split() for line in lines_of("arm-none-eabi-nm", image) if len(line.split()) == 3)}


# The chip's memories: where a section may lie. Not from memory.ld, which is what is looked at.
FLASH, RAM, POOL = (0x28004000, 0x2C000000), (0x20080000, 0x20200000), (0x20200000, 0x20580000)
PLACES = {".flash_config": (0x28000000, 0x28004000), ".interrupts": FLASH, ".text": FLASH, ".ARM.exidx": FLASH, ".models": FLASH,
          ".stack": RAM, ".data": RAM, ".bss": RAM, ".ncache": POOL, ".ncache_zero": POOL, ".models_copied": POOL, ".planned": POOL}


def check_memories(image, program_bytes, planned_bytes, copied, what):
    found, named = sections(image), symbols(image)
    for name, (size, address) in found.items():
        if name in PLACES:
            low, high = PLACES[name]
            check(low <= address and address + size <= high, f"{what}: {name}, {size} bytes, at {address:#x}")
        else:
            check(name.startswith((".comment", ".ARM.attributes", ".debug")), f"{what}: section {name}")
    check(named["__isr_vector"] == FLASH[0] if "__isr_vector" in named else found[".interrupts"][1] == FLASH[0], f"{what}: the vectors")
    check((named["__NCACHE_REGION_START"], named["__NCACHE_REGION_SIZE"]) == (POOL[0], POOL[1] - POOL[0]), f"{what}: what is not cached")
    model = POOL if copied else FLASH
    check(model[0] <= named["model_0"] < model[1] and named["model_0"] % 16 == 0, f"{what}: the model at {named['model_0']:#x}")
    check(named["model_0_end"] - named["model_0"] == program_bytes, f"{what}: {named['model_0_end'] - named['model_0']} bytes of {program_bytes}")
    check(FLASH[0] <= named["models_copied_from"] < FLASH[1], f"{what}: it is copied from {named['models_copied_from']:#x}")
    check(found[".planned"][0] == (planned_bytes + 15) // 16 * 16, f"{what}: planned {found['.planned']}, {planned_bytes} asked for")
    # What the flash holds does not overlap: code, then .data, then the models.
    loads = sorted((named[first], named[first] + size) for first, size in (("__etext", found[".data"][0]), ("models_copied_from", program_bytes * copied)))
    check(found[".text"][1] + found[".text"][0] <= loads[0][0] and loads[0][1] <= loads[1][0], f"{what}: loaded at {loads}")
    return found


def planned_of(project):
    return int(re.search(r"planned\[(\d+)\]", (project / "models.cpp").read_text()).group(1))


digits = SOURCE / "models" / "digits_cnn"
for name, target in (("npu", "imxrt700cm"), ("cpu", "cortex-m33")):
    tool("compile", digits / "float.pt2", "--target", target, "--calibrate", digits / "calibrate.npy", "-o", where / f"{name}.pte")
tool("compile", digits / "float.pt2", "--target", "imxrt700cm", "--calibrate", digits / "calibrate.npy", "--neutron-option", "fetch_constants_to_sram=true", "-o",
     where / "fetched.pte")
sdk = stand_in_sdk()

# The vendor's driver is what a project has unless it is told otherwise, and it refuses payloads of the open model.
said = tool("firmware", where / "npu.pte", "--board", BOARD, "-o", where / "none", code=1)
check("[firmware.driver]" in said and "--driver model" in said and not (where / "none").exists(), said)

found = {}
for name, copied in (("npu", True), ("fetched", False), ("cpu", False)):
    project = where / name
    printed = tool("firmware", where / f"{name}.pte", "--board", BOARD, "-o", project, "--driver", "model")
    check("-DMCUX_SDK=PATH" in printed, printed)
    found[name] = check_memories(build(project, f"-DMCUX_SDK={sdk}"), (where / f"{name}.pte").stat().st_size, planned_of(project), copied, name)
for name, expected in (("npu", True), ("cpu", False)):
    listed = subprocess.run(["arm-none-eabi-nm", "-C", where / name / "build" / "firmware.elf"], capture_output=True, text=True).stdout
    check(("deuteron::neutron::" in listed) == expected, f"{name}: the image {'lacks' if expected else 'has'} the model of the NPU")

# Without the SDK, or with a folder that is none, CMake says what is missing.
shutil.rmtree(where / "npu" / "build")
check("needs the MCUXpresso SDK" in build(where / "npu", fails=True), "no SDK")
shutil.rmtree(where / "npu" / "build")
check("has no devices/RT/RT700/MIMXRT798S/" in build(where / "npu", f"-DMCUX_SDK={where}", fails=True), "another folder")

# A payload of the vendor's is one without our tag behind the magic word: the project links the two libraries that the SDK has in its place for
# them. Here the driver is our own objects.
program = (where / "npu.pte").read_bytes()
ours = bytes.fromhex("6e4d4364444e4d01")  # npu/neutron/machine/microcode.h
check(program.count(ours) == 1, "the microcode's first words")
(where / "vendor.pte").write_bytes(program.replace(ours, ours[:4] + bytes(4)))
tool("firmware", where / "vendor.pte", "--board", BOARD, "-o", where / "vendor")
check("libNeutronDriver.a: -DNEUTRON_DRIVER=" in build(where / "vendor", f"-DMCUX_SDK={sdk}", fails=True), "no vendor's library")
objects = [o for folder in ("npu/neutron/machine", "npu/neutron/kernels", "kernels") for o in (BUILD / "boards/mps2-an505" / folder).rglob("*.o")]
libraries = sdk / "middleware/eiq/neutron/rt700/cm33"
libraries.mkdir(parents=True)
for library, members in (("Driver", objects), ("Firmware", objects[:1])):  # q: many of them have one name
    subprocess.run(["arm-none-eabi-ar", "qcs", str(libraries / f"libNeutron{library}.a"), *map(str, members)], check=True)
shutil.rmtree(where / "vendor" / "build")
check_memories(build(where / "vendor", f"-DMCUX_SDK={sdk}"), len(program), planned_of(where / "vendor"), True, "vendor")

# The same project, linked for the memories of an emulated Cortex-M33, prints what the host computes: start-up, copies, ports.
for name in ("npu", "fetched", "cpu"):
    script = where / name / SCRIPT
    text = script.read_text()
    for region, origin, length in (("HEADER (r)", 0x103FE000, "8K"), ("CODE (rx)", 0x10000000, "4088K"), ("RAM (rwx)", 0x38000000, "1536K"),
                                   ("POOL (rw)", 0x80000000, "3584K")):
        text, changed = re.subn(rf"{re.escape(region)} : ORIGIN = \S+, LENGTH = \S+", f"{region} : ORIGIN = {origin:#x}, LENGTH = {length}", text)
        check(changed == 1, f"{region} of {SCRIPT}")
    script.write_text(text)
    shutil.rmtree(where / name / "build")
    command = ["qemu-system-arm", "-M", "mps2-an505", "-kernel", str(build(where / name, f"-DMCUX_SDK={sdk}")), "-nodefaults", "-no-user-config",
               "-display", "none", "-monitor", "none", "-serial", "null", "-parallel", "null", "-semihosting-config", "enable=on,target=native"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
    except subprocess.TimeoutExpired as hung:
        sys.exit(f"{name} does not end: {hung.stdout} {hung.stderr}")
    said = (done.stdout + done.stderr).replace("\r", "")
    check(f"@firmware {BOARD}\n" in said and said.count("as on the host") == 1 and "NOT" not in said and "@end 0\n" in said, f"{name}: {said}")
    check(re.search(r"^@stack [1-9]\d* of 65536$", said, re.M), f"{name}: {said}")

# The SDK itself.
real = os.environ.get("MCUX_SDK")
if real:
    tool("firmware", where / "npu.pte", "--board", BOARD, "-o", where / "real", "--driver", "model")
    check_memories(build(where / "real", f"-DMCUX_SDK={real}"), (where / "npu.pte").stat().st_size, planned_of(where / "real"), True, "the SDK")
print(f"firmware projects of {BOARD}{', with the SDK too' if real else ''}: {checks.verdict()}")
shutil.rmtree(where)
sys.exit(1 if checks.failed else 0)
