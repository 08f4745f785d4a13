# SPDX-License-Identifier: Apache-2.0
"""Branches and loops of small TFLite models: cases of tflite_builtins.py, and one of tflite_int16.py."""
import numpy as np
from tflite_models import schema


def branch(c):
    """One of two subgraphs, by a known condition."""
    shape = c.shape(c.pick(1, 3))
    x = c.steps(shape)
    made = c.b.tensor(shape, 0.1, 2)
    yes = c.b.constant(np.array([bool(c.pick(0, 1))]))
    main = c.b.graph
    for fn in ("ADD", "MAXIMUM"):
        c.b.graph = c.b.subgraph(fn.encode())
        a, b, y = c.b.tensor(shape, 0.1, 2), c.b.constant(c.r.integers(-128, 128, shape).astype(np.int8), 0.1, 2), c.b.tensor(shape, 0.1, 2)
        c.b.graph.inputs.append(a)
        c.b.output(c.b.op(fn, [a, b], [y], "AddOptions" if fn == "ADD" else "MaximumMinimumOptions"))
        c.b.others.append(c.b.graph)
    c.b.graph = main
    same = c.b.op("QUANTIZE", [x], [c.b.tensor(shape, 0.1, 2)], "QuantizeOptions")
    return [c.b.op("IF", [yes, same], [made], "IfOptions", thenSubgraphIndex=1, elseSubgraphIndex=2)]


def branch_of(c, x, like, flag, depth):
    """What a branch makes of x: the type is that of `like`."""
    t = c.b.graph.tensors[like]
    kind = c.pick(0, 5)
    if kind == 0 and depth < 3:
        both = [c.subgraph([x, like, flag], lambda a, b, f: [branch_of(c, a, b, f, depth + 1)]) for _ in range(2)]
        truth = flag if c.pick(0, 1) else c.truth(x)
        return c.op("IF", [truth, x, like, flag], like, c.b.shape(like), "IfOptions", thenSubgraphIndex=both[0], elseSubgraphIndex=both[1])
    if kind == 1:
        return like
    if kind == 2 and t.type == schema.TensorType.INT8:
        return c.b.constant(c.r.integers(-128, 128, c.b.shape(like)).astype(np.int8), *c.b.quant(like))
    if kind == 3:
        return c.op("MAXIMUM", [like, x], like, c.b.shape(like), "MaximumMinimumOptions")
    return c.op("SUB" if kind == 4 else "ADD", [x, like], like, c.b.shape(like), "SubOptions" if kind == 4 else "AddOptions")


def computed_branch(c):
    """By a condition that is computed, or an input; branches in branches."""
    shape = c.shape(c.pick(1, 3))
    x = c.choose([c.steps, c.floats, lambda s: c.integers(s, np.int32)])(shape)
    like = c.op("MINIMUM", [x, x], x, shape, "MaximumMinimumOptions")
    flag = c.b.tensor(c.choose([[], [1]]), dtype=np.bool_)
    c.b.graph.inputs.append(flag)
    both = [c.subgraph([x, like, flag], lambda a, b, f: [branch_of(c, a, b, f, 0), branch_of(c, a, b, f, 0)]) for _ in range(2)]
    made = [c.like(x, shape) for _ in range(2)]
    c.b.op("IF", [flag if c.pick(0, 2) == 0 else c.truth(x), x, like, flag], made, "IfOptions", thenSubgraphIndex=both[0], elseSubgraphIndex=both[1])
    return made


def counted_loop(c):
    """As Keras writes a recurrent layer: a loop counter, the step of the sequence, what is written for each step, and a state."""
    steps, inputs, units, stride = c.pick(1, 5), c.pick(1, 6), c.pick(1, 6), c.pick(1, 2)
    joins = c.pick(0, 1)
    hidden = (1 / 256, -128)
    x = c.steps([steps, inputs])
    number = c.choose([[], [1]])
    weight = lambda n: c.b.constant(c.r.integers(-127, 128, [units, n]).astype(np.int8), float(10 ** c.r.uniform(-2.5, -1.5)))
    dense = lambda v, n: c.b.op("FULLY_CONNECTED", [v, weight(n)], [c.b.tensor([1, units], 0.05, 3)], "FullyConnectedOptions", fusedActivationFunction=0)
    scalar = lambda v: c.b.constant(np.full(number, v, np.int32))
    add = lambda v, n: c.b.op("ADD", [v, scalar(n)], [c.b.tensor(number, dtype=np.int32)], "AddOptions")
    truth = lambda fn, a, b: c.b.op(fn, [a, b], [c.b.tensor(number, dtype=np.bool_)])

    def condition(turn, at, h, ys, xs):
        less = truth("LESS", turn, scalar(steps))
        return [truth("LOGICAL_AND", less, truth(c.choose(["LESS", "NOT_EQUAL"]), at, scalar(5 + steps * stride)))]

    def body(turn, at, h, ys, xs):
        flat = c.b.op("RESHAPE", [turn, c.ints([1])], [c.b.tensor([1], dtype=np.int32)], "ReshapeOptions", newShape=[1])
        row = c.op("GATHER", [xs, flat], xs, [1, inputs], "GatherOptions", axis=0)
        total = c.b.op("ADD", [dense(row, inputs), dense(h, units)], [c.b.tensor([1, units], 0.05, -5)], "AddOptions", fusedActivationFunction=0)
        now = c.b.op("LOGISTIC", [total], [c.b.tensor([1, units], *hidden)])
        if c.pick(0, 1):
            both = [c.subgraph([now, h], lambda a, b: [b if keep else a]) for keep in (0, 1)]
            now = c.op("IF", [c.truth(row), now, h], h, [1, units], "IfOptions", thenSubgraphIndex=both[0], elseSubgraphIndex=both[1])
        return [add(turn, 1), add(at, stride), now, (joined if joins else updated)(ys, now, flat), xs]

    def updated(ys, now, flat):
        start = c.b.op("CONCATENATION", [flat, c.ints([0])], [c.b.tensor([2], dtype=np.int32)], "ConcatenationOptions", axis=0)
        return c.op("DYNAMIC_UPDATE_SLICE", [ys, now, start], ys, [steps, units], "DynamicUpdateSliceOptions")

    def joined(ys, now, flat):
        """As Keras 3: what is before the step, the step, what is behind it. The first part is empty in the first turn, the last one in the last."""
        pair = lambda v, n: c.b.op("CONCATENATION", [v, c.ints([n])], [c.b.tensor([2], dtype=np.int32)], "ConcatenationOptions", axis=0)
        behind = c.b.op("ADD", [flat, c.ints([1])], [c.b.tensor([1], dtype=np.int32)], "AddOptions")
        parts = []
        for begin, size in ((c.ints([0, 0]), pair(flat, -1)), (pair(behind, 0), c.ints([-1, -1]))):
            parts.append(c.op("SLICE", [ys, begin, size], ys, [1, units], "SliceOptions"))
            c.b.graph.tensors[parts[-1]].shapeSignature = [-1, units]
        return c.op("CONCATENATION", [parts[0], now, parts[1]], ys, [steps, units], "ConcatenationOptions", axis=0)

    begin = [scalar(0), scalar(5), c.b.constant(c.r.integers(-128, 128, [1, units]).astype(np.int8), *hidden),
             c.b.constant(np.full([steps, units], -128, np.int8), *hidden), x]
    made = [c.like(t, c.b.shape(t)) for t in begin]
    c.b.op("WHILE", begin, made, "WhileOptions", condSubgraphIndex=c.subgraph(begin, condition), bodySubgraphIndex=c.subgraph(begin, body))
    return made[2:4]


def loop_in_loop(c):
    """Of floats or int32: the inner one turns as often as the outer one has turned."""
    shape, turns = c.shape(2), c.pick(0, 4)
    x = c.choose([c.floats, lambda s: c.integers(s, np.int32)])(shape)
    zero, limit = c.ints([0]), c.ints([turns])
    inner = lambda i, n, v: [c.op("ADD", [i, c.ints([1])], i, [1], "AddOptions"), n, c.op("ADD", [v, v], v, shape, "AddOptions")]
    less = lambda i, n, v: [c.b.op("LESS", [i, n], [c.b.tensor([1], dtype=np.bool_)], "LessOptions")]

    def loop(operands, body):
        made = [c.like(t, c.b.shape(t)) for t in operands]
        c.b.op("WHILE", operands, made, "WhileOptions", condSubgraphIndex=c.subgraph(operands, less), bodySubgraphIndex=c.subgraph(operands, body))
        return made

    def outer(i, n, v):
        inside = loop([c.ints([0]), i, v], inner)
        return [c.op("ADD", [i, c.ints([1])], i, [1], "AddOptions"), n, c.op("ADD", [inside[2], v], v, shape, "AddOptions")]

    return [c.op("ADD", [loop([zero, limit, x], outer)[2], x], x, shape, "AddOptions")]


def recurrent_of_int16(r):
    """A layer of Keras as a loop: a step of the sequence, a state, and what is written for each step."""
    steps, inputs, units = r.pick(1, 5), r.pick(1, 9), r.pick(1, 9)
    x, b, s = r.b.input([steps, inputs], r.scale(), 0), r.b, 2.0 ** -15
    number, one = lambda: b.tensor([1], dtype=np.int32), lambda: b.tensor([1, units], s)
    dense = lambda v, n: b.op("FULLY_CONNECTED", [v, r.weights([units, n], 1)[0]], [b.tensor([1, units], 2.0 ** -13)], "FullyConnectedOptions")

    def part(make):
        main, b.graph = b.graph, b.subgraph(b"part")
        b.graph.inputs = [number(), one(), b.tensor([steps, units], s), b.tensor([steps, inputs], b_scale)]
        b.graph.outputs = make(*b.graph.inputs)
        b.others.append(b.graph)
        b.graph = main
        return len(b.others)

    def condition(i, h, ys, xs):
        return [b.op("LESS", [i, r.ints([steps])], [b.tensor([1], dtype=np.bool_)], "LessOptions")]

    def body(i, h, ys, xs):
        row = b.op("GATHER", [xs, i], [b.tensor([1, inputs], b_scale)], "GatherOptions", axis=0)
        total = b.op("ADD", [dense(row, inputs), dense(h, units)], [b.tensor([1, units], 2.0 ** -12)], "AddOptions", potScaleInt16=False)
        now = b.op("TANH", [total], [one()])
        start = b.op("CONCATENATION", [i, r.ints([0])], [b.tensor([2], dtype=np.int32)], "ConcatenationOptions", axis=0)
        written = b.op("DYNAMIC_UPDATE_SLICE", [ys, now, start], [b.tensor([steps, units], s)], "DynamicUpdateSliceOptions")
        return [b.op("ADD", [i, r.ints([1])], [number()], "AddOptions"), now, written, xs]

    b_scale = b.quant(x)[0]
    begin = [r.ints([0]), r.steps([1, units], s), b.constant(np.zeros([steps, units], np.int16), s, 0), x]
    made = [number(), one(), b.tensor([steps, units], s), b.tensor([steps, inputs], b_scale)]
    b.op("WHILE", begin, made, "WhileOptions", condSubgraphIndex=part(condition), bodySubgraphIndex=part(body))
    return made[2]


CASES = [branch, computed_branch, counted_loop, loop_in_loop]
