# SPDX-License-Identifier: Apache-2.0
"""A partition's Neutron IR on random numbers: the machine model in every mode of conversion gives the bits of the TFLite interpreter's reference kernels.

Where docs/neutron.md lists an operator as an exception, it may be one step off, alone, on what stands before it; everything after it is compared exactly from
there on."""
import pathlib
import subprocess
import tempfile

import flatbuffers
import numpy as np
from neutron_models import TABLES
from tflite_models import interpret, schema

LOOSE = set(TABLES) | {"SUM", "FULLY_CONNECTED"}  # docs/neutron.md, "Same numbers everywhere"
MODES = ["plain", "unfused", "fetch", "profile"]


class Differs(Exception):
    """Where and by how much, in a line."""


def operators_of(model):
    """The builtins of a model by name, in order."""
    m = schema.ModelT.InitFromPackedBuf(model, 0)
    names = {v: k for k, v in vars(schema.BuiltinOperator).items() if not k.startswith("_")}
    return [names[m.operatorCodes[o.opcodeIndex].builtinCode] for o in m.subgraphs[0].operators]


def single_operator(model, k):
    """A model of the k-th operator alone; the numbers of the tensors that go into it."""
    m = schema.ModelT.InitFromPackedBuf(model, 0)
    g = m.subgraphs[0]
    o = g.operators[k]
    given = [t for t in dict.fromkeys(o.inputs) if t >= 0 and (m.buffers[g.tensors[t].buffer].data is None or len(m.buffers[g.tensors[t].buffer].data) == 0)]
    kept = [t for t in dict.fromkeys([*o.inputs, *o.outputs]) if t >= 0]
    tensors, buffers = [], [schema.BufferT()]
    for t in kept:
        tensor = g.tensors[t]
        data = m.buffers[tensor.buffer].data
        if data is not None and len(data):
            buffers.append(m.buffers[tensor.buffer])
            tensor.buffer = len(buffers) - 1
        else:
            tensor.buffer = 0
        tensors.append(tensor)
    number = {t: n for n, t in enumerate(kept)}
    outputs = list(o.outputs)
    o.inputs, o.outputs = [number.get(t, -1) for t in o.inputs], [number[t] for t in o.outputs]
    g.tensors, g.operators, m.buffers = tensors, [o], buffers
    g.inputs, g.outputs = [number[t] for t in given], list(o.outputs)
    m.operatorCodes = [m.operatorCodes[o.opcodeIndex]]
    o.opcodeIndex = 0
    b = flatbuffers.Builder(1024)
    b.Finish(m.Pack(b), b"TFL3")
    return bytes(b.Output()), given, outputs


def on_machine(runner, model, inputs):
    """The outputs of a partition in each mode of conversion, flat."""
    with tempfile.TemporaryDirectory() as folder:
        where = pathlib.Path(folder)
        (where / "p.tflite").write_bytes(model)
        for k, x in enumerate(inputs):
            np.ascontiguousarray(x).tofile(where / f"p.in{k}")
        done = subprocess.run([str(runner), str(where)], capture_output=True, text=True, errors="replace", timeout=120)
        if done.returncode:
            raise Differs("on the machine: " + done.stdout[-600:] + done.stderr[-600:])
        return {mode: [np.fromfile(where / f"p.{mode}.out{k}", np.int8) for k in range(len(list(where.glob(f"p.{mode}.out*"))))] for mode in MODES}


def by_operator(runner, model, inputs):
    """The outputs when every operator alone is the interpreter's, but for the loose ones, which are the machine's after they were found within a step."""
    g = schema.ModelT.InitFromPackedBuf(model, 0).subgraphs[0]
    live = dict(zip(g.inputs, inputs))
    for k in range(len(g.operators)):
        part, given, made = single_operator(model, k)
        (name,) = operators_of(part)
        x = [live[t] for t in given]
        y = interpret(part, x, name != "SUM")
        if name in LOOSE:
            ours = [a.reshape(b.shape) for a, b in zip(on_machine(runner, part, x)["plain"], y)]
            off = max(int(np.abs(a.astype(int) - b.astype(int)).max(initial=0)) for a, b in zip(ours, y))
            if off > 1:
                raise Differs(f"{name} alone differs by {off} from the interpreter")
            y = ours
        live.update(zip(made, y))
    return [live[t] for t in g.outputs]


def check_partition(runner, path, random):
    """Raises Differs; else how many operators of each exception there are."""
    model = path.read_bytes()
    g = schema.ModelT.InitFromPackedBuf(model, 0).subgraphs[0]
    inputs = [random.integers(-128, 128, list(g.tensors[t].shape)).astype(np.int8) for t in g.inputs]
    ours = on_machine(runner, model, inputs)
    loose = [name for name in operators_of(model) if name in LOOSE]
    expected = by_operator(runner, model, inputs) if loose else interpret(model, inputs)
    for mode, outputs in ours.items():
        for k, want in enumerate(expected):
            if k >= len(outputs) or outputs[k].size != want.size:
                raise Differs(f"{path.name} {mode}: output {k} is missing or has another size")
            off = np.abs(outputs[k].astype(int) - want.ravel().astype(int))
            if off.max(initial=0):
                raise Differs(f"{path.name} {mode}: output {k} differs by {off.max()} in {np.count_nonzero(off)} of {off.size}: {sorted(set(operators_of(model)))}")
    return {name: loose.count(name) for name in loose}
