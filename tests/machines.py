# SPDX-License-Identifier: Apache-2.0
"""QEMU's models of chips behind its GDB server and behind a UART, lines between them and the tool that lose, double and flip bytes, and the tool itself.
For tests and tables whose first two arguments are the tool and the sources. Standard library only."""
import os
import pathlib
import pty
import random
import re
import select
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import tty

from checks import check

TOOL, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
where = pathlib.Path(tempfile.mkdtemp(prefix="deuteron_gdb_"))


# Firmware of the chip's own, which a run must leave running: a loop. Vectors, then `b .`.
def firmware(at):
    file = where / f"firmware_{at:x}.bin"
    file.write_bytes(struct.pack("<II", 0x20000400, at + 0x41) + bytes(56) + struct.pack("<H", 0xE7FE) * 8)
    return file


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Machine:
    """QEMU with its GDB server; `at`: where its firmware begins; an instruction takes 2^shift nanoseconds."""

    def __init__(self, name, at=0, shift=0):
        self.port, self.at = free_port(), at
        load = ["-kernel", firmware(at)] if at == 0 else ["-device", f"loader,file={firmware(at)},addr={at:#x}"]
        self.process = subprocess.Popen(["qemu-system-arm", "-M", name, "-nodefaults", "-no-user-config", "-display", "none", "-monitor", "none",
                                         "-serial", "null", "-parallel", "null", "-icount", f"shift={shift},sleep=off",
                                         "-gdb", f"tcp:127.0.0.1:{self.port}", *map(str, load)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(200):
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", self.port)) == 0:
                    s.sendall(b"$D#44")
                    time.sleep(0.05)
                    return
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def runs_firmware(self):
        """Whether it does within some seconds: beside other work the emulator may take a while to go on."""
        for _ in range(20):
            if self.is_in_firmware():
                return True
            time.sleep(0.2)
        return False

    def is_in_firmware(self):
        """By another client: where it is."""
        def ask(s, packet):
            s.sendall(b"$" + packet + b"#%02x" % (sum(packet) % 256))
            text = b""
            while b"+$" not in text or b"#" not in text[text.index(b"+$"):-2]:  # what comes before was not asked for
                text += s.recv(4096)
            s.sendall(b"+")
            return text[text.index(b"+$") + 2:text.index(b"#", text.index(b"+$"))]

        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as s:
            pcs = []
            ask(s, b"?")
            registers = ask(s, b"g")
            pcs.append(struct.unpack("<I", bytes.fromhex(registers[120:128].decode()))[0])
            ask(s, b"D")
        return all(self.at + 0x40 <= pc < self.at + 0x50 for pc in pcs)


def run(*command, code=0, seconds=60):
    """What it prints; one diagnostic where it must fail."""
    begin = time.monotonic()
    done = subprocess.run([str(c) for c in (TOOL, *command)], capture_output=True, text=True, timeout=seconds)
    text = done.stdout + done.stderr
    check(done.returncode == code, f"{' '.join(map(str, command))}: exit {done.returncode}, must be {code}\n{text[-2000:]}")
    if code == 1:
        check(text.count(": error: ") == 1, f"{' '.join(map(str, command))}: not one diagnostic\n{text[-2000:]}")
    return text, time.monotonic() - begin


class Model:
    def __init__(self, name, path, samples, *options):
        self.name, self.path, self.samples, self.options = name, path, samples, options
        self.programs = {}

    def program(self, target):
        """Compiled once, with the outputs of the host."""
        if target not in self.programs:
            file, folder = where / f"{self.name}.{target}.pte", where / f"{self.name}.{target}.host"
            run("compile", self.path, "--target", target, *self.options, "-o", file)
            run("run", file, "--input", self.samples, "-o", folder)
            self.programs[target] = (file, outputs(folder))
        return self.programs[target]


def outputs(folder):
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def first_samples(path, count, to):
    data = path.read_bytes()
    length = int.from_bytes(data[8:10], "little") + 10
    header = data[10:length].decode()
    shape = tuple(int(n) for n in header[header.index("(") + 1:header.index(")")].split(",") if n.strip())
    each = 4
    for extent in shape[1:]:
        each *= extent
    own = header.replace(header[header.index("("):header.index(")") + 1], str((count, *shape[1:]))).rstrip("\n ")
    own += " " * (len(header) - 1 - len(own)) + "\n"
    to.write_bytes(data[:8] + len(own).to_bytes(2, "little") + own.encode() + data[length:length + count * each])
    return to


class Line:
    """Between the tool and the server. `change(byte, number)` gives what becomes of a byte of either way, None: from here on silence;
    or raises ConnectionError."""

    def __init__(self, port, change):
        self.change, self.count, self.lock = change, 0, threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.to = port
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        client, _ = self.listener.accept()
        server = socket.create_connection(("127.0.0.1", self.to))
        for s in (client, server):
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        pipes = [threading.Thread(target=self.pipe, args=a, daemon=True) for a in ((client, server), (server, client))]
        for p in pipes:
            p.start()
        pipes[0].join()
        for s in (client, server):
            s.close()

    def pipe(self, source, to):
        try:
            while data := source.recv(65536):
                out = bytearray()
                for byte in data:
                    with self.lock:
                        self.count += 1
                        changed = self.change(byte, self.count)
                    if changed is None:
                        break
                    out += changed
                to.sendall(out)
        except OSError:
            pass
        for s in (source, to):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class CachedCore:
    """Between the tool and a server: a core whose caches are modelled by their registers (Armv7-M ARM, DDI 0403E, B3.2 and B4.8), which QEMU's M7 does
    not have. Data: 4 ways of 64 lines of 32 bytes. All else goes on to the server."""
    CCR, CLIDR, CCSIDR, CSSELR, ICIALLU, DCISW = 0xe000ed14, 0xe000ed78, 0xe000ed80, 0xe000ed84, 0xe000ef50, 0xe000ef60
    WAYS, SETS, DATA_ON, CODE_ON = 4, 64, 1 << 16, 1 << 17

    def __init__(self, port, ccr):
        self.words = {self.CCR: ccr, self.CLIDR: 0x09000003, self.CCSIDR: self.SETS - 1 << 13 | self.WAYS - 1 << 3 | 1, self.CSSELR: 0}
        self.written, self.to = [], port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def answer(self, packet):
        """None: it is the server's."""
        if not (m := re.fullmatch(rb"([mM])([0-9a-f]+),4(?::([0-9a-f]{8}))?", packet)) or int(m[2], 16) not in (*self.words, self.ICIALLU, self.DCISW):
            return None
        register = int(m[2], 16)
        if m[1] == b"m":
            return struct.pack("<I", self.words[register]).hex().encode()
        self.written.append((register, struct.unpack("<I", bytes.fromhex(m[3].decode()))[0]))
        self.words[register] = self.written[-1][1]
        return b"OK"

    def serve(self):
        client, _ = self.listener.accept()
        server = socket.create_connection(("127.0.0.1", self.to))
        for s in (client, server):
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=self.forward, args=(server, client), daemon=True).start()
        text = b""
        while data := client.recv(65536):
            text += data
            while m := re.match(rb"([^$]*)(?:\$([^#]*)#..)?", text, re.S):
                if not m[0]:
                    break
                text = text[m.end():]
                reply = self.answer(m[2]) if m[2] is not None else None
                if reply is None:
                    server.sendall(m[0])
                else:
                    client.sendall(b"+$" + reply + b"#%02x" % (sum(reply) % 256))
        server.shutdown(socket.SHUT_RDWR)

    def forward(self, server, client):
        try:
            while data := server.recv(65536):
                client.sendall(data)
        except OSError:
            pass


def noisy(seed, one_in):
    rng = random.Random(seed)

    def change(byte, _):
        if rng.random() * one_in >= 1:
            return bytes([byte])
        return rng.choice([b"", bytes([byte, byte]), bytes([byte ^ 1 << rng.randrange(8)])])
    return change


def pulled(at):
    return lambda byte, number: bytes([byte]) if number < at else None


AGENT = """%(program)s
#include "deuteron_agent.h"
#include "deuteron_agent_uart.h"
#define UART ((volatile uint32_t *)%(uart)s)
#define NVIC ((volatile uint32_t *)0xe000e100 + %(interrupt)d / 32) /* enables; 32 words on: disables, 96 on: pends no more */
#define BIT (1u << %(interrupt)d %% 32)
int deuteron_agent_get(void) {
  int c = deuteron_uart_get_%(kind)s(%(uart)s);
  if (c >= 0 || %(polls)d) return c;
  __asm volatile("cpsid i");
  NVIC[0] = BIT;
  __asm volatile("wfi");
  %(woken)s
  NVIC[32] = BIT;
  NVIC[96] = BIT;
  __asm volatile("cpsie i");
  return deuteron_uart_get_%(kind)s(%(uart)s);
}
void deuteron_agent_put(unsigned char c) { deuteron_uart_put_%(kind)s(%(uart)s, c); }
extern uint32_t bss_begin, bss_end;
int main(void) {
  for (uint32_t *p = &bss_begin; p < &bss_end; p++) *p = 0;
  %(begin)s
  deuteron_agent_serve();
  return 0;
}
__attribute__((section(".vectors"), used)) const void *const vectors[] = {(void *)%(ram_end)s, main};
"""
LAYOUT = """ENTRY(main)
SECTIONS {
  .text 0 : { KEEP(*(.vectors)) . = 0x200; *(.text*) *(.rodata*) }
  .bss %(bss)s : { bss_begin = .; *(.bss*) *(COMMON) . = ALIGN(4); bss_end = .; }
  /DISCARD/ : { *(.ARM.exidx*) *(.comment*) }
}
"""
# UARTs of boards/agent/deuteron_agent_uart.h: how they are switched on, and what wakes a core that sleeps until a byte is there
# (tests/mlperf_tiny.py says why). CMSDK's is read once after it is switched on.
def uart(kind, base, begin, interrupt=0, woken="", polls=0, ram_end=0x20020000):
    return {"kind": kind, "uart": base, "begin": begin, "interrupt": interrupt, "woken": woken, "polls": polls, "ram_end": ram_end, "bss": ram_end - 0x1000}


CMSDK = uart("cmsdk", "0x40004000", "UART[4] = 16; UART[2] = 11; (void)UART[0];", woken="UART[3] = 2;")
UARTS = {
    "netduinoplus2": uart("stm32_1", "0x40011000", "UART[3] = 0x202c;", interrupt=37),
    "mps2-an385": CMSDK, "mps2-an386": CMSDK,
    "lm3s6965evb": uart("pl011", "0x4000c000", "UART[12] = 0x301;", polls=1, ram_end=0x20010000),
    "microbit": uart("nrf", "0x40002000", "UART[320] = 4; UART[0] = 1; UART[2] = 1;", polls=1, ram_end=0x20004000),
}


PROGRAM = """extern const char program[];
#define DEUTERON_AGENT_PROGRAM program
__asm__(".section .rodata.program,\\"a\\"\\n.balign 16\\n.global program\\nprogram: .incbin \\"%s\\"\\n.text");
"""


def build_agent(name, core, program=None):
    """The image, of firmware with that program, and what `size` prints of the agent: text, data, bss."""
    layout, source, image, part = where / "layout.ld", where / f"{name}.c", where / f"{name}.elf", where / f"{name}.o"
    layout.write_text(LAYOUT % UARTS[name])
    source.write_text(AGENT % {**UARTS[name], "program": PROGRAM % program if program else ""})
    compiler = ["arm-none-eabi-gcc", f"-mcpu={core}", "-mthumb", "-Os", "-ffreestanding", "-fno-tree-loop-distribute-patterns", "-std=c99", "-Wall",
                "-Wextra", "-Werror", f"-I{SOURCE / 'boards' / 'agent'}"]
    subprocess.run([*compiler, "-c", source, "-o", part], check=True)
    subprocess.run([*compiler, part, "-nostdlib", "-nostartfiles", "-lgcc", "-T", layout, "-o", image], check=True)
    return image, subprocess.run(["arm-none-eabi-size", part], capture_output=True, text=True, check=True).stdout.split("\n")[1].split()


class Serial:
    """QEMU with a UART, and what is at its other end."""

    def __init__(self, name, image):
        self.process = subprocess.Popen(["qemu-system-arm", "-M", name, "-nodefaults", "-no-user-config", "-display", "none", "-monitor", "none",
                                         "-serial", "pty", "-kernel", str(image)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        while line := self.process.stdout.readline():
            if "redirected to" in line:
                self.device = line.split("redirected to ")[1].split()[0]
                return

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


class SerialLine:
    """The same between the tool and a serial port."""

    def __init__(self, device, change):
        self.change, self.count, self.lock, self.ends = change, 0, threading.Lock(), False
        self.board = os.open(device, os.O_RDWR | os.O_NOCTTY)
        self.master, self.slave = pty.openpty()
        for terminal in (self.board, self.slave):
            tty.setraw(terminal)
        self.device = os.ttyname(self.slave)
        self.pipes = [threading.Thread(target=self.pipe, args=a, daemon=True) for a in ((self.board, self.master), (self.master, self.board))]
        for p in self.pipes:
            p.start()

    def pipe(self, source, to):
        while not self.ends:
            if not select.select([source], [], [], 0.1)[0]:
                continue
            out = bytearray()
            for byte in os.read(source, 4096):
                with self.lock:
                    self.count += 1
                    changed = self.change(byte, self.count)
                if changed is None:
                    return
                out += changed
            while out:
                del out[:os.write(to, out)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ends = True
        for p in self.pipes:
            p.join()
        for file in (self.board, self.master, self.slave):
            os.close(file)
