# SPDX-License-Identifier: Apache-2.0
"""Makes .tflite files of a text, for golden tests. Standard library only; tables and numbers come from base/tflite/tflite.fbs.

    version 3                                     and `subgraphs 1`: what stands there unless the text says otherwise
    x : INT8[1,4] q(0.5;3)                        a tensor, with scales;zero points[;axis], each a number or several after one another
    w : INT8[2,4] q(0.1 0.2;0 0;0) = 1            a constant: its elements, or one for all; `= hex 00ff` gives the bytes,
    m : UINT8[8] = words 1 0x80                   and `= words` numbers of 32 bits
    v : FLOAT32[1,4] variable                     words behind: variable, sparse, custom
    FULLY_CONNECTED(x, w, -) -> y FullyConnectedOptions keep_num_dims=1
    STABLEHLO_REDUCE_WINDOW(x, c) -> y StablehloReduceWindowOptions window_dimensions=1,2 body_subgraph_index=1
    custom Spectrogram(x) -> y
    VAR_HANDLE() -> h VarHandleOptions shared_name=state
    subgraph                                      what follows belongs to the next subgraph
    input x                                       or `input x 256 times`
    output y
    set subgraphs.0.tensors.0.buffer = 9          any part of the file, when the rest is made (base/tflite/tflite.fbs names them)
    remove operator_codes
"""
import json
import math
import pathlib
import re
import struct

from pt2_text import place

SCHEMA = (pathlib.Path(__file__).resolve().parent.parent / "base/tflite/tflite.fbs").read_text()
FORMS = {"byte": "b", "bool": "?", "ubyte": "B", "int": "i", "int32": "i", "uint": "I", "float": "f", "long": "q", "ulong": "Q"}
PLAIN = re.sub(r"//.*", "", SCHEMA)


def numbers_of(kind):
    return {name: {k: int(v) for k, v in re.findall(r"(\w+)(?::\w+)?\s*=\s*(\d+)", body)}
            for name, body in re.findall(kind + r" (\w+)[^{;]*\{(.*?)\}", PLAIN, re.S)}


ENUMS, UNIONS = numbers_of("enum"), {**numbers_of("union"), "QuantizationDetails": {"CustomQuantization": 1}}
ENUM_FORMS = {name: FORMS[form] for name, form in re.findall(r"enum (\w+) : (\w+)", PLAIN)}


def tables(schema):
    """name: fields as (name, type) by slot. A union takes two slots: its type comes before it."""
    result = {}
    for name, body in re.findall(r"table (\w+) \{(.*?)\}", schema, re.S):
        fields = []
        for field, kind in re.findall(r"(\w+):\s*(\[?\w+\]?)", body):
            if kind in UNIONS:
                fields.append((field + "_type", "ubyte"))
            fields.append((field, kind))
        result[name] = fields
    return result


TABLES = tables(PLAIN)


class Writer:
    def __init__(self, schema=TABLES):
        self.data, self.tables = bytearray(), schema

    def align(self, to, extra=0):
        while (len(self.data) + extra) % to:
            self.data.append(0)

    def point(self, at, target):
        struct.pack_into("<I", self.data, at, target - at)

    def vector(self, kind, items):
        inner = kind[1:-1]
        if inner in self.tables:
            self.align(4)
            start = len(self.data)
            self.data += struct.pack("<I", len(items)) + bytes(4 * len(items))
            for k, item in enumerate(items):
                self.point(start + 4 + 4 * k, self.table(inner, item))
            return start
        form = FORMS.get(inner) or ENUM_FORMS[inner]
        packed = items if isinstance(items, bytes) else struct.pack("<%d%s" % (len(items), form), *items)
        self.align(16, 4)
        start = len(self.data)
        self.data += struct.pack("<I", len(packed) // struct.calcsize(form)) + packed
        return start

    def text(self, value):
        self.align(4)
        start = len(self.data)
        self.data += struct.pack("<I", len(value.encode())) + value.encode() + b"\0"
        return start

    def table(self, name, values):
        fields = self.tables[name]
        unknown = set(values) - {f for f, _ in fields}
        assert not unknown, (name, unknown)
        inline, slots, later = bytearray(4), [0] * len(fields), []
        for slot, (field, kind) in enumerate(fields):
            if field not in values:
                continue
            form = FORMS.get(kind) or ENUM_FORMS.get(kind)
            if isinstance(values[field], tuple):
                kind = values[field][0]
            width = struct.calcsize(form) if form else 4
            while len(inline) % width:
                inline.append(0)
            slots[slot] = len(inline)
            if form:
                inline += struct.pack("<" + form, values[field])
            else:
                later.append((len(inline), kind, values[field]))
                inline += bytes(4)
        self.align(2)
        vtable = len(self.data)
        self.data += struct.pack("<HH", 4 + 2 * len(slots), len(inline)) + struct.pack("<%dH" % len(slots), *slots)
        self.align(8)
        start = len(self.data)
        struct.pack_into("<i", inline, 0, start - vtable)
        self.data += inline
        for at, kind, value in later:
            if isinstance(value, tuple):
                target = self.table(value[0], value[1])
            elif kind == "string":
                target = self.text(value)
            elif kind.startswith("["):
                target = self.vector(kind, value)
            else:
                target = self.table(kind, value)
            self.point(start + at, target)
        return start


ELEMENTS = {"FLOAT32": "f", "INT8": "b", "UINT8": "B", "INT16": "h", "INT32": "i", "INT64": "q", "BOOL": "B", "FLOAT16": "e", "FLOAT64": "d"}


class Model:
    def __init__(self):
        self.codes, self.buffers, self.graphs = [], [{}], []
        self.begin_subgraph("main")
        self.version, self.subgraphs = 3, 1
        self.changes = []

    def begin_subgraph(self, name):
        self.names, self.tensors, self.operators, self.inputs, self.outputs = [], [], [], [], []
        self.graphs.append({"tensors": self.tensors, "inputs": self.inputs, "outputs": self.outputs, "operators": self.operators, "name": name})

    def tensor(self, name, kind, extents, quant, words, data):
        shape = [int(v) for v in extents.split(",") if v]
        t = {"shape": shape, "type": ENUMS["TensorType"].get(kind, 99), "name": name, "buffer": 0}
        if quant:
            parts = [p.split() for p in quant.split(";")]
            t["quantization"] = {"scale": [float(v) for v in parts[0]], "zero_point": [int(v) for v in parts[1]]}
            if len(parts) > 2:
                t["quantization"]["quantized_dimension"] = int(parts[2][0])
            if "custom" in words:
                t["quantization"].update(details_type=1, details=("Unread", {}))
        if "variable" in words:
            t["is_variable"] = True
        if "sparse" in words:
            t["sparsity"] = {}
        if data is not None:
            if data.startswith("hex "):
                packed = bytes.fromhex(data[4:])
            elif data.startswith("words "):
                packed = b"".join(struct.pack("<I", int(v, 0)) for v in data.split()[1:])
            else:
                form = ELEMENTS[kind]
                numbers = [(float if form in "fe" else int)(v) for v in data.split(",")]
                numbers *= math.prod(shape) if len(numbers) == 1 else 1
                packed = struct.pack("<%d%s" % (len(numbers), form), *numbers)
            self.buffers.append({"data": packed})
            t["buffer"] = len(self.buffers) - 1
        self.names.append(name)
        self.tensors.append(t)

    def operator(self, custom, builtin, operands, results, options):
        code = (ENUMS["BuiltinOperator"]["CUSTOM"] if custom else ENUMS["BuiltinOperator"].get(builtin) or (0 if builtin == "ADD" else int(builtin)),
                builtin if custom else None)
        if code not in self.codes:
            self.codes.append(code)
        ids = [[-1 if n == "-" else self.names.index(n) for n in re.findall(r"[^\s,]+", names)] for names in (operands, results)]
        op = {"opcode_index": self.codes.index(code), "inputs": ids[0], "outputs": ids[1]}
        words = options.split()
        if words:
            types = dict(TABLES[words[0]])
            values = {}
            for field, value in (w.split("=") for w in words[1:]):
                kind = types[field]
                values[field] = (value if kind == "string" else [int(v) for v in value.split(",") if v] if kind == "[long]" else float(value) if kind == "float" else ENUMS[kind].get(value) if kind in ENUMS and not value.isdigit() else
                                 bool(int(value)) if kind == "bool" else int(value))
            key, union = next((k, u) for k, u in (("builtin_options", "BuiltinOptions"), ("builtin_options_2", "BuiltinOptions2")) if words[0] in UNIONS[u])
            op.update({key + "_type": UNIONS[union][words[0]], key: (words[0], values)})
        self.operators.append(op)

    def line(self, line):
        if m := re.fullmatch(r"(version|subgraphs) (\d+)", line):
            setattr(self, m[1], int(m[2]))
        elif line == "subgraph":
            self.begin_subgraph(f"subgraph{len(self.graphs)}")
        elif m := re.fullmatch(r"(input|output) (\S+)(?: (\d+) times)?", line):
            (self.inputs if m[1] == "input" else self.outputs).extend([self.names.index(m[2])] * int(m[3] or 1))
        elif m := re.fullmatch(r"(\S+) : (\w+)\[([-\d,]*)\](?: q\(([^)]*)\))?((?: (?:variable|sparse|custom))*)(?: = (.*))?", line):
            self.tensor(m[1], m[2], m[3], m[4], m[5], m[6])
        elif m := re.fullmatch(r"(custom )?(\w+)\(([^)]*)\) -> ?([^:]*?)(?: ?([A-Z]\w+Options.*))?", line):
            self.operator(m[1], m[2], m[3], m[4], m[5] or "")
        elif m := re.fullmatch(r"(set|remove) (\S+)(?: = (.*))?", line):
            self.changes.append(m.groups())
        else:
            raise ValueError("not a line of a model: " + line)

    def bytes(self):
        codes = [{"deprecated_builtin_code": min(n, 127), "builtin_code": n, **({"custom_code": c} if c else {})} for n, c in self.codes]
        whole = {"version": self.version, "operator_codes": codes, "subgraphs": self.graphs * self.subgraphs, "description": "", "buffers": self.buffers}
        for verb, path, value in self.changes:
            where, key = place(whole, path)
            if verb == "set":
                where[key] = json.loads(value)
            else:
                del where[key]
        w = Writer()
        w.data += struct.pack("<I4s", 0, b"TFL3")
        w.point(0, w.table("Model", whole))
        return bytes(w.data)


def model(text):
    m = Model()
    for line in text.split("\n"):
        line = line.partition("#")[0].strip()
        if line:
            m.line(line)
    return m.bytes()
