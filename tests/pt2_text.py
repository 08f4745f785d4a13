# SPDX-License-Identifier: Apache-2.0
"""A model of torch.export written as text, for golden tests: the archive that torch.export.save would write, made without torch.

    input x : f32[1,3,5,7]                     strides=105,35,7,1 if they are not those of the shape
    parameter w : f32[4,3,2,2]                 data: 0.5 for all, or as many numbers as it has
    y = aten.conv2d.default(input=x, weight=w, bias=none, stride=[1,1]) : f32[1,4,4,6]       `:` and nothing: it has no result
    a, b = aten.split.Tensor(self=y, split_size=2, dim=1) : f32[1,2,4,6], f32[1,2,4,6]
    output y
    set graph_module.graph.nodes.0.metadata = {}          any part of models/model.json, when the rest is written
    set weights:config.w.is_param = false                 of the description of the weights (or constants:)
    remove graph_module.graph.outputs.0
    member models/other.json = {}              another member of the archive, or other contents of one; `drop NAME` leaves one out
    fault models/model.json checksum           a damaged entry: one of FAULTS

Arguments are names of values, numbers (1 an int, 1.0 a float), true, false, none, "text", lists of one of these, dtypes (f32), or json:{...}.
"""
import json
import re
import struct
import zlib

DTYPES = {"u8": (1, "B"), "s8": (2, "b"), "s16": (3, "h"), "s32": (4, "i"), "s64": (5, "q"), "f16": (6, "e"), "f32": (7, "f"), "f64": (8, "d"), "b8": (12, "?"),
          "bf16": (13, "H"), "c64": (10, "d")}


FAULTS = {
    "checksum": "another one than that of its bytes",
    "local": "its own header has another one than the directory",
    "compressed": "it says that it is",
    "encrypted": "it says that it is",
    "size": "a megabyte more than it has",
    "huge": "it says that it is packed, and that a gigabyte is in it",
    "offset": "eight bytes behind its place",
    "header": "its own header has another name than the directory",
    "twice": "two lines of the directory for it",
    "again": "another entry of the same name",
    "root": "it lies in no folder",
    "directory": "bytes behind its line of the directory, which are no line",
}


def strides_of(shape):
    strides, step = [], 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= extent
    return strides


def read_type(text):
    dtype, shape = re.fullmatch(r"\s*(\w+)\[([\d,]*)\]\s*", text).groups()
    return dtype, [int(n) for n in shape.split(",") if n]


def meta(dtype, shape, strides=None):
    number = lambda v: {"as_int": v}
    return {"dtype": DTYPES[dtype][0], "sizes": [number(v) for v in shape], "strides": [number(v) for v in strides or strides_of(shape)],
            "storage_offset": number(0), "layout": 7, "requires_grad": False}


def tensor(name):
    return {"as_tensor": {"name": name}}


def split_list(text):
    """Splits at commas that stand in no brackets and no string."""
    parts, depth, quoted, part = [], 0, False, ""
    for c in text:
        quoted ^= c == '"'
        depth += not quoted and (c in "[{(") - (c in "]})")
        if c == "," and depth == 0 and not quoted:
            parts.append(part)
            part = ""
        else:
            part += c
    return parts + [part] if part.strip() else parts


def argument(text, parameters=()):
    text = text.strip()
    if text.startswith("json:"):
        return json.loads(text[5:])
    if text.startswith("["):
        items = [argument(t, parameters) for t in split_list(text[1:-1])]
        kind = next(iter(items[0])) if items else "as_int"
        if {next(iter(i)) for i in items} == {"as_tensor", "as_none"}:
            return {"as_optional_tensors": items}
        return {kind + "s": [i[kind] for i in items]}
    if text in ("true", "false"):
        return {"as_bool": text == "true"}
    if text == "none":
        return {"as_none": True}
    if text.startswith('"'):
        return {"as_string": text[1:-1]}
    if text in DTYPES:
        return {"as_scalar_type": DTYPES[text][0]}
    if re.fullmatch(r"-?\d+", text):
        return {"as_int": int(text)}
    if re.fullmatch(r"-?(\d+\.\d*(e-?\d+)?|\d+e-?\d+|inf|nan)", text):
        return {"as_float": float(text)} if text.strip("-") not in ("inf", "nan") else {"as_float": {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}[text]}
    return tensor("p_" + text if text in parameters else text)


def place(root, path):
    """The container and the key of a part."""
    *steps, last = path.split(".")
    for step in steps:
        root = root[int(step)] if isinstance(root, list) else root[step]
    return root, int(last) if isinstance(root, list) else last


class Model:
    def __init__(self):
        self.graph = {"inputs": [], "outputs": [], "nodes": [], "tensor_values": {}}
        self.signature = {"input_specs": [], "output_specs": []}
        self.model = {"schema_version": {"major": 8, "minor": 20}, "torch_version": "2.13.0+cpu", "verifiers": ["TRAINING"], "range_constraints": {},
                      "graph_module": {"graph": self.graph, "signature": self.signature}}
        self.roots = {"": self.model, "weights": {"config": {}}, "constants": {"config": {}}}
        self.blobs, self.members, self.dropped, self.changes, self.faults = {}, {}, [], [], {}

    def value(self, name, dtype, shape, strides=None):
        self.graph["tensor_values"][name] = meta(dtype, shape, strides)

    def input(self, name, type_text):
        type_text, _, strides = type_text.partition("strides=")
        dtype, shape = read_type(type_text)
        self.value(name, dtype, shape, [int(n) for n in strides.split(",")] if strides else None)
        self.graph["inputs"].append(tensor(name))
        self.signature["input_specs"].append({"user_input": {"arg": tensor(name)}})

    def parameter(self, name, type_text):
        type_text, _, data = type_text.partition("]")
        dtype, shape = read_type(type_text + "]")
        numbers = [(float if dtype[0] == "f" else int)(n) for n in data.split(",") if n.strip()] or [0]
        count = 1
        for extent in shape:
            count *= extent
        if len(numbers) == 1:
            numbers *= count
        blob = f"weight_{len(self.blobs)}"
        self.value("p_" + name, dtype, shape)
        self.graph["inputs"].append(tensor("p_" + name))
        self.signature["input_specs"].append({"parameter": {"arg": {"name": "p_" + name}, "parameter_name": name}})
        self.roots["weights"]["config"][name] = {"path_name": blob, "is_param": True, "use_pickle": False, "tensor_meta": meta(dtype, shape)}
        self.blobs[f"data/weights/{blob}"] = struct.pack(f"<{len(numbers)}{DTYPES[dtype][1]}", *numbers)

    def node(self, results, target, arguments, types, has_no_result):
        inputs = []
        for item in split_list(arguments):
            name, _, value = item.strip().partition("=")
            inputs.append({"name": name, "arg": argument(value, self.roots["weights"]["config"]), "kind": 1})
        for name, type_text in zip(results, types):
            self.value(name, *read_type(type_text))
        outputs = [] if has_no_result else [tensor(n) for n in results]
        self.graph["nodes"].append({"target": "torch.ops." + target, "inputs": inputs, "outputs": outputs, "metadata": {}, "name": results[0]})

    def statement(self, line):
        if m := re.fullmatch(r"input (\w+) : (.*)", line):
            self.input(*m.groups())
        elif m := re.fullmatch(r"parameter (\w+) : (.*)", line):
            self.parameter(*m.groups())
        elif m := re.fullmatch(r"output (\w+)", line):
            self.graph["outputs"].append(tensor(m[1]))
            self.signature["output_specs"].append({"user_output": {"arg": tensor(m[1])}})
        elif m := re.fullmatch(r"(set|remove) (?:(weights|constants):)?(\S+)(?: = (.*))?", line):
            self.changes.append(m.groups())
        elif m := re.fullmatch(r"member (\S+) = (.*)", line):
            self.members[m[1]] = m[2].encode()
        elif m := re.fullmatch(r"fault (\S+) (\w+)", line):
            self.faults["net/" + m[1]] = m[2]
        elif m := re.fullmatch(r"drop (\S+)", line):
            self.dropped.append(m[1])
        elif m := re.fullmatch(r"([\w, ]+) = ([\w.]+)\((.*)\)(?: :(.*))?", line):
            self.node([n.strip() for n in m[1].split(",")], m[2], m[3], re.findall(r"\w+\[[\d,]*\]", m[4] or ""), m[4] == "")
        else:
            raise ValueError(f"no statement of a pt2 section: {line}")

    def contents(self):
        for verb, root, path, value in self.changes:
            where, key = place(self.roots[root or ""], path)
            if verb == "set":
                where[key] = json.loads(value)
            else:
                del where[key]
        members = {**self.blobs, "data/weights/model_weights_config.json": json.dumps(self.roots["weights"]).encode(),
                   "data/constants/model_constants_config.json": json.dumps(self.roots["constants"]).encode(),
                   "models/model.json": json.dumps(self.roots[""]).encode(), "archive_format": b"pt2", "archive_version": b"0", "byteorder": b"little", **self.members}
        return {f"net/{name}": data for name, data in members.items() if name not in self.dropped}


def stored_zip(members, faults=None):
    """As torch lays an archive out: no sizes in local headers, data at multiples of 64, a zip64 end record."""
    out, directory, count = b"", b"", 0
    faults = faults or {}
    assert set(faults.values()) <= set(FAULTS), faults
    again = [(name, data) for name, data in members.items() if faults.get(name) == "again"]
    for name, data in [*members.items(), *again]:
        fault = faults.get(name)
        crc, at, raw = zlib.crc32(data) ^ (fault == "checksum"), len(out), (name.rsplit("/")[-1] if fault == "root" else name).encode()
        flags, method = (0 if fault == "local" else 0x0808) | (fault == "encrypted"), 8 if fault in ("compressed", "huge") else 0
        padding = -(at + 30 + len(raw) + 4) % 64
        local = raw[:-1] + b"_" if fault == "header" else raw
        own = (crc ^ 1, len(data), len(data)) if fault == "local" else (0, 0, 0)
        out += struct.pack("<IHHHHHIIIHH", 0x04034B50, 0, flags, method, 0, 0, *own, len(raw), padding + 4) + local
        out += struct.pack("<HH", 0x4246, padding) + b"Z" * padding
        out += data + struct.pack("<IIII", 0x08074B50, crc, len(data), len(data))
        size, offset = (len(data) + (1 << 20) if fault == "size" else len(data)), (at + 8 if fault == "offset" else at)
        unpacked = 1 << 30 if fault == "huge" else size
        entry = struct.pack("<IHHHHIIIIHHHHHII", 0x02014B50, 0, 0, flags, method, 0, crc, size, unpacked, len(raw), 0, 0, 0, 0, 0, offset) + raw
        directory += entry * (2 if fault == "twice" else 1) + b"no line" * (fault == "directory")
        count += 2 if fault == "twice" else 1
    offset, end = len(out), len(out) + len(directory)
    out += directory + struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 0, 45, 0, 0, count, count, len(directory), offset)
    out += struct.pack("<IIQI", 0x07064B50, 0, end, 1)
    return out + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, len(directory), offset, 0)


def archive(text):
    model = Model()
    for line in text.split("\n"):
        line = re.sub(r"\s+#.*|^#.*", "", line).strip()
        if line:
            model.statement(line)
    return stored_zip(model.contents(), model.faults)
