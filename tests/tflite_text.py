# SPDX-License-Identifier: Apache-2.0
"""Prints the operators of a .tflite file, a line each, for golden tests. Standard library only."""
import re
import pathlib
import struct
import sys

# Where the options of an operator have their activation.
ACTIVATION_FIELD = {"CONV_2D": 3, "DEPTHWISE_CONV_2D": 4, "FULLY_CONNECTED": 0, "ADD": 0, "SUB": 0, "MUL": 0, "CONCATENATION": 1, "MAX_POOL_2D": 5,
                    "AVERAGE_POOL_2D": 5}
ACTIVATIONS = ["", " RELU", " RELU_N1_TO_1", " RELU6", " TANH", " SIGN_BIT"]
SCHEMA = pathlib.Path(__file__).resolve().parent.parent / "base/tflite/tflite.fbs"


class Table:
    """A table of a FlatBuffer: its fields by number."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.fields = at - struct.unpack_from("<i", data, at)[0]
        self.bytes = struct.unpack_from("<H", data, self.fields)[0]

    def place(self, field):
        entry = 4 + 2 * field
        offset = struct.unpack_from("<H", self.data, self.fields + entry)[0] if entry < self.bytes else 0
        return self.at + offset if offset else None

    def scalar(self, field, form, default=0):
        at = self.place(field)
        return default if at is None else struct.unpack_from("<" + form, self.data, at)[0]

    def target(self, at):
        return at + struct.unpack_from("<I", self.data, at)[0]

    def vector(self, field, form):
        at = self.place(field)
        if at is None:
            return []
        at = self.target(at)
        return list(struct.unpack_from(f"<{struct.unpack_from('<I', self.data, at)[0]}{form}", self.data, at + 4))

    def tables(self, field):
        at = self.place(field)
        if at is None:
            return []
        at = self.target(at)
        return [Table(self.data, self.target(at + 4 + 4 * k)) for k in range(struct.unpack_from("<I", self.data, at)[0])]

    def text(self, field):
        at = self.target(self.place(field))
        return self.data[at + 4:at + 4 + struct.unpack_from("<I", self.data, at)[0]].decode()

    def table(self, field):
        at = self.place(field)
        return None if at is None else Table(self.data, self.target(at))


def builtins():
    body = re.search(r"enum BuiltinOperator[^{]*\{(.*?)\}", SCHEMA.read_text(), re.S)[1]
    numbers, number = {}, -1
    for name, given in re.findall(r"^\s*(\w+)\s*(?:=\s*(\d+))?", re.sub(r"//.*", "", body).replace(",", "\n"), re.M):
        number = int(given) if given else number + 1
        numbers[number] = name
    return numbers


def shown(tensor, data_bytes):
    shape = ",".join(str(n) for n in tensor.vector(0, "i"))
    quant = tensor.table(4)
    scale, zero = (quant.vector(2, "f"), quant.vector(3, "q")) if quant else ([], [])
    q = f" q({';'.join(f'{s:.7g}' for s in scale)} zero {';'.join(map(str, zero))})" if scale else ""
    return f"{tensor.text(3)}{' const' if data_bytes else ''} [{shape}]{q}"


def main(path):
    data = pathlib.Path(path).read_bytes()
    model = Table(data, struct.unpack_from("<I", data, 0)[0])
    names = builtins()
    codes = [names.get(max(c.scalar(0, "b"), c.scalar(3, "i")), "?") for c in model.tables(1)]
    sizes = [len(b.vector(0, "B")) for b in model.tables(4)]
    for graph in model.tables(2):
        tensors = graph.tables(0)
        say = lambda k: shown(tensors[k], sizes[tensors[k].scalar(2, "I")])
        for op in graph.tables(3):
            outputs, inputs = op.vector(2, "i"), [k for k in op.vector(1, "i") if k >= 0]
            code = codes[op.scalar(0, "I")]
            options, field = op.table(4), ACTIVATION_FIELD.get(code)
            activation = ACTIVATIONS[options.scalar(field, "b")] if options and field is not None else ""
            print(f"{code} {', '.join(say(k) for k in outputs)}{activation}")
            for k in inputs:
                print(f"    {say(k)}")


if __name__ == "__main__":
    main(sys.argv[1])
