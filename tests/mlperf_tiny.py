# SPDX-License-Identifier: Apache-2.0
"""`deuteron firmware --as mlperf-tiny` on an emulated board, by its UART: a client of the benchmark runner's protocol gets from each model what
`deuteron run` gives on this machine.

    mlperf_tiny.py DEUTERON FIXTURES [MODEL.tflite SOUND.wav]

With a model of the streaming wake word and a sound of 16 kHz: when the board hears the word, and nothing else. Protocol: mlcommons/tiny 1afd2c9,
benchmark/runner/device_under_test.py, stream_wav_uart.py and script.py. Standard library only."""
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import wave

import checks
import wake_word
from checks import check

TOOL, MODELS = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve() / "models"
if not all(shutil.which(tool) for tool in ("arm-none-eabi-gcc", "qemu-system-arm", "cmake")) or not (MODELS / "resnet8" / "original_int8.tflite").exists():
    print("left out: MLPerf Tiny's runner (no cross compiler, no emulator, or no fixtures)")
    sys.exit(77)
where = pathlib.Path(tempfile.mkdtemp(prefix="deuteron_mlperf_tiny_"))
SAMPLES, CHUNK = 2, 31  # bytes of a command, as the runner has them

# The board of mps2-an386: the UART of Arm's CMSDK (DDI 0479, 4.3), its interrupt 0, and the counter of the FPGA's input and output (DAI 0386), of
# 25 MHz. It sleeps until a byte is there: a loop that asks the UART takes QEMU's one lock again and again, and beside other work the thread that
# brings the bytes hardly gets it. And it reads the UART once after switching its receiver on: QEMU 7.2 looks at the line again after a read, not
# after that switch (hw/char/cmsdk-apb-uart.c).
BOARD = """
#define UART ((volatile uint32_t *)0x40004000)
#define COUNTER (*(volatile uint32_t *)0x40028018)
int mlperf_tiny_get(void) {
  if (!(UART[1] & 2) && !HEARS) {
    __asm volatile("wfi");
    UART[3] = 2;
    *(volatile uint32_t *)0xe000e280 = 1; /* the interrupt waits no more */
  }
  return UART[1] & 2 ? (int)(UART[0] & 255) : -1;
}
void mlperf_tiny_put(char byte) { while (UART[1] & 1) {} UART[0] = (unsigned char)byte; }
uint32_t mlperf_tiny_microseconds(void) { return COUNTER / 25; }
extern uint32_t bss_begin, bss_end;
int main(void) {
  for (uint32_t *p = &bss_begin; p < &bss_end; p++) *p = 0;
  *(volatile uint32_t *)0xe000ed88 |= 15u << 20; /* the floating-point unit */
  UART[4] = 16;
  UART[2] = 11;
  (void)UART[0];
  *(volatile uint32_t *)0xe000e100 = 1;
  __asm volatile("cpsid i"); /* wakes, and is not served */
  mlperf_tiny_serve();
}
__attribute__((section(".vectors"), used)) const void *const vectors[] = {(void *)0x20400000, main};
"""
# What the board of the streaming wake word has besides: the sound comes from memory, and at its end a star for each time that the word was heard.
HEARS = """#define SAMPLES (sizeof(sound) / sizeof(*sound))
#define HEARS (at + 512 <= SAMPLES)
static const int16_t sound[] = {%s};
static uint32_t at = SAMPLES, lows;
void mlperf_tiny_set_pin(enum mlperf_tiny_pin pin, int level) { lows += pin == mlperf_tiny_detected && !level; }
void mlperf_tiny_listen(int on) {
  if (on) at = lows = 0;
  else for (at = SAMPLES; lows > 0; lows--) mlperf_tiny_put('*');
}
const int16_t *mlperf_tiny_heard(void) { return HEARS ? sound + (at += 512) - 512 : 0; }
"""
LAYOUT = """ENTRY(main)
SECTIONS {
  .text 0 : { KEEP(*(.vectors)) . = 0x200; *(.text*) *(.rodata*) *(.data*) }
  .bss 0x20000000 : { bss_begin = .; *(.bss*) *(COMMON) . = ALIGN(4); bss_end = .; }
  /DISCARD/ : { *(.ARM.exidx*) *(.ARM.extab*) *(.comment*) }
}
"""
LISTS = """cmake_minimum_required(VERSION 3.16)
project(board LANGUAGES C CXX ASM)
add_subdirectory(model)
add_executable(board board.c)
target_compile_options(board PRIVATE -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=auto -Os -ffreestanding)
target_link_options(board PRIVATE -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=auto -nostartfiles -Wl,--gc-sections -T${CMAKE_SOURCE_DIR}/layout.ld)
target_link_libraries(board mlperf_tiny)
"""


def run(*command, environment=None):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=where, timeout=600, env=environment)
    if done.returncode:
        sys.exit(f"FAILED {' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-3000:]}kept: {where}")
    return done.stdout + done.stderr


def floats(data):
    return list(struct.unpack(f"<{len(data) // 4}f", data))


def array(file):
    data = file.read_bytes()
    return floats(data[10 + int.from_bytes(data[8:10], "little"):])


def channels_last(values, channels):
    each = len(values) // channels
    return [values[c * each + k] for k in range(each) for c in range(channels)]


def clamped(v, low, high):
    return max(low, min(high, v))


# Name of the fixture, of the benchmark, channels, and what becomes of the float input: what the runner sends, and the number that it stands for.
BENCHMARKS = [("resnet8", "ic01", 3, lambda v: ((p := clamped(round(v), 0, 255)), float(p))),
              ("mobilenet_v1_025_vww", "vww01", 3, lambda v: ((p := clamped(round(255 * v), 0, 255)), p / 255)),
              ("dscnn_kws", "kws01", 1, lambda v: ((s := clamped(round(v / 0.5847029) + 83, -128, 127)), 0.5847029 * (s - 83))),
              ("autoencoder_ad", "ad01", 1, None)]


class Device:
    """A board and its UART. What does not answer, or does not take what is sent, for a minute has failed."""

    def __init__(self, image):
        self.line, other = socket.socketpair()
        self.line.settimeout(60)
        self.process = subprocess.Popen(["qemu-system-arm", "-M", "mps2-an386", "-nodefaults", "-no-user-config", "-display", "none", "-monitor", "none",
                                         "-chardev", f"socket,id=uart,fd={other.fileno()}", "-serial", "chardev:uart", "-kernel", str(image)],
                                        stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=[other.fileno()])
        other.close()
        self.text = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.line.close()
        self.process.kill()
        self.process.wait()

    def until_ready(self):
        while "m-ready\r\n" not in self.text:
            data = self.line.recv(4096)
            if not data:
                sys.exit(f"FAILED: QEMU has ended after {self.text!r}; kept: {where}")
            self.text += data.decode("latin-1")
        answer, _, self.text = self.text.partition("m-ready\r\n")
        return answer.split("\r\n")[:-1]

    def ask(self, command):
        self.line.sendall((command + "%").encode())
        return self.until_ready()


def build(name, program, has="#define HEARS 0\n"):
    run(TOOL, "firmware", program, "--as", "mlperf-tiny", "--board", "mps2-an386", "--force", "-o", where / name / "model")
    for file, text in (("board.c", '#include "mlperf_tiny.h"\n' + has + BOARD), ("layout.ld", LAYOUT), ("CMakeLists.txt", LISTS)):
        (where / name / file).write_text(text)
    run("cmake", "-S", where / name, "-B", where / name / "build", "-DCMAKE_SYSTEM_NAME=Generic", "-DCMAKE_C_COMPILER=arm-none-eabi-gcc",
        "-DCMAKE_CXX_COMPILER=arm-none-eabi-g++", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY",
        *[f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX") if shutil.which("ccache")])
    same = {**os.environ, "CCACHE_BASEDIR": str(where / name), "CCACHE_NOHASHDIR": "1"}  # the projects have most files in common
    run("cmake", "--build", where / name / "build", environment=same)
    return where / name / "build" / "board"


def expected(name, program, numbers):
    """As the runner prints it: three decimals."""
    (where / "x.bin").write_bytes(struct.pack(f"<{len(numbers)}f", *numbers))
    run(TOOL, "run", program, "--input", where / "x.bin", "--output-dir", where / "out")
    output = array(where / "out" / "output0.npy")
    if name == "autoencoder_ad":
        return [sum((y - x) ** 2 for x, y in zip(numbers, output)) / len(output)]
    return output


def load(device, data):
    size = device.ask(f"db load {len(data)}")
    for at in range(0, len(data), CHUNK):
        answer = device.ask("db " + data[at:at + CHUNK].hex())
    check(size == [f"m-[Expecting {len(data)} bytes]"] and answer == ["m-load-done"], f"db load: {size} {answer}")


def runs(name, version, channels, to_bytes):
    (where / name).mkdir()
    program, in_floats = where / f"{name}.pte", where / f"{name}.float.pte"
    model = MODELS / name / "original_int8.tflite"
    run(TOOL, "compile", model, "--target", "cortex-m4", "-o", program)
    run(TOOL, "compile", model, "--target", "cortex-m4", "--io", "float", "-o", in_floats)
    inputs = sorted((MODELS / name / "inputs").iterdir())[:SAMPLES]
    with Device(build(name, program)) as device:
        hello = device.until_ready()
        check(hello == ["m-timestamp-mode-performance", "m-init-done"], f"{name} says {hello}")
        named = device.ask("name")
        check(named == ["m-name-dut-[unspecified]"], f"{name}: name says {named}")
        profile = device.ask("profile")
        check(profile[1:] == [f"m-model-[{version}]"], f"{name}: profile says {profile}")
        check(device.ask("fly") == ["e-[Unknown command: fly]"], "an unknown command")
        check(device.ask("infer 1 0")[0].startswith("e-["), "an inference without data")
        for file in inputs:
            values = channels_last(floats(file.read_bytes()), channels)
            sent = [to_bytes(v) for v in values] if to_bytes else []
            data = bytes(b & 255 for b, _ in sent) if to_bytes else struct.pack(f"<{len(values)}f", *values)
            load(device, data)
            answer = device.ask("infer 2 1")
            wanted = expected(name, in_floats, [n for _, n in sent] if to_bytes else values)
            check(answer[0] == "m-warmup-start-1" and answer[1] == "m-warmup-done" and answer[2] == "m-infer-start-2"
                  and answer[5] == "m-infer-done", f"{name}: {answer}")
            laps = [int(re.fullmatch(r"m-lap-us-(\d+)", line)[1]) for line in answer[3:5]]
            found = [float(v) for v in re.fullmatch(r"m-results-\[([\d.,]+)\]", answer[6])[1].split(",")]
            check(laps[1] > laps[0] and len(found) == len(wanted) and all(abs(a - b) <= 0.0006 for a, b in zip(found, wanted)),
                  f"{name}, {file.name}: {found}, expected {wanted}, between {laps} us")
            check(device.ask("results") == answer[6:7], "results are not the same when they are asked for again")


def array_after(name, lines):
    """As stream_wav_uart.py and the runner find it."""
    return [int(v) for v in re.search(re.escape(name) + r"\s*\[([^\]]+)\]", "".join(lines))[1].split(",")]


def features_by_line(device, sound):
    """The board's features of each 32 ms, the model's answers, and how many of the features could be one number alone."""
    features, answers, sharp, before = [], [], 0, 0
    window = [0] * 1024
    for at in range(0, len(sound), 512):
        before, window = window[511], window[512:] + sound[at:at + 512]
        data = struct.pack("<512h", *window[512:])
        device.ask("db load 1024")
        said = [device.ask("db " + data[k:k + 512].hex()) for k in (0, 512)]
        check(said[0][1:] == ["512 bytes received"] and said[1][1:] == ["m-load-done"], f"db says {said}")
        lines = device.ask("extract_uart_stream")
        check(lines[0] == "Received command: extract_uart_stream", f"the echo is {lines[0]}")
        features.append(array_after("m-features-", lines))
        answers.append(array_after("m-activations-", lines))
        allowed = wake_word.allowed_steps(window, before)
        sharp += sum(low == high for low, high in allowed)
        check(len(features[-1]) == 40 and all(low <= v <= high for v, (low, high) in zip(features[-1], allowed)),
              f"features of chunk {at // 512}: {list(zip(features[-1], allowed))}")
    return features, answers, sharp


def answers_here(program, rows):
    """What this machine answers to each row of numbers, in the output's steps."""
    folder = where / "rows"
    folder.mkdir(exist_ok=True)
    for k, row in enumerate(rows):
        (folder / f"{k:03d}.bin").write_bytes(struct.pack(f"<{len(row)}f", *row))
    run(TOOL, "run", program, "--input", folder, "--output-dir", where / "out")
    values = [round(256 * v) - 128 for v in array(where / "out" / "output0.npy")]
    return [values[k:k + 3] for k in range(0, len(values), 3)]


def hears(name, *options):
    """The window as a whole, or 32 ms a step."""
    model, program, in_floats = where / "sww.tflite", where / f"{name}.pte", where / f"{name}.float.pte"
    (where / name).mkdir()
    wake_word.made_model(model)
    run(TOOL, "compile", model, "--target", "cortex-m4", *options, "-o", program)
    run(TOOL, "compile", model, "--target", "cortex-m4", "--io", "float", *options, "-o", in_floats)
    sound = wake_word.sound(36)
    with Device(build(name, program, HEARS % ",".join(map(str, sound)))) as device:
        check(device.ask("profile")[2] == "m-model-[sww01]", "another benchmark")
        check(device.ask("extract_uart_stream")[1].startswith("e-["), "features without audio")
        features, answers, sharp = features_by_line(device, sound)
        numbers = [[(v - wake_word.ZERO) * wake_word.STEP for v in row] for row in features]
        held = [-wake_word.ZERO * wake_word.STEP] * 1200
        wanted = answers_here(in_floats, numbers if options else [held := held[40:] + row for row in numbers])
        check(answers == wanted, f"{name} answers {answers}, on the host {wanted}")
        device.ask("start")
        check(device.ask("start")[1].startswith("It listens already"), "begun twice")
        time.sleep(0.5)
        lines = device.ask("stop")
        found = array_after("target activations:", lines)
        count, pulses = len(found), lines[1].count("*")
        check(pulses == 1 + sum(v > 115 for v in found[1:]), f"{pulses} pulses for {found}")
        check(sharp > len(features) * 20, f"{sharp} features alone can be one number only")
        check(0 < count <= len(answers) and found == [a[0] for a in answers[:count]], f"heard {found}, by the line {answers}")
    print(f"{name}: {40 * len(features)} features, {sharp} of which can be one number alone; {count} steps of audio, {pulses} detections")


def listen(model, file):
    """A model and a sound of the user's own: the second of each detection."""
    with wave.open(str(file)) as w:
        check((w.getframerate(), w.getsampwidth()) == (16000, 2), f"{file} has {w.getparams()}")
        sound = struct.unpack(f"<{w.getnframes() * w.getnchannels()}h", w.readframes(w.getnframes()))[::w.getnchannels()]
    (where / "listen").mkdir()
    run(TOOL, "compile", model, "--target", "cortex-m4", "-o", where / "listen.pte")
    with Device(build("listen", where / "listen.pte", HEARS % ",".join(map(str, sound)))) as device:
        device.ask("start")
        time.sleep(10)
        found = array_after("target activations:", device.ask("stop"))
    check(len(found) == len(sound) // 512, f"{len(found)} steps of {len(sound) // 512}")
    heard = [k for k, v in enumerate(found) if v > 115]
    print("heard at " + ", ".join(f"{0.032 * (k + 1):.2f} s" for k in heard if k - 1 not in heard))


if len(sys.argv) == 5:
    listen(*sys.argv[3:])
    print(checks.verdict())
    checks.leave(1 if checks.failed else 0, where)
hears("wake_word")
hears("wake_word_by_frame", "--stream", "1")
for benchmark in BENCHMARKS:
    runs(*benchmark)
print(f"{len(BENCHMARKS)} more benchmarks, {SAMPLES} samples each, by the runner's protocol")
print(checks.verdict())
checks.leave(1 if checks.failed else 0, where)
