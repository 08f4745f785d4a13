# SPDX-License-Identifier: Apache-2.0
"""Makes ETDump traces of a text, for golden tests: a block at the margin, its events below, what an event says below that.

    load
      Program::load_method 0 10                   name, first and last tick; then fields of explain/traces/etdump.fbs: instruction=0 delegate_id=4
        deuteron 1                                metadata: these lines (runtime/etdump.h says what they mean)
        clock cycles 1000000
    forward
      Method::execute 20 90
      allocation 64                               an event of memory
      - 30 40 delegate_id=0 kind=7                an event without a name; its metadata are this byte
"""
import pathlib
import re
import struct

import tflite_made

SCHEMA = tflite_made.tables(re.sub(r"//.*", "", (pathlib.Path(__file__).resolve().parent.parent / "explain" / "traces" / "etdump.fbs").read_text()))


def event(line):
    name, *words = line.split()
    if name == "allocation":
        return {"allocation": {"allocator": 0, "bytes": int(words[0])}}
    fields = {key: int(value) for key, value in (w.split("=") for w in words[2:])}
    if "kind" in fields:
        fields["metadata"] = bytes([fields.pop("kind")])
    if name != "-":
        fields["name"] = name
    return {"profile": {"start": int(words[0]), "end": int(words[1]), **fields}}


def written(runs):
    """The bytes of a trace of these runs: tables of explain/traces/etdump.fbs."""
    w = tflite_made.Writer(SCHEMA)
    w.data += struct.pack("<II4s", 0, 0, b"ED00")
    w.point(4, w.table("Dump", {"version": 0, "runs": runs}))
    struct.pack_into("<I", w.data, 0, len(w.data) - 4)
    return bytes(w.data)


def trace(text):
    runs = []
    for line in text.split("\n"):
        depth = len(line) - len(line.lstrip())
        if not line.strip():
            continue
        if depth == 0:
            runs.append({"name": line, "events": []})
        elif depth == 2:
            runs[-1]["events"].append(event(line))
        else:
            of = runs[-1]["events"][-1]["profile"]
            of["metadata"] = of.get("metadata", b"") + line.strip().encode() + b"\n"
    return written(runs)
