# SPDX-License-Identifier: Apache-2.0
"""Reads an ETDump: blocks of events, and what the metadata of Program::load_method say (runtime/etdump.h). Standard library only."""
import struct


class Table:
    def __init__(self, data, at):
        self.data, self.at = data, at
        self.vtable = at - struct.unpack_from("<i", data, at)[0]
        self.slots = (struct.unpack_from("<H", data, self.vtable)[0] - 4) // 2

    def field(self, slot):
        if slot >= self.slots:
            return None
        offset = struct.unpack_from("<H", self.data, self.vtable + 4 + 2 * slot)[0]
        return self.at + offset if offset else None

    def number(self, slot, form, default):
        at = self.field(slot)
        return default if at is None else struct.unpack_from("<" + form, self.data, at)[0]

    def target(self, slot):
        at = self.field(slot)
        return None if at is None else at + struct.unpack_from("<I", self.data, at)[0]

    def bytes(self, slot):
        at = self.target(slot)
        return None if at is None else self.data[at + 4 : at + 4 + struct.unpack_from("<I", self.data, at)[0]]

    def table(self, slot):
        at = self.target(slot)
        return None if at is None else Table(self.data, at)

    def tables(self, slot):
        at = self.target(slot)
        count = 0 if at is None else struct.unpack_from("<I", self.data, at)[0]
        places = [at + 4 + 4 * k for k in range(count)]
        return [Table(self.data, p + struct.unpack_from("<I", self.data, p)[0]) for p in places]


def read(path):
    """[(block, [event])]; an event is a dictionary: name, chain, instruction, id, metadata, start, end."""
    data = open(path, "rb").read()
    size, root, identifier = struct.unpack_from("<II4s", data)
    assert identifier == b"ED00" and size == len(data) - 4, path
    blocks = []
    for run in Table(data, 4 + root).tables(1):
        events = []
        for event in run.tables(3):
            p = event.table(0)
            name = p.bytes(0)
            events.append({
                "name": name.decode() if name is not None else None, "chain": p.number(1, "i", 0), "instruction": p.number(2, "i", -1),
                "id": p.number(3, "i", -1), "metadata": p.bytes(5), "start": p.number(6, "Q", 0), "end": p.number(7, "Q", 0)})
        blocks.append((run.bytes(0).decode(), events))
    return blocks


def facts(blocks):
    """{"program": "16 digits", "clock": "instructions 1000000000", "dropped": "0", ...}"""
    text = next(e["metadata"] for e in blocks[0][1] if e["name"] == "Program::load_method").decode()
    return dict(line.split(" ", 1) for line in text.splitlines())


def runs(blocks):
    return [events for name, events in blocks if name == "Execute"]


def ticks(events):
    return sum(e["end"] - e["start"] for e in events)


def inside_npu(events):
    """The kernels inside delegates, without the dump of the profile."""
    return [e for e in events if e["id"] >= 0 and e["metadata"] != b"\0"]


def on_cpu(events):
    return [e for e in events if e["name"] and e["name"].startswith("native_call_")]
