# SPDX-License-Identifier: Apache-2.0
"""Makes .onnx files of a text, for golden tests. Standard library only; messages and numbers come from frontends/onnx/file/onnx.proto.

    opset 17                                      and `ir 8`: what stands there unless the text says otherwise; `opset com.microsoft 1` adds one
    input x : FLOAT[1,3,n,?]                      a size, a name, or nothing known; `FLOAT` alone has no shape
    w : FLOAT[2,3] = 1,2,3,4,5,6                  an initializer: its elements, or one for all; `= hex 00ff` gives the bytes as raw data
    w : FLOAT[2,3] external w.bin offset=4        whose elements lie in another file
    Conv(x, w, -) -> y strides=[1,1] alpha=0.5 auto_pad="VALID" value=INT64[2]{1,2} then_branch=@yes
    com.microsoft.QLinearAdd(a, b) -> y name=sum1
    output y
    graph yes ... end                             the nodes and outputs of a branch, before the node that has it
    function local.Twice(a) -> b ... end          nodes; an attribute `axis=$axis` is the call's
    nested 200                                    that many graphs in one another, in an attribute of a node
"""
import pathlib
import re
import struct

SCHEMA = re.sub(r"//.*", "", (pathlib.Path(__file__).resolve().parent.parent / "frontends/onnx/file/onnx.proto").read_text())


def numbers_of(kind):
    body = re.search(r"enum %s \{(.*?)\}" % kind, SCHEMA, re.S)[1]
    return {name: int(value) for name, value in re.findall(r"(\w+) = (\d+)", body)}


TYPES, KINDS = numbers_of("DataType"), numbers_of("AttributeType")
FORMS = {"FLOAT": "f", "DOUBLE": "d", "FLOAT16": "e", "INT8": "b", "UINT8": "B", "BOOL": "?", "INT16": "h", "UINT16": "H", "INT32": "i", "INT64": "q",
         "UINT32": "I", "UINT64": "Q"}


def fields_of(message):
    """name: (number, type) of the fields of a message."""
    depth, at = 1, re.search(r"message %s \{" % message, SCHEMA).end()
    start = at
    while depth:
        depth += {"{": 1, "}": -1}.get(SCHEMA[at], 0)
        at += 1
    body = SCHEMA[start:at]
    return {name: (int(number), kind) for kind, name, number in re.findall(r"([\w.]+) (\w+) = (\d+)(?: \[packed = true\])?;", body)}


FIELDS = {name: fields_of(name) for name in re.findall(r"message (\w+) \{", SCHEMA)}


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def message(name, /, **values):
    """The bytes of a message: lists are repeated fields, bytes are messages that are made already."""
    out = b""
    for field, value in values.items():
        number, kind = FIELDS[name][field]
        for item in value if isinstance(value, list) else [value]:
            if kind == "float":
                out += varint(number << 3 | 5) + struct.pack("<f", item)
            elif isinstance(item, int):
                out += varint(number << 3) + varint(item)
            else:
                data = item if isinstance(item, bytes) else item.encode()
                out += varint(number << 3 | 2) + varint(len(data)) + data
    return out


def elements(kind, shape, text):
    if text.startswith("hex"):
        return bytes.fromhex(text[3:].strip())
    count = 1
    for extent in shape:
        count *= extent
    values = [v for v in text.split(",") if v.strip()]
    if len(values) == 1:
        values *= count
    return struct.pack("<%d%s" % (len(values), FORMS[kind]), *[(float if FORMS[kind] in "fde" else int)(v) for v in values])


def tensor(text, name=""):
    """FLOAT[2,3] = 1,2,3 or INT64[2]{1,2}."""
    kind, extents, rest = re.fullmatch(r"(\w+)\[([-\d,]*)\]\s*(.*)", text, re.S).groups()
    shape = [int(e) for e in extents.split(",") if e]
    number = TYPES.get(kind) or int(kind[4:])
    values = {"dims": shape, "data_type": number, "name": name}
    outside = re.fullmatch(r"external (\S+)((?: \w+=\S+)*)", rest)
    if outside:
        entries = [("location", outside[1])] + [tuple(e.split("=")) for e in outside[2].split()]
        values["external_data"] = [message("StringStringEntryProto", key=k, value=v) for k, v in entries]
        values["data_location"] = 1
    elif rest:
        values["raw_data"] = elements(kind, shape, rest.strip("={} "))
    return message("TensorProto", **values)


def attribute(name, text, graphs):
    def made(kind, **values):
        return message("AttributeProto", name=name, type=KINDS[kind], **values)
    if text.startswith("$"):
        return message("AttributeProto", name=name, ref_attr_name=text[1:], type=KINDS["INT"])
    if text.startswith("@"):
        return made("GRAPH", g=graphs[text[1:]])
    if text.startswith('["'):
        return made("STRINGS", strings=re.findall(r'"([^"]*)"', text))
    if text.startswith('"'):
        return made("STRING", s=text[1:-1])
    if text.startswith("["):
        values = [v for v in text[1:-1].split(",") if v]
        return made("FLOATS", floats=[float(v) for v in values]) if "." in text else made("INTS", ints=[int(v) for v in values])
    if re.fullmatch(r"-?\d+", text):
        return made("INT", i=int(text))
    if re.fullmatch(r"-?[\d.e+-]+|nan|inf", text):
        return made("FLOAT", f=float(text))
    return made("TENSOR", t=tensor(text))


NODE = re.compile(r"([\w.]+)\(([^)]*)\)\s*->\s*([^=]*?)((?:\s+\w+=\S+)*)$")


def node(line, graphs):
    op, inputs, outputs, attributes = NODE.fullmatch(line).groups()
    names = lambda text: ["" if n.strip() == "-" else n.strip() for n in text.split(",") if n.strip()]
    values = dict(a.split("=", 1) for a in attributes.split())
    domain, _, op = op.rpartition(".")
    extra = {"name": values.pop("name")} if "name" in values else {}
    if domain:
        extra["domain"] = domain
    return message("NodeProto", input=names(inputs), output=names(outputs), op_type=op, attribute=[attribute(k, v, graphs) for k, v in values.items()], **extra)


def port(text):
    name, _, kind = text.partition(" : ")
    if not kind:
        return message("ValueInfoProto", name=name)
    kind, bracket, extents = kind.rstrip("]").partition("[")
    number = TYPES.get(kind) or int(kind[4:])
    dims = [message_dim(e.strip()) for e in extents.split(",") if e.strip()]
    shape = {"shape": b"".join(varint(1 << 3 | 2) + varint(len(d)) + d for d in dims)} if bracket else {}
    inner = varint(1 << 3) + varint(number)
    if shape:
        inner += varint(2 << 3 | 2) + varint(len(shape["shape"])) + shape["shape"]
    return message("ValueInfoProto", name=name, type=varint(1 << 3 | 2) + varint(len(inner)) + inner)


def message_dim(text):
    if re.fullmatch(r"-?\d+", text):
        return varint(1 << 3) + varint(int(text))
    return b"" if text == "?" else varint(2 << 3 | 2) + varint(len(text)) + text.encode()


def nested(depth):
    graph = b""
    for _ in range(depth):
        graph = message("GraphProto", node=[message("NodeProto", op_type="If", attribute=[message("AttributeProto", name="g", type=KINDS["GRAPH"], g=graph)])])
    return graph


def graph_of(lines, graphs):
    parts = {"node": [], "initializer": [], "input": [], "output": []}
    for line in lines:
        if line.startswith("input "):
            parts["input"].append(port(line[6:]))
        elif line.startswith("output "):
            parts["output"].append(port(line[7:]))
        elif "->" in line:
            parts["node"].append(node(line, graphs))
        else:
            name, _, rest = line.partition(" : ")
            parts["initializer"].append(tensor(rest, name))
    return message("GraphProto", **parts)


def model(text):
    lines = [line.strip() for line in text.split("\n") if line.strip() and not line.strip().startswith("#")]
    ir, opsets, graphs, functions, body, inner, head = 8, [("", 17)], {}, [], [], None, None
    for line in lines:
        words = line.split()
        if inner is not None and words != ["end"]:
            inner.append(line)
        elif inner is not None:
            if head[0] == "graph":
                graphs[head[1]] = graph_of(inner, graphs)
            else:
                name, inputs, outputs, _ = NODE.fullmatch(head[1]).groups()
                domain, _, op = name.rpartition(".")
                functions.append(message("FunctionProto", name=op, domain=domain, input=[n.strip() for n in inputs.split(",") if n.strip()],
                                         output=[n.strip() for n in outputs.split(",")], node=[node(n, graphs) for n in inner]))
            inner = None
        elif words[0] in ("graph", "function"):
            inner, head = [], (words[0], line.split(None, 1)[1])
        elif words[0] == "ir":
            ir = int(words[1])
        elif words[0] == "opset" and len(words) == 2:
            opsets[0] = ("", int(words[1]))
        elif words[0] == "opset":
            opsets.append((words[1], int(words[2])))
        elif words[0] == "nested":
            return message("ModelProto", ir_version=ir, graph=nested(int(words[1])))
        else:
            body.append(line)
    sets = [message("OperatorSetIdProto", domain=domain, version=version) for domain, version in opsets]
    return message("ModelProto", ir_version=ir, producer_name="by hand", graph=graph_of(body, graphs), opset_import=sets, functions=functions)
