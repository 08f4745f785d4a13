# SPDX-License-Identifier: Apache-2.0
"""A GDB server whose answers are given: for the golden texts of what a real one answers only when something is broken.

    gdb_server.py PORT_FILE [BEGINNING=ANSWER ...]

A packet that begins so gets that answer; ANSWER may be `silence` or `close`. All others are answered as by a Cortex-M4 with 128 KB of RAM at
0x20000000 that stops, when it is let run, at 0x08000100 (`stop=ADDRESS`: elsewhere). The port is written to PORT_FILE; where that ends with
.tty, it is a terminal, for an agent behind a serial port. Ends with its client."""
import os
import pty
import socket
import sys
import time
import tty

port_file, given = sys.argv[1], [a.partition("=")[::2] for a in sys.argv[2:]]
stop_at = next((int(v, 0) for k, v in given if k == "stop"), 0x08000100)
ram, registers = bytearray(128 * 1024), {25: 1 << 24}
words = {0xE000ED00: 0x410FC241, 0xE000EF40: 0x10110021, 0xE000ED6C: 0x01111131}


def memory(address, count):
    if 0x20000000 <= address and address + count <= 0x20000000 + len(ram):
        return bytes(ram[address - 0x20000000:address - 0x20000000 + count])
    return words.get(address, 0).to_bytes(4, "little")[:count]


def answer(packet):
    for beginning, reply in given:
        if packet.startswith(beginning):
            return reply
    kind, rest = packet[0], packet[1:]
    if kind == "?":
        return "S05"
    if kind == "m":
        address, count = (int(n, 16) for n in rest.split(","))
        return memory(address, count).hex()
    if kind == "M":
        place, data = rest.split(":")
        address, count = (int(n, 16) for n in place.split(","))
        if 0x20000000 <= address and address + count <= 0x20000000 + len(ram):
            ram[address - 0x20000000:address - 0x20000000 + count] = bytes.fromhex(data)
        return "OK"
    if kind == "p":
        return registers.get(int(rest, 16), 0).to_bytes(4, "little").hex()
    if kind == "P":
        number, value = rest.split("=")
        registers[int(number, 16)] = int.from_bytes(bytes.fromhex(value), "little")
        return "OK"
    if kind == "c":
        registers[15] = stop_at
        return "S05"
    return "OK" if kind in "ZzD" else ""


class Terminal:
    def __init__(self):
        self.master, self.slave = pty.openpty()
        tty.setraw(self.slave)

    def recv(self, count):
        try:
            return os.read(self.master, count)
        except OSError:  # the other end is closed
            return b""

    def sendall(self, data):
        os.write(self.master, data)


def tell(port):
    with open(port_file + ".part", "w") as f:
        f.write(port)
    os.rename(port_file + ".part", port_file)


if port_file.endswith(".tty"):
    client = Terminal()
    tell(os.ttyname(client.slave))
    first = client.recv(65536)
    os.close(client.slave)  # from here on the end of the tool is the end
else:
    listener = socket.create_server(("127.0.0.1", 0))
    tell(str(listener.getsockname()[1]))
    client, _ = listener.accept()
    first = client.recv(65536)
text = b""
data = first
while data:
    text += data
    while b"$" in text and b"#" in text and len(text) >= text.index(b"#") + 3:
        packet = text[text.index(b"$") + 1:text.index(b"#")].decode("latin-1")
        text = text[text.index(b"#") + 3:]
        reply = answer(packet)
        if reply == "close":
            sys.exit()
        if reply == "silence":
            time.sleep(6)
            sys.exit()
        if reply.startswith("raw:"):
            client.sendall(reply[4:].encode() + b"\r\n")
            continue
        client.sendall(b"+$%s#%02x" % (reply.encode(), sum(reply.encode()) % 256))
    data = client.recv(65536)
