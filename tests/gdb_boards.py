# SPDX-License-Identifier: Apache-2.0
"""--on gdb: and --on serial: on QEMU's models of real chips, by its GDB server, and by firmware with deuteron_agent.h: the host's bits, the same counts
as on an emulated board, and one diagnostic for whatever goes wrong on the way. bench/own_board.py does so with every fixture.

    gdb_boards.py DEUTERON SOURCE_DIR FIXTURES [--pulls N] [--faults N]

Without FIXTURES only the model that the repository carries is run. --pulls and --faults: how often the cable is pulled and how many lines are
noisy; the defaults take seconds. Standard library only."""
import argparse
import json
import os
import pathlib
import pty
import random
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback
import tty

import checks
from checks import check
from machines import (CachedCore, Line, Machine, Model, SOURCE, Serial, SerialLine, TOOL, build_agent, first_samples, free_port, noisy, outputs, pulled,
                      run, where)

arguments = argparse.ArgumentParser()
arguments.add_argument("tool")
arguments.add_argument("source")
arguments.add_argument("fixtures", nargs="?", default="")
arguments.add_argument("--pulls", type=int, default=1)
arguments.add_argument("--faults", type=int, default=2)
given = arguments.parse_args()
FIXTURES = pathlib.Path(given.fixtures)
if not shutil.which("qemu-system-arm"):
    print("left out: boards behind a GDB server (`qemu-system-arm` is not installed)")
    sys.exit(77)

CALIBRATE = SOURCE / "models" / "digits_cnn" / "calibrate.npy"
DIGITS = Model("digits", SOURCE / "models" / "digits_cnn" / "float.pt2", first_samples(CALIBRATE, 2, where / "digits.npy"), "--calibrate", CALIBRATE)
MODELS = [DIGITS]
for name in ("hello_sine", "dscnn_kws", "digits_bmm"):
    folder = FIXTURES / "models" / name
    if given.fixtures and (folder / "qdq.pt2").exists():
        (where / name).mkdir()
        first = sorted((folder / "inputs").iterdir())[:2]
        for file in first:
            shutil.copy(file, where / name)
        MODELS.append(Model(name, folder / "qdq.pt2", where / name))

# name of QEMU, target, --memory, further options, firmware's place, which models fit, nanoseconds of a cycle (0: QEMU has no clock for SysTick)
MACHINES = [
    ("netduinoplus2", "cortex-m4", "stm32f405", [], 0, {"digits", "hello_sine"}, 1e3 / 168),
    ("netduino2", "cortex-m3", "STM32F205RF", [], 0, {"digits", "hello_sine"}, 0),
    ("lm3s6965evb", "cortex-m3", "lm3s6965", ["--flash"], 0, {"digits", "dscnn_kws"}, 0),
    ("microbit", "cortex-m0+", "nrf51822", ["--flash"], 0, {"digits", "hello_sine"}, 0),
    ("mps2-an386", "cortex-m4", "ram=0x20000000+1M,ram=0x21000000+16M", [], 0, {"dscnn_kws", "digits_bmm"}, 40),
    ("mps2-an500", "cortex-m7", "ram=0x20000000+1M", [], 0, {"dscnn_kws"}, 40),
    ("mps2-an505", "cortex-m33", "ram=0x38000000+4M", [], 0x10000000, {"digits", "dscnn_kws"}, 50),
    ("mps3-an547", "cortex-m55", "ram=0x30000000+512K", [], 0x10000000, {"digits", "dscnn_kws"}, 0),
]


def instructions(program, samples):
    report = where / "qemu.json"
    board = {"cortex-m4": "mps2-an386", "cortex-m33": "mps2-an505", "cortex-m7": "mps2-an386"}
    target = program.name.split(".")[1]
    run("run", program, "--input", samples, "-o", where / "qemu", "--on", f"qemu:{board[target]}", "--json", report)
    return json.loads(report.read_text())["instructions_by_sample"]


def on_every_machine():
    for name, target, memory, options, at, models, nanoseconds in MACHINES:
        with Machine(name, at) as machine:
            for model in MODELS:
                if model.name not in models:
                    continue
                program, expected = model.program(target)
                folder, report = where / f"{name}.{model.name}", where / "run.json"
                run("run", program, "--input", model.samples, "-o", folder, "--on", f"gdb:127.0.0.1:{machine.port}", "--memory", memory, *options,
                    "--json", report)
                check(outputs(folder) == expected, f"{name}, {model.name}: other outputs than the host's")
                cycles = json.loads(report.read_text()).get("cycles_by_sample", [0])
                if nanoseconds:
                    for found, wanted in zip(cycles, instructions(program, model.samples)):
                        check(abs(found * nanoseconds / wanted - 1) < 0.005,
                              f"{name}, {model.name}: {found} cycles of {nanoseconds} instructions, {wanted} instructions on the emulated board")
                if "--flash" not in options:
                    check(machine.runs_firmware(), f"{name}, {model.name}: its own firmware does not run afterwards")
    print(f"{sum(len(m[5] & {model.name for model in MODELS}) for m in MACHINES)} runs on {len(MACHINES)} machines")


def through_a_bad_line():
    program, expected = DIGITS.program("cortex-m4")
    memory = ["--memory", "ram=0x20000000+128K"]
    with Machine("netduinoplus2") as machine:
        def once(port, code=None):
            folder = where / "noisy"
            shutil.rmtree(folder, ignore_errors=True)
            begin = time.monotonic()
            done = subprocess.run([str(c) for c in (TOOL, "run", program, "--input", DIGITS.samples, "-o", folder, "--on", f"gdb:127.0.0.1:{port}", *memory)],
                                  capture_output=True, text=True, timeout=120)
            text = done.stdout + done.stderr
            if done.returncode == 0:
                check(outputs(folder) == expected, f"a bad line gives other outputs\n{text}")
            else:
                check(done.returncode == 1 and text.count(": error: ") == 1, f"a bad line: exit {done.returncode}\n{text}")
            check(code is None or done.returncode == code, f"exit {done.returncode}, must be {code}\n{text}")
            return done.returncode, time.monotonic() - begin, text

        line = Line(machine.port, lambda byte, _: bytes([byte]))
        once(line.port, 0)
        total, good = line.count, 0
        for seed in range(given.faults):
            good += once(Line(machine.port, noisy(seed, 10000)).port)[0] == 0
        once(machine.port, 0)
        print(f"{good} of {given.faults} runs over a line that spoils a byte in 10000 gave the result, the others one diagnostic")
        rng, slowest = random.Random(1), 0
        for _ in range(given.pulls):
            _, seconds, text = once(Line(machine.port, pulled(rng.randrange(1, total))).port)
            slowest = max(slowest, seconds)
            check(seconds < 12, f"a pulled cable is noticed after {seconds:.1f} s\n{text}")
            once(machine.port, 0)
        print(f"{given.pulls} pulled cables: one diagnostic each, the slowest after {slowest:.1f} s, and the next run works")

        def dies(byte, number):
            if number == total // 2:
                raise ConnectionError
            return bytes([byte])
        _, _, text = once(Line(machine.port, dies).port, 1)
        check("[gdb.lost]" in text, text)
        once(machine.port, 0)
        check(machine.runs_firmware(), "its own firmware does not run afterwards")


def what_is_refused():
    m4, _ = DIGITS.program("cortex-m4")
    m3, _ = DIGITS.program("cortex-m3")
    common = ["--input", DIGITS.samples, "-o", where / "refused", "--on"]
    with Machine("netduino2") as machine:
        on = f"gdb:127.0.0.1:{machine.port}"
        for program, memory, words in (
                (m4, "ram=0x20000000+128K", ["Cortex-M3 r", "for the instruction set dsp", "--target cortex-m3", "[gdb.core]"]),
                (m3, "ram=0x20000000+16K", ["does not fit into RAM", "bytes are missing", "[gdb.memory]"]),
                (m3, "ram=0x20000000+1M", ["at 0x200", "is there memory (`--memory`)", "[gdb.read]"]),
                (m3, "ram=0x20000000+92K", ["does not fit into the board's memory", "bytes are missing", "[board.memory]"])):
            text, _ = run("run", program, *common, on, "--memory", memory, code=1)
            check(all(word in text for word in words), f"{words}\n{text}")
            check(machine.runs_firmware(), f"{words}: its own firmware does not run afterwards")
        # What is broken off, in whatever it does, lets the firmware run again.
        for number, after, verb in ((signal.SIGINT, 0.3, ["run", m3, "--input", CALIBRATE, "-o", where / "refused"]),
                                    (signal.SIGTERM, 3, ["calibrate-target", "--target", "cortex-m3", "-o", where / "broken_off.toml"])):
            stopped = subprocess.Popen([str(c) for c in (TOOL, *verb, "--on", on, "--memory", "ram=0x20000000+128K")], stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, text=True)
            time.sleep(after)
            stopped.send_signal(number)
            text = stopped.communicate(timeout=20)[0]
            check(stopped.returncode in (0, 128 + number, -number) and ": error: " not in text, f"{verb[0]}, broken off: exit {stopped.returncode}\n{text}")
            check(machine.runs_firmware(), f"{verb[0]}, broken off: its own firmware does not run")
    # No GDB server: one that says something else, one that ends the connection, one that says nothing.
    for answer, rule, seconds in ((b"HTTP/1.0 400 Bad Request\r\n\r\n", "says `HTTP/1.0 400", 8), (None, "[gdb.lost]", 2), (b"", "[gdb.no_server]", 8)):
        listener = socket.create_server(("127.0.0.1", 0))

        def serve():
            s, _ = listener.accept()
            if answer is None:
                s.close()
                return
            s.sendall(answer)
            time.sleep(10)
        threading.Thread(target=serve, daemon=True).start()
        text, took = run("run", m4, *common, f"gdb:127.0.0.1:{listener.getsockname()[1]}", "--memory", "ram=0x20000000+128K", code=1)
        check(rule in text and took < seconds, f"{rule} after {took:.1f} s\n{text}")
    text, _ = run("run", m4, *common, f"gdb:127.0.0.1:{free_port()}", "--memory", "ram=0x20000000+128K", code=1)
    check("[gdb.connect]" in text, text)


def every_verb():
    program, _ = DIGITS.program("cortex-m4")
    with Machine("mps2-an386") as machine:
        there = ["--on", f"gdb:127.0.0.1:{machine.port}", "--memory", "ram=0x20000000+1M"]
        run("profile", program, "--input", DIGITS.samples, "-o", where / "gdb.etdp", *there)
        run("profile", program, "--input", DIGITS.samples, "-o", where / "qemu.etdp", "--on", "qemu:mps2-an386")
        names = []
        for trace in ("gdb.etdp", "qemu.etdp"):
            report = where / "trace.json"
            run("inspect", where / trace, "--json", report)
            names.append(json.dumps(json.loads(report.read_text()), sort_keys=True).count("quantized_depthwise_conv2d"))
        check(names[0] == names[1] and names[0] > 0, f"the profiles name other kernels: {names}")
        for verb in (["evaluate", program, "--inputs", DIGITS.samples, "--model", DIGITS.path],
                     ["compare", DIGITS.path, program, "--inputs", DIGITS.samples, "--calibrate", CALIBRATE]):
            here, _ = run(*verb)
            check(run(*verb, *there)[0] == here, f"{verb[0]}: says another thing than on the host\n{here}")


def with_caches():
    """What a cache holds is invalidated, each line once, before it is switched on; one that is on already is left alone."""
    program, expected = DIGITS.program("cortex-m7")
    core, before = CachedCore, 0x40200
    lines = sorted((core.DCISW, way << 30 | line << 5) for way in range(core.WAYS) for line in range(core.SETS))
    on = (core.CCR, before | core.DATA_ON | core.CODE_ON)
    with Machine("mps2-an500") as machine:
        for ccr, wanted in ((before, [(core.CSSELR, 0), *lines, (core.ICIALLU, 0), on]),
                            (before | core.DATA_ON, [(core.ICIALLU, 0), on]),
                            (before | core.DATA_ON | core.CODE_ON, [])):
            line, folder = core(machine.port, ccr), where / "cached"
            shutil.rmtree(folder, ignore_errors=True)
            text, _ = run("run", program, "--input", DIGITS.samples, "-o", folder, "--on", f"gdb:127.0.0.1:{line.port}", "--memory",
                          "ram=0x20000000+1M", "--caches", "on")
            check("Cortex-M7 r" in text and ", caches on" in text and outputs(folder) == expected, text)
            rest = len(wanted) - 2  # lines in any order
            found = line.written[:1] + sorted(line.written[1:rest]) + line.written[rest:] if rest > 1 else line.written
            check(found == wanted, f"from {ccr:#x}: {[(hex(r), hex(v)) for r, v in line.written[:4] + line.written[-3:]]}, {len(line.written)} writes")


def doctored():
    """Each option that it tries is measured too."""
    with Machine("mps2-an386") as machine:
        text, _ = run("doctor", DIGITS.path, "--target", "cortex-m4", "--calibrate", CALIBRATE, "--try", "--on", f"gdb:127.0.0.1:{machine.port}",
                      "--memory", "ram=0x20000000+1M")
        check("  measured    " in text and " measured there (" in text, text)


def monitored():
    master, slave = pty.openpty()
    timer = threading.Timer(0.5, lambda: os.write(master, b"booted\r\n"))
    timer.start()
    text, _ = run("monitor", "--on", f"serial:{os.ttyname(slave)}", "--seconds", "1.5")
    timer.join()
    check("booted" in text, text)
    text, _ = run("monitor", "--on", "serial:/dev/no_such_port", code=1)
    check("[serial.open]" in text, text)


def elf_of(pieces):
    """An ELF file for Arm that loads these (address, bytes)."""
    header = b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack("<HHIIIIIHHHHHH", 2, 40, 1, pieces[0][0], 52, 0, 0x5000000, 52, 32, len(pieces), 0, 0, 0)
    at, programs, data = 52 + 32 * len(pieces), b"", b""
    for address, content in pieces:
        programs += struct.pack("<IIIIIIII", 1, at + len(data), address, address, len(content), len(content), 5, 4)
        data += content
    return header + programs + data


def flashed():
    """Firmware in two pieces, which share a block of flash, runs in the place of the old one; what is no image is refused."""
    image = where / "fw" / "build" / "firmware.elf"
    image.parent.mkdir(parents=True)
    vectors = struct.pack("<II", 0x20000400, 0x08000041) + bytes(56)
    loop = struct.pack("<H", 0xE7FE) * 8
    image.write_bytes(elf_of([(0x08000200, b"behind a gap"), (0x08000000, vectors + loop)]))
    with Machine("netduinoplus2") as machine:
        on = ["--on", f"gdb:127.0.0.1:{machine.port}"]
        check(machine.runs_firmware(), "the old firmware does not run")
        text, _ = run("flash", where / "fw", *on)
        check("wrote 524 bytes at 0x08000000" in text and "Cortex-M4 r0p0" in text, text)
        machine.at = 0x08000000
        check(machine.runs_firmware(), "the new firmware does not run")
        image.write_bytes(elf_of([(0x30000000, vectors)]))
        text, _ = run("flash", image, *on, code=1)
        check("at 0x30000000" in text and "[gdb.read]" in text, text)
        check(machine.runs_firmware(), "after an error the firmware does not run")


def calibrated():
    """A target file from the machine's own cycles predicts networks that it was not made of."""
    chip = where / "mychip.toml"
    with Machine("mps2-an386", shift=4) as machine:
        there = ["--on", f"gdb:127.0.0.1:{machine.port}", "--memory", "ram=0x20000000+1M,ram=0x21000000+16M"]
        text, took = run("calibrate-target", "--target", "cortex-m4", *there, "-o", chip, "--json", where / "calibrated.json", seconds=250)
        check("Cortex-M4 r0p0, SysTick, code and weights in RAM" in text and took < 300, f"after {took:.0f} s\n{text}")
        kernels = {k["kernel"]: k for k in json.loads((where / "calibrated.json").read_text())["kernels"]}
        for kernel in ("deuteron::packed_conv2d@pixels", "deuteron::packed_conv2d@whole", "cortex_m::quantized_depthwise_conv2d@3x3s1"):
            check(kernels[kernel]["typical_error"] < 0.05, f"{kernels[kernel]}")
        errors = []
        for model in MODELS:
            if model.name == "hello_sine":  # the calls of 20 instructions are all its cost
                continue
            program, report = where / f"{model.name}.mychip.pte", where / "mychip.json"
            run("compile", model.path, "--target", chip, *model.options, "-o", program, "--json", report)
            cycles = json.loads(report.read_text())["cycles"]
            check(cycles["cpu_is"] == "measured on this chip", f"the cycles are {cycles['cpu_is']}")
            run("run", program, "--input", model.samples, "-o", where / "mychip", *there, "--json", report)
            measured = json.loads(report.read_text())["cycles"]
            errors.append(cycles["cpu"] / measured - 1)
            check(abs(errors[-1]) < 0.1, f"{model.name}: {cycles['cpu']} cycles predicted, {measured} measured")
        text, _ = run("calibrate-target", "--target", "cortex-m7", *there, "-o", where / "other.toml", code=1, seconds=250)
        check("is a Cortex-M4 r0p0, the target has a cortex-m7" in text and not (where / "other.toml").exists(), text)
    print(f"cycles by a calibrated target: {', '.join(f'{100 * e:+.1f} %' for e in errors)} of those measured")


def through_a_bad_serial_line(board, program, expected):
    """A zero that is lost leaves the sum of a packet as it is. After a pulled cable the next command works."""
    zeros = [0]

    def loses_zeros(byte, _):
        zeros[0] += byte == 0
        return b"" if byte == 0 and zeros[0] % 2000 == 0 else bytes([byte])
    for change, codes in ((pulled(60000), [1]), (loses_zeros, [0]), (noisy(1, 10000), [0, 1])):
        folder = where / "bad_serial"
        shutil.rmtree(folder, ignore_errors=True)
        with SerialLine(board.device, change) as line:
            done = subprocess.run([str(c) for c in (TOOL, "run", program, "--input", DIGITS.samples, "-o", folder, "--on", f"serial:{line.device}",
                                                    "--memory", "ram=0x20000000+120K")], capture_output=True, text=True, timeout=120)
        text = done.stdout + done.stderr
        check(done.returncode in codes and text.count(": error: ") == done.returncode, f"a bad serial line: exit {done.returncode}\n{text}")
        check(done.returncode == 1 or outputs(folder) == expected, f"a bad serial line gives other outputs\n{text}")
        check(codes != [1] or "[gdb.silent]" in text, text)
    print(f"a serial line that is pulled, one that loses {zeros[0] // 2000} zeros, and one that spoils a byte in 10000: exit {done.returncode}")


def answer(name, core):
    """What an agent says of itself. QEMU's nRF51 stays deaf if a byte is there before its UART is on, hence the pauses."""
    image, said = build_agent(name, core)[0], b""
    for pause in (1, 4, 16):
        with Serial(name, image) as board:
            time.sleep(pause)
            end = os.open(board.device, os.O_RDWR | os.O_NOCTTY)
            tty.setraw(end)
            os.write(end, b"$qSupported#37")
            while b"#" not in said and select.select([end], [], [], 5)[0]:
                said += os.read(end, 256)
            os.close(end)
        if said:
            break
    return said


def of_its_own(program, expected):
    """Firmware with a program: that one is not sent, which saves its RAM; of another it says so."""
    for held, kilobytes, said in ((program, 102, "program of its firmware"), (__file__, 120, "which holds another program")):
        with Serial("netduinoplus2", build_agent("netduinoplus2", "cortex-m4", held)[0]) as board:
            folder = where / "own_program"
            shutil.rmtree(folder, ignore_errors=True)
            text, _ = run("run", program, "--input", DIGITS.samples, "-o", folder, "--on", f"serial:{board.device}", "--memory", f"ram=0x20000000+{kilobytes}K")
            check(said in text and outputs(folder) == expected, text)


def by_agent():
    if not shutil.which("arm-none-eabi-gcc"):
        print("left out: firmware with deuteron_agent.h (`arm-none-eabi-gcc` is not installed)")
        return
    program, expected = DIGITS.program("cortex-m4")
    for name in ("netduinoplus2", "mps2-an386"):
        image, sizes = build_agent(name, "cortex-m4")
        check(int(sizes[0]) + int(sizes[1]) <= 3 * 1024 and int(sizes[1]) + int(sizes[2]) <= 512, f"the agent has {sizes[:3]} bytes of text, data, bss")
        with Serial(name, image) as board:
            for turn in range(2 if name == "netduinoplus2" else 1):  # the second finds the firmware begun anew
                folder = where / f"{name}.serial"
                shutil.rmtree(folder, ignore_errors=True)
                run("run", program, "--input", DIGITS.samples, "-o", folder, "--on", f"serial:{board.device}", "--memory", "ram=0x20000000+120K")
                check(outputs(folder) == expected, f"{name} by its UART, run {turn}: other outputs than the host's")
            if name == "netduinoplus2":
                for memory in ("16K", "96K"):  # too little for the runner; for the program
                    text, _ = run("run", program, "--input", DIGITS.samples, "-o", where / "refused_too", "--on", f"serial:{board.device}", "--memory",
                                  f"ram=0x20000000+{memory}", code=1)
                    check("bytes are missing" in text and "--flash" not in text, text)
                through_a_bad_serial_line(board, program, expected)
    of_its_own(program, expected)
    for name, core in (("lm3s6965evb", "cortex-m3"), ("microbit", "cortex-m0")):  # and whose registers are others
        said = answer(name, core)
        check(b"agent=" in said, f"{name}'s agent says {said}")
    print(f"the agent: {sizes[0]} bytes of flash, {sizes[2]} of RAM, with a UART of two registers; runs on two machines by their UART, and answers on two more")


def checked(part):
    """An exception of a thread fails the test too."""
    try:
        part()
    except Exception:
        check(False, f"{part.__name__}\n{traceback.format_exc()}")


for program_target in ("cortex-m4", "cortex-m3"):
    DIGITS.program(program_target)
# Half of it waits for servers that are silent.
waits = [threading.Thread(target=checked, args=(part,)) for part in (through_a_bad_line, what_is_refused, by_agent)]
for part in waits:
    part.start()
on_every_machine()
every_verb()
with_caches()
doctored()
monitored()
calibrated()
flashed()
for part in waits:
    part.join()
print(checks.verdict())
checks.leave(1 if checks.failed else 0, where)
