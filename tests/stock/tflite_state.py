#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TFLite models with variables, step by step, against the interpreter of ai-edge-litert with its reference kernels, bit for bit.

    tflite_state.py DEUTERON [--seeds N]

Each random model is called STEPS times in a row; its state begins as its CALL_ONCE says, or with zeros, as in TFLite Micro.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from tflite_files import micro
from tflite_models import Builder, interpret_steps

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import checks
from checks import check

STEPS = 9
TARGETS = ["cortex-m55", "cortex-m4", "cortex-m3"]


def steps_between(random, least=-128, most=128):
    return lambda shape: random.integers(least, most, shape).astype(np.int8)


def read(b, name, shape, scale, zero, dtype=np.int8):
    return b.op("READ_VARIABLE", [b.handle(name)], [b.tensor(shape, scale, zero, dtype)], "ReadVariableOptions")


def assign(b, name, value):
    b.op("ASSIGN_VARIABLE", [b.handle(name), value], [], "AssignVariableOptions")


def streaming_convolution(b, random):
    """The frames before are a variable: concatenated with the new one, its newest part kept."""
    taps, channels, features = (int(random.integers(*r)) for r in ((2, 5), (1, 9), (1, 7)))
    scale, zero = float(random.uniform(0.01, 0.1)), int(random.integers(-128, 128))
    any_steps = steps_between(random)
    kept = [1, taps - 1, 1, channels]
    b.begin([("frames", any_steps(kept), scale, zero)])
    x = b.input([1, 1, 1, channels], scale, zero)
    window = b.op("CONCATENATION", [read(b, "frames", kept, scale, zero), x], [b.tensor([1, taps, 1, channels], scale, zero)],
                  "ConcatenationOptions", axis=1)
    assign(b, "frames", b.op("STRIDED_SLICE", [window] + [b.constant(np.array(v, np.int32)) for v in ([0, 1, 0, 0], [1, taps, 1, channels], [1] * 4)],
                             [b.tensor(kept, scale, zero)], "StridedSliceOptions"))
    weight = b.constant(any_steps([features, taps, 1, channels]), random.uniform(0.001, 0.01, features))
    bias = b.constant(random.integers(-500, 500, features).astype(np.int32))
    b.output(b.op("CONV_2D", [window, weight, bias], [b.tensor([1, 1, 1, features], 0.05, -3)], "Conv2DOptions", padding=1, strideH=1, strideW=1))


def moving_sum(b, random, zeros=lambda *variable: None):
    """Nothing says what it begins with. Read again behind the assignment, as another operator may."""
    shape = [1, int(random.integers(1, 9))]
    scale, zero = float(random.uniform(0.02, 0.1)), int(random.integers(-60, 60))
    x = b.input(shape, float(random.uniform(0.01, 0.05)), int(random.integers(-128, 128)))
    zeros("sum", shape, scale, zero)
    total = b.op("ADD", [read(b, "sum", shape, scale, zero), x], [b.tensor(shape, scale, zero)], "AddOptions")
    assign(b, "sum", total)
    b.output(b.op("LOGISTIC", [read(b, "sum", shape, scale, zero)], [b.tensor(shape, 1 / 256, -128)]))


def shift_register(b, random, zeros=lambda *variable: None):
    """A variable takes what another one had, and an output is the older of the two."""
    shape = [1, int(random.integers(1, 9))]
    scale, zero = float(random.uniform(0.02, 0.1)), int(random.integers(-128, 128))
    b.begin([("old", steps_between(random)(shape), scale, zero)])
    zeros("new", shape, scale, zero)
    x = b.input(shape, scale, zero)
    old, new = read(b, "old", shape, scale, zero), read(b, "new", shape, scale, zero)
    assign(b, "old", new)
    assign(b, "new", b.op("RELU", [x], [b.tensor(shape, scale, zero)]))
    b.output(b.op("MAXIMUM", [old, x], [b.tensor(shape, scale, zero)], "MaximumMinimumOptions"))


def svdf(b, random):
    """Its state is a variable tensor: nobody names it, and nothing says what it begins with."""
    batch, inputs, units, rank, memory = (int(random.integers(*r)) for r in ((1, 3), (1, 12), (1, 6), (1, 4), (1, 10)))
    filters = units * rank
    steps = lambda shape, kind, most: random.integers(-most, most + 1, shape).astype(kind)  # noqa: E731
    x = b.input([batch, inputs], float(random.uniform(0.01, 0.1)), int(random.integers(-128, 128)))
    features = b.constant(steps([filters, inputs], np.int8, 127), float(random.uniform(0.002, 0.02)))
    most = min(32767, 65000 // (memory * rank))  # TFLite's sums over time wrap beyond int32, and ours saturate
    times = b.constant(steps([filters, memory], np.int16, most), float(random.uniform(0.5, 2)) / most)
    bias = b.constant(random.integers(-50000, 50000, units).astype(np.int32)) if random.integers(4) else -1
    state = b.tensor([batch, filters * memory], float(random.uniform(0.5, 8)) / 32768, 0, np.int16)
    b.graph.tensors[state].isVariable = True
    y = b.tensor([batch, units], float(random.uniform(0.01, 0.2)), int(random.integers(-128, 20)))
    b.output(b.op("SVDF", [x, features, times, bias, state], [y], "SVDFOptions", rank=rank, fusedActivationFunction=1))


def svdf_bytes(b, random):
    """A state of int8, which only TFLite Micro computes: its own interpreter answers. Some features pass the end of int8."""
    batch, inputs, units, rank, memory = (int(random.integers(*r)) for r in ((1, 3), (1, 12), (1, 6), (1, 4), (1, 10)))
    filters = units * rank
    steps = lambda shape, kind, most: random.integers(-most, most + 1, shape).astype(kind)  # noqa: E731
    x = b.input([batch, inputs], float(random.uniform(0.01, 0.1)), int(random.integers(-128, 128)))
    features = b.constant(steps([filters, inputs], np.int8, 127), float(random.uniform(0.002, 0.02)))
    times_scale, state_scale = float(random.uniform(0.002, 0.02)), float(random.uniform(0.02, 0.6))
    times = b.constant(steps([filters, memory], np.int8, 127), times_scale)
    bias = b.constant(random.integers(-5000, 5000, units).astype(np.int32), np.float32(times_scale) * np.float32(state_scale))
    state = b.tensor([batch, filters * memory], state_scale, int(random.integers(-60, 60)))
    b.graph.tensors[state].isVariable = True
    y = b.tensor([batch, units], float(random.uniform(0.01, 0.2)), int(random.integers(-128, 20)))
    b.output(b.op("SVDF", [x, features, times, bias, state], [y], "SVDFOptions", rank=rank, fusedActivationFunction=1))


def two_svdf(b, random):
    """A second layer on what the first one gives, whose result a quantized layer reads too."""
    one = lambda shape, kind, most: random.integers(-most, most + 1, shape).astype(kind)  # noqa: E731
    x = b.input([1, 6], 0.05, 3)
    for k in range(2):
        state = b.tensor([1, 8 * 5], 4 / 32768, 0, np.int16)
        b.graph.tensors[state].isVariable = True
        operands = [x, b.constant(one([8, 6 if k == 0 else 4], np.int8, 127), 0.004), b.constant(one([8, 5], np.int16, 6500), 1 / 6500),
                    b.constant(one([4], np.int32, 9000)), state]
        x = b.op("SVDF", operands, [b.tensor([1, 4], 0.03, -128)], "SVDFOptions", rank=2, fusedActivationFunction=1)
    b.output(b.op("LOGISTIC", [x], [b.tensor([1, 4], 1 / 256, -128)]))


def sequence_lstm(b, random):
    """A sequence in each call: the states of its end are those of the next call's beginning. Some biases are so large that gates saturate."""
    batch, steps, inputs, units = (int(random.integers(*r)) for r in ((1, 4), (1, 7), (1, 20), (1, 20)))
    time_major, bits, most_bias = bool(random.integers(2)), int(random.integers(9, 16)), int(random.choice([500, 20000, 2**31 - 1]))
    many = lambda shape, kind, most: random.integers(-most, most + 1, shape).astype(kind)  # noqa: E731
    rows = [steps, batch] if time_major else [batch, steps]
    x = b.input([*rows, inputs], float(random.uniform(0.005, 0.1)), int(random.integers(-128, 128)))
    weights = [b.constant(many([units, n], np.int8, 127), float(random.uniform(0.001, 0.05))) for n in [inputs] * 4 + [units] * 4]
    biases = [b.constant(many([units], np.int32, most_bias)) for _ in range(4)]
    result, zero = float(random.uniform(0.003, 0.01)), int(random.integers(-60, 60))
    hidden, cell = b.tensor([batch, units], result, zero), b.tensor([batch, units], 2.0**-bits, 0, np.int16)
    for state in (hidden, cell): b.graph.tensors[state].isVariable = True
    y = b.op("UNIDIRECTIONAL_SEQUENCE_LSTM", [x, *weights, -1, -1, -1, *biases, -1, -1, hidden, cell], [b.tensor([*rows, units], result, zero)],
             "UnidirectionalSequenceLSTMOptions", fusedActivationFunction=4, timeMajor=time_major,
             cellClip=float(random.choice([0, 0.4])))
    b.graph.operators[-1].intermediates = [b.tensor([1], 2.0**-12, 0, np.int16) for _ in range(4)] + [b.tensor([1], result, zero)]
    b.output(y)


def subgraph(b, make):
    """The number of one: `make` gives its inputs and outputs."""
    main, b.graph = b.graph, b.subgraph(b"sub")
    b.graph.inputs, b.graph.outputs = make()
    b.others.append(b.graph)
    b.graph = main
    return len(b.others)


def sum_in_a_loop(b, random):
    """Each turn adds to a variable, and a branch by an input's value reads it."""
    shape, turns = [1, int(random.integers(1, 9))], int(random.integers(1, 4))
    scale, zero = float(random.uniform(0.02, 0.1)), int(random.integers(-60, 60))
    b.begin([("sum", steps_between(random)(shape), scale, zero)])
    steps = lambda: b.tensor(shape, scale, zero)  # noqa: E731
    number = lambda: b.tensor([1], dtype=np.int32)  # noqa: E731
    ints = lambda *v: b.constant(np.array(v, np.int32))  # noqa: E731

    def condition():
        i = number()
        return [i, steps()], [b.op("LESS", [i, ints(turns)], [b.tensor([1], dtype=np.bool_)], "LessOptions")]

    def body():
        i, x = number(), steps()
        assign(b, "sum", b.op("ADD", [read(b, "sum", shape, scale, zero), x], [steps()], "AddOptions"))
        return [i, x], [b.op("ADD", [i, ints(1)], [number()], "AddOptions"), x]

    def old():
        return [steps()], [read(b, "sum", shape, scale, zero)]

    def new():
        x = steps()
        return [x], [x]

    x = b.input(shape, scale, zero)
    most = b.op("REDUCE_MAX", [x, ints(0, 1)], [b.tensor([], scale, zero)], "ReducerOptions")
    high = b.op("GREATER", [most, b.constant(np.array(90, np.int8), scale, zero)], [b.tensor([], dtype=np.bool_)], "GreaterOptions")
    b.op("WHILE", [ints(0), x], [number(), steps()], "WhileOptions", condSubgraphIndex=subgraph(b, condition), bodySubgraphIndex=subgraph(b, body))
    b.output(b.op("IF", [high, x], [steps()], "IfOptions", thenSubgraphIndex=subgraph(b, new), elseSubgraphIndex=subgraph(b, old)))


def once(b, random):
    """Never assigned but by CALL_ONCE: a constant."""
    shape = [1, int(random.integers(1, 9))]
    b.begin([("offset", steps_between(random)(shape), 0.05, 4)])
    x = b.input(shape, 0.05, 4)
    b.output(b.op("ADD", [read(b, "offset", shape, 0.05, 4), x], [b.tensor(shape, 0.1, 0)], "AddOptions"))


def interpreted(make, seed):
    """The model for the interpreter, which refuses to read what nobody has assigned: there such a variable is said to begin with zeros."""
    b = Builder()
    zeros = lambda name, shape, scale, zero: b.begin([(name, np.full(shape, zero, np.int8), scale, zero)])
    make(b, np.random.default_rng(seed), **({"zeros": zeros} if make in (moving_sum, shift_register) else {}))
    return b.bytes()


def answers_of(interpreter, model, samples):
    """Of a model with one input and one output, call after call."""
    return np.stack([step[0] for step in interpreter(model, [[x] for x in samples])])


def call(arguments):
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, timeout=600)
    return check(done.returncode == 0, f"{' '.join(str(a) for a in arguments)}: {done.stdout[-1000:]}{done.stderr[-1000:]}")


def compare(tool, make, seed, folder):
    b, random = Builder(), np.random.default_rng(seed)
    make(b, random)
    model, name = folder / "model.tflite", f"{make.__name__}{seed}"
    model.write_bytes(b.bytes())
    samples = random.integers(-128, 128, [STEPS, *b.shape(b.graph.inputs[0])]).astype(np.int8)
    np.save(folder / "x.npy", samples)
    stock = interpreted(make, seed)
    interpreter = micro if make is svdf_bytes else interpret_steps
    wanted = answers_of(interpreter, stock, samples)
    for target in TARGETS:
        program = folder / f"{target}.pte"
        if not call([tool, "compile", model, "--target", target, "--io", "int8", "-o", program]): continue
        if not call([tool, "run", program, "--input", folder / "x.npy", "--output-dir", folder]): continue
        found = np.load(folder / "output0.npy")
        same = check(found.dtype == wanted.dtype and np.array_equal(found.ravel(), wanted.ravel()), f"{name} on {target}: {found.ravel()[:24]}, TFLite's {wanted.ravel()[:24]}")
        if not same: return
        if make is not once:  # the state has to matter, or nothing was compared
            again = answers_of(interpreter, stock, samples[-1:])
            matters[make.__name__] = matters.get(make.__name__, False) or not np.array_equal(again[0], wanted[-1])


def float_svdf(b, random):
    inputs, units, rank, memory = (int(random.integers(*r)) for r in ((4, 12), (2, 6), (1, 4), (1, 10)))
    normal = lambda *shape: random.normal(0, 0.4, shape).astype(np.float32)  # noqa: E731
    x = b.tensor([1, inputs], dtype=np.float32)
    b.graph.inputs.append(x)
    state = b.tensor([1, units * rank * memory], dtype=np.float32)
    b.graph.tensors[state].isVariable = True
    operands = [x, b.constant(normal(units * rank, inputs)), b.constant(normal(units * rank, memory)), b.constant(normal(units)), state]
    b.output(b.op("SVDF", operands, [b.tensor([1, units], dtype=np.float32)], "SVDFOptions", rank=rank))


def float_lstm(b, random):
    steps, inputs, units = (int(random.integers(*r)) for r in ((1, 5), (4, 12), (3, 12)))
    normal = lambda *shape: random.normal(0, 0.3, shape).astype(np.float32)  # noqa: E731
    x = b.tensor([1, steps, inputs], dtype=np.float32)
    b.graph.inputs.append(x)
    operands = [x] + [b.constant(normal(units, n)) for n in [inputs] * 4 + [units] * 4] + [-1] * 3 + [b.constant(normal(units)) for _ in range(4)]
    states = [b.tensor([1, units], dtype=np.float32) for _ in range(2)]
    for state in states: b.graph.tensors[state].isVariable = True
    b.output(b.op("UNIDIRECTIONAL_SEQUENCE_LSTM", [*operands, -1, -1, *states], [b.tensor([1, steps, units], dtype=np.float32)],
                  "UnidirectionalSequenceLSTMOptions", fusedActivationFunction=4))


def compare_float(tool, make, seed, folder):
    """Quantized by us: what it gives follows TFLite's float kernel through a sequence."""
    b, random = Builder(), np.random.default_rng(seed)
    make(b, random)
    model = folder / "model.tflite"
    model.write_bytes(b.bytes())
    samples = random.uniform(-1, 1, [40, *b.shape(b.graph.inputs[0])]).astype(np.float32)
    np.save(folder / "x.npy", samples)
    wanted = answers_of(interpret_steps, b.bytes(), samples).astype(np.float64)
    if not call([tool, "compile", model, "--target", "cortex-m55", "--calibrate", folder / "x.npy", "-o", folder / "f.pte"]): return
    if not call([tool, "run", folder / "f.pte", "--input", folder / "x.npy", "--output-dir", folder]): return
    noise = np.load(folder / "output0.npy").reshape(wanted.shape) - wanted
    check(10 * np.log10(np.sum(wanted**2) / np.sum(noise**2)) > 25, f"{make.__name__}{seed}: {10 * np.log10(np.sum(wanted**2) / np.sum(noise**2))} dB")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("deuteron")
    p.add_argument("--seeds", type=int, default=12)
    options = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for make in (streaming_convolution, moving_sum, shift_register, svdf, svdf_bytes, two_svdf, sequence_lstm, sum_in_a_loop, once):
            for seed in range(options.seeds):
                compare(options.deuteron, make, seed, pathlib.Path(folder))
        for make in (float_svdf, float_lstm):
            for seed in range(options.seeds):
                compare_float(options.deuteron, make, seed, pathlib.Path(folder))
    for name, does in matters.items(): check(does, f"{name}: the last step never depends on those before")
    print(f"tflite state: {checks.verdict()}")
    return checks.failed != 0


matters = {}
sys.exit(main())
