# SPDX-License-Identifier: Apache-2.0
"""Writes small int8 TFLite models, operator by operator, and runs them: by the stock interpreter, and compiled by us."""
import subprocess

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

kTypes = {np.dtype(np.int8): schema.TensorType.INT8, np.dtype(np.int32): schema.TensorType.INT32, np.dtype(np.float32): schema.TensorType.FLOAT32,
          np.dtype(np.int64): schema.TensorType.INT64, np.dtype(np.int16): schema.TensorType.INT16, np.dtype(np.bool_): schema.TensorType.BOOL, np.dtype(np.complex64): schema.TensorType.COMPLEX64}


class Builder:
    """Tensors are numbers: what the methods return and take."""

    def __init__(self):
        self.graph, self.others = self.subgraph(b"main"), []
        self.buffers = [schema.BufferT()]
        self.codes = []

    @staticmethod
    def subgraph(name):
        g = schema.SubGraphT()
        g.tensors, g.operators, g.inputs, g.outputs = [], [], [], []
        g.name = name
        return g

    def tensor(self, shape, scale=None, zero=0, dtype=np.int8, data=None, axis=0, name=None):
        t = schema.TensorT()
        t.shape = [int(v) for v in shape]
        t.type = kTypes[np.dtype(dtype)]
        t.name = (name or "t%d" % len(self.graph.tensors)).encode()
        if scale is not None:
            q = schema.QuantizationParametersT()
            q.scale = [float(v) for v in np.atleast_1d(np.float32(scale))]
            q.zeroPoint = [int(v) for v in np.broadcast_to(np.atleast_1d(zero), [len(q.scale)])]
            q.quantizedDimension = axis
            t.quantization = q
        t.buffer = 0
        if data is not None:
            b = schema.BufferT()
            b.data = np.frombuffer(np.ascontiguousarray(data, dtype).tobytes(), np.uint8)
            self.buffers.append(b)
            t.buffer = len(self.buffers) - 1
        self.graph.tensors.append(t)
        return len(self.graph.tensors) - 1

    def constant(self, array, scale=None, zero=0, axis=0):
        array = np.asarray(array)
        return self.tensor(array.shape, scale, zero, array.dtype, array, axis)

    def input(self, shape, scale, zero):
        t = self.tensor(shape, scale, zero)
        self.graph.inputs.append(t)
        return t

    def output(self, t):
        self.graph.outputs.append(t)

    def shape(self, t):
        return list(self.graph.tensors[t].shape)

    def quant(self, t):
        q = self.graph.tensors[t].quantization
        return q.scale[0], q.zeroPoint[0]

    def op(self, builtin, inputs, outputs, options=None, **fields):
        number = getattr(schema.BuiltinOperator, builtin)
        if number not in self.codes:
            self.codes.append(number)
        o = schema.OperatorT()
        o.opcodeIndex = self.codes.index(number)
        o.inputs, o.outputs = list(inputs), list(outputs)
        if options:
            o.builtinOptionsType = getattr(schema.BuiltinOptions, options)
            o.builtinOptions = getattr(schema, options + "T")()
            for k, v in fields.items():
                assert hasattr(o.builtinOptions, k), (options, k)
                setattr(o.builtinOptions, k, v)
        self.graph.operators.append(o)
        return outputs[0] if outputs else None

    def handle(self, name):
        """Of a variable."""
        t = self.tensor([], dtype=np.int32, name=name + "/handle%d" % len(self.graph.tensors))
        self.graph.tensors[t].type = schema.TensorType.RESOURCE
        return self.op("VAR_HANDLE", [], [t], "VarHandleOptions", container="", sharedName=name)

    def begin(self, contents):
        """What variables begin with: (name, array, scale, zero) for each."""
        main, self.graph = self.graph, self.subgraph(b"init")
        for name, array, scale, zero in contents:
            self.op("ASSIGN_VARIABLE", [self.handle(name), self.constant(array, scale, zero)], [], "AssignVariableOptions")
        self.others.append(self.graph)
        self.graph = main
        self.op("CALL_ONCE", [], [], "CallOnceOptions", initSubgraphIndex=len(self.others))

    def bytes(self):
        m = schema.ModelT()
        m.version = 3
        m.description = b""
        m.subgraphs = [self.graph, *self.others]
        m.buffers = self.buffers
        m.operatorCodes = []
        for number in self.codes:
            c = schema.OperatorCodeT()
            c.deprecatedBuiltinCode = min(number, 127)
            c.builtinCode = number
            c.version = 2 if number == schema.BuiltinOperator.BROADCAST_TO else 1  # the least that the interpreter knows
            m.operatorCodes.append(c)
        b = flatbuffers.Builder(1024)
        b.Finish(m.Pack(b), b"TFL3")
        return bytes(b.Output())


def interpret_steps(model, steps, reference=True):
    """Outputs of the stock interpreter with its reference kernels, call after call. The reference SUM of int8 in ai-edge-litert 2.3.0 gives numbers that have
    nothing to do with its operands; models with it need `reference` False: the other builtin kernels, without delegates."""
    resolver = OpResolverType.BUILTIN_REF if reference else OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    i = Interpreter(model_content=model, experimental_op_resolver_type=resolver)
    i.allocate_tensors()
    answers = []
    for inputs in steps:
        for d, x in zip(i.get_input_details(), inputs):
            i.set_tensor(d["index"], x)
        i.invoke()
        answers.append([i.get_tensor(d["index"]) for d in i.get_output_details()])
    return answers


def interpret(model, inputs, reference=True):
    return interpret_steps(model, [inputs], reference)[0]


def run(tool, path, inputs, folder, target, on="host", more=()):
    """Compiles the model and runs the program: its outputs, in steps; or what was said."""
    program = folder / "model.pte"
    made = subprocess.run([tool, "compile", path, "--target", target, "--io", "int8", "-o", program, *more], capture_output=True, text=True)
    if made.returncode != 0:
        return made.returncode, made.stderr
    command = [tool, "run", program, "--output-dir", folder, "--on", on]
    for k, x in enumerate(inputs):
        np.save(folder / ("in%d.npy" % k), x)
        command += ["--input", folder / ("in%d.npy" % k)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return done.returncode, done.stderr
    outputs = sorted(folder.glob("output*.npy"), key=lambda p: int(p.stem[6:]))
    found = [np.load(p) for p in outputs]
    for p in outputs:
        p.unlink()
    return 0, found
