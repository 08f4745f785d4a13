#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ONNX models as Brevitas, ONNX Runtime's optimizer and scikit-learn's converter write them, made here, against ONNX Runtime.

    onnx_kinds.py DEUTERON FLOAT_RUNNER [--only NAME]

Quantized models are compiled and run: steps differ by one at most, where a sum lies between two (at most 5 % of the elements). Tree ensembles are compiled
and run, too: their scores are ONNX Runtime's to 1e-6 of the range, though features lie close to bounds. All else is compared in float, within 1e-5.
Without the packages of tests/stock/requirements-onnx.txt it says so and exits with 77."""
import argparse
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper
except ImportError as missing:
    print("left out: kinds of ONNX models: %s; ./dev test installs the packages of tests/stock/requirements-onnx.txt" % missing)
    sys.exit(77)

import float_jobs

ML, MICROSOFT = "ai.onnx.ml", "com.microsoft"
random = np.random.default_rng(3)
SAMPLES, TIES = 24, 0.05  # a mean of 24 steps lies between two in 1 of 24


def floats(*shape):
    return random.normal(size=shape).astype(np.float32)


def listed(*shape):
    return [float(v) for v in floats(*shape).ravel()]


class Net:
    """A model node by node; `like` says in which way it is compared: steps of that size, "exact" or "float"."""

    def __init__(self, shape, opset=13, domain=None, kind=TensorProto.FLOAT):
        self.nodes, self.constants, self.inputs, self.outputs, self.made = [], [], [], [], 0
        self.opsets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 3 if domain == ML else 1)] if domain else [])
        self.domain = domain or ""
        self.data = []
        if shape:
            self.input("x", shape, kind)

    def input(self, name, shape, kind=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        self.data.append(floats(SAMPLES, *shape) if kind == TensorProto.FLOAT else random.integers(-3, 4, (SAMPLES, *shape)))
        return name

    def constant(self, value, kind=None):
        name = "c%d" % self.made
        self.made += 1
        value = np.asarray(value)
        self.constants.append(numpy_helper.from_array(value, name) if kind is None
                              else helper.make_tensor(name, kind, value.shape, value.ravel().tolist()))
        return name

    def node(self, op, *inputs, results=1, domain="", **attributes):
        names = ["v%d" % (self.made + k) for k in range(results)]
        self.made += results
        self.nodes.append(helper.make_node(op, list(inputs), names, domain=domain, **attributes))
        return names if results > 1 else names[0]

    def own(self, op, *inputs, **more):
        return self.node(op, *inputs, domain=self.domain, **more)

    def clipped(self, x, scale, zero, low=None, high=None, **axis):
        """QuantizeLinear, Clip, DequantizeLinear."""
        s, z = self.constant(np.asarray(scale, np.float32)), self.constant(zero)
        q = self.node("QuantizeLinear", x, s, z, **axis)
        if low is not None or high is not None:
            bounds = [self.constant(np.asarray(b, np.asarray(zero).dtype)) if b is not None else "" for b in (low, high)]
            q = self.node("Clip", q, *bounds)
        return self.node("DequantizeLinear", q, s, z, **axis)

    def output(self, name, kind=TensorProto.FLOAT):
        self.outputs.append(helper.make_tensor_value_info(name, kind, None))

    def save(self, path):
        model = helper.make_model(helper.make_graph(self.nodes, "g", self.inputs, self.outputs, self.constants), opset_imports=self.opsets)
        model.ir_version = 10 if self.opsets[0].version > 12 else 6
        onnx.save(model, path)


def brevitas(name, weights=(-127, 127), channels=True, zero=np.uint8(0), act=(None, None), opset=13):
    net = Net((1, 3, 9, 7), opset)
    x = net.clipped("x", 0.03, np.int8(0), -127, 127)
    scale = 0.02 * 127 / weights[1]
    many = {"axis": 0} if channels else {}
    w = net.clipped(net.constant(floats(5, 3, 3, 3)), scale * np.arange(1, 6) if channels else scale, np.zeros(5, np.int8) if channels else np.int8(0),
                    *weights, **many)
    step = np.float32(0.03) * (scale * np.arange(1, 6) if channels else np.full(5, scale))  # of the sums: a bias between two of them would be rounded
    y = net.node("Relu", net.node("Conv", x, w, net.constant((np.round(floats(5) / step) * step).astype(np.float32)), pads=[1, 1, 1, 1]))
    net.output(net.clipped(y, 0.05, zero, *act))
    return name, net, 0.05


def four_bits(name, kind, zero):
    net = Net((1, 6), 21)
    s, z = net.constant(np.float32(0.25)), net.constant(zero, kind)
    net.output(net.node("DequantizeLinear", net.node("QuantizeLinear", "x", s, z), s, z))
    return name, net, "exact"


def activations_by_channel(name, zeros, with_layer):
    net = Net((1, 3, 5, 4))
    scales = np.array([.01, .03, .06], np.float32)
    y = net.clipped("x", scales, np.asarray(zeros), axis=1)
    if with_layer:
        w = net.clipped(net.constant(floats(3, 3, 3, 3)), .02, np.int8(0))
        y = net.node("Relu", net.node("Conv", y, w, pads=[1, 1, 1, 1]))
        y = net.clipped(y, np.array([.05, .04, .03]), np.zeros(3, np.uint8), axis=-3)
    net.output(y)
    return name, net, .05 if with_layer else .06


def biased(name):
    net = Net((1, 6))
    x = net.clipped("x", 0.03, np.int8(0), -127, 127)
    scales = np.array([.02, .03, .01, .02], np.float32)
    w = net.clipped(net.constant(floats(4, 6)), scales, np.zeros(4, np.int8), -127, 127, axis=0)
    whole = net.node("Clip", net.constant(np.array([100, -2000, 3000, 5], np.int32)), net.constant(np.int32(-2500)), net.constant(np.int32(2500)))
    b = net.node("DequantizeLinear", whole, net.constant(scales * np.float32(.03)), net.constant(np.zeros(4, np.int32)), axis=0)
    net.output(net.clipped(net.node("Gemm", x, w, b, transB=1), 0.06, np.int8(0), -127, 127))
    return name, net, 0.06


def moved(name):
    net = Net((1, 3, 4, 4))
    s, z = net.constant(np.float32(0.05)), net.constant(np.uint8(100))
    q = net.node("QuantizeLinear", "x", s, z)
    flat = net.node("Reshape", q, net.constant(np.array([1, 48])))
    net.output(net.node("DequantizeLinear", net.node("Clip", flat, net.constant(np.uint8(90)), net.constant(np.uint8(140))), s, z))
    net.output(net.node("DequantizeLinear", q, s, z))
    return name, net, "exact"


def transposed(name, groups, axis):
    channels, each = 6, {1: 4, 2: 4, 3: 1, 6: 2}[groups]
    net = Net((1, channels, 5, 5))
    x = net.clipped("x", 0.03, np.int8(0))
    count = channels if axis == 0 else each
    w = net.clipped(net.constant(floats(channels, each, 3, 3)), np.linspace(.01, .03, count), np.zeros(count, np.int8), axis=axis)
    y = net.node("ConvTranspose", x, w, net.constant(floats(each * groups)), group=groups, strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1])
    net.output(net.clipped(y, 0.08, np.int8(0)))
    return name, net, 0.08


def old(name):
    net = Net((1, 2, 5, 5), 10)
    y = net.node("Pad", net.node("Clip", "x", min=-.5, max=.7), pads=[0, 0, 1, 1, 0, 0, 1, 1], value=.25)
    near = net.node("Resize", y, net.constant(np.array([1, 1, 2, 2], np.float32)), mode="nearest")
    net.output(net.node("Resize", near, net.constant(np.array([1, 1, 1.5, 2], np.float32)), mode="linear"))
    return name, net, "float"


def fused(name, op, *shapes, **attributes):
    net = Net(shapes[0], 14, MICROSOFT)
    net.output(net.own(op, "x", *[net.constant(floats(*s)) if s else "" for s in shapes[1:]], **{k: v for k, v in attributes.items() if v != []}))
    return name, net, "float"


def channels_last(name):
    net = Net((1, 9, 7, 3), 14, MICROSOFT)
    c = net.constant
    x_steps, y_steps = [c(np.float32(0.03)), c(np.uint8(120))], [c(np.float32(0.1)), c(np.uint8(100))]
    w = c(random.integers(-127, 128, (4, 3, 3, 3)).astype(np.int8))
    bias = c(random.integers(-900, 900, 4).astype(np.int32))
    q = net.node("QuantizeLinear", "x", *x_steps)
    y = net.own("QLinearConv", q, *x_steps, w, c(np.full(4, .02, np.float32)), c(np.zeros(4, np.int8)), *y_steps, bias, channels_last=1, pads=[1, 1, 1, 1])
    y = net.own("NhwcMaxPool", y, kernel_shape=[2, 2], strides=[2, 1])
    net.output(net.node("DequantizeLinear", y, *y_steps))
    mean = net.own("QLinearGlobalAveragePool", y, *y_steps, *y_steps, channels_last=1)
    net.output(net.node("DequantizeLinear", mean, *y_steps))
    return name, net, 0.1


def plain(name, op, shape=(1, 4), kind=TensorProto.FLOAT, out=TensorProto.FLOAT, data=None, like="float", operands=(), **attributes):
    net = Net(shape, 15, ML, kind)
    net.data = net.data if data is None else [data]
    net.output(net.own(op, "x", *[net.constant(o) for o in operands], **attributes), out)
    return name, net, like


def linear(name, classes, transform, labels):
    net = Net((1, 4), 15, ML)
    label, scores = net.own("LinearClassifier", "x", results=2, coefficients=listed(classes, 4), intercepts=listed(classes), post_transform=transform,
                            classlabels_ints=labels)
    net.output(label, TensorProto.INT64)
    net.output(scores)
    return name, net, "float"


def grown(trees, depth, features, targets, kind, mode="BRANCH_LEQ", ids=None, positive=False):
    lists = {"nodes_" + n: [] for n in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids")}
    weights = {"treeids": [], "nodeids": [], "ids": [], "weights": []}

    def add(tree, level):
        at, index = lists["nodes_treeids"].count(tree), len(lists["nodes_treeids"])
        leaf = level == 0 or (level < depth and random.random() < .3)
        for n, v in (("treeids", tree), ("nodeids", at), ("featureids", 0 if leaf else int(random.integers(features))),
                     ("values", 0. if leaf else float(np.float32(random.normal()))), ("modes", "LEAF" if leaf else mode), ("truenodeids", 0), ("falsenodeids", 0)):
            lists["nodes_" + n].append(v)
        if leaf:
            for target in range(targets) if ids is None else ids:
                for n, v in (("treeids", tree), ("nodeids", at), ("ids", target), ("weights", abs(listed(1)[0]) if positive else listed(1)[0])):
                    weights[n].append(v)
        else:
            lists["nodes_truenodeids"][index] = add(tree, level - 1)
            lists["nodes_falsenodeids"][index] = add(tree, level - 1)
        return at
    for tree in range(trees):
        add(tree, depth)
    return {**lists, **{"%s_%s" % (kind, n): v for n, v in weights.items()}}


def forest(name, targets=1, trees=8, depth=4, mode="BRANCH_LEQ", **attributes):
    net = Net((2, 5), 15, ML)
    net.output(net.own("TreeEnsembleRegressor", "x", n_targets=targets, **grown(trees, depth, 5, targets, "target", mode), **attributes))
    return name, net, "exact"


def classes(name, labels, ids, transform, positive, base=None):
    net = Net((1, 5), 15, ML)
    more = {"base_values": base} if base else {}
    label, scores = net.own("TreeEnsembleClassifier", "x", results=2, post_transform=transform, classlabels_int64s=labels, **more,
                            **grown(6, 3, 5, len(labels), "class", ids=ids, positive=positive))
    net.output(label, TensorProto.INT64)
    if transform == "NONE" and ids != [0]:  # else scores are rounded to steps
        net.output(scores)
    return name, net, "exact"


def kinds():
    yield brevitas("narrow")
    yield brevitas("int4", (-8, 7))
    yield brevitas("int3", (-4, 3), False)
    yield brevitas("int2", (-2, 1), False)
    yield brevitas("uint4_activations", act=(0, 15))
    yield brevitas("one_bound", act=(None, 99))
    yield brevitas("int8_activations", zero=np.int8(-5), act=(-100, 101))
    yield brevitas("uint8_symmetric", zero=np.uint8(128), act=(1, 255))
    yield brevitas("opset12", channels=False, opset=12)
    yield brevitas("opset21", opset=21)
    yield four_bits("int4_zero", TensorProto.INT4, 0)
    yield four_bits("uint4_zero", TensorProto.UINT4, 3)
    yield biased("int32_bias")
    yield moved("clipped_view")
    yield activations_by_channel("activations_by_channel", np.array([3, -5, 9], np.int8), False)
    yield activations_by_channel("unsigned_activations_by_channel", np.array([128, 100, 90], np.uint8), False)
    yield activations_by_channel("layer_of_activations_by_channel", np.zeros(3, np.int8), True)
    for groups, axis in ((1, 1), (2, 1), (3, 1), (6, 0), (6, 1), (3, 0), (1, 0)):
        yield transposed("transposed_%d_groups_axis_%d" % (groups, axis), groups, axis)
    yield old("opset10")
    for activation, params in (("Relu", []), ("LeakyRelu", [.2]), ("Clip", [-.5, 1.5]), ("HardSigmoid", [.3, .4]), ("Tanh", [])):
        yield fused("conv_" + activation, "FusedConv", (1, 3, 6, 6), (4, 3, 3, 3), (4,), activation=activation, activation_params=params, pads=[1, 1, 1, 1])
    yield fused("conv_sum", "FusedConv", (1, 3, 6, 6), (4, 3, 3, 3), (4,), (1, 4, 6, 6), activation="Relu", pads=[1, 1, 1, 1])
    yield fused("gemm", "FusedGemm", (2, 5), (3, 5), (3,), activation="LeakyRelu", activation_alpha=.1, transB=1)
    yield fused("matmul", "FusedMatMul", (2, 3, 4), (2, 5, 4), transB=1, alpha=.5)
    yield fused("matmul_batch", "FusedMatMul", (3, 2, 4), (4, 2, 5), transBatchA=1, transBatchB=1)
    yield fused("skip_norm", "SkipLayerNormalization", (1, 3, 8), (1, 3, 8), (8,), (8,), (8,), epsilon=1e-5)
    yield channels_last("channels_last")
    yield plain("scaler", "Scaler", offset=listed(4), scale=[2., .5, 1., 3.])
    yield plain("one_scale", "Scaler", offset=[.5], scale=[2.])
    yield plain("whole_features", "Scaler", kind=TensorProto.INT64, offset=[.5], scale=[2.])
    yield plain("norm_max", "Normalizer", norm="MAX", data=abs(floats(SAMPLES, 1, 4)) + 1)
    yield plain("norm_l1", "Normalizer", norm="L1")
    yield plain("norm_l2", "Normalizer", norm="L2")
    yield plain("binarizer", "Binarizer", threshold=.3)
    yield plain("extractor", "ArrayFeatureExtractor", operands=(np.array([2, 0]),))
    yield plain("regressor", "LinearRegressor", coefficients=listed(12), intercepts=[.1, .2, .3], targets=3)
    keys = random.choice([1, 5, -3, 4], (SAMPLES, 1, 4))
    yield plain("labels", "LabelEncoder", kind=TensorProto.INT64, out=TensorProto.INT64, data=keys, keys_int64s=[1, 5, -3], values_int64s=[10, 20, 30],
                default_int64=7)
    yield plain("named", "LabelEncoder", data=keys.astype(np.float32), keys_floats=[1., 5., -3.], values_floats=[.1, .2, .3], default_float=.7)
    for count, transform in ((3, "SOFTMAX"), (3, "LOGISTIC"), (3, "NONE"), (2, "LOGISTIC"), (1, "LOGISTIC"), (1, "NONE")):
        yield linear("classifier_%d_%s" % (count, transform.lower()), count, transform, [[0, 1], [0, 1], [5, -7, 9]][count - 1])
    yield forest("forest", aggregate_function="SUM")
    yield forest("forest_average", aggregate_function="AVERAGE")
    yield forest("forest_of_three", 3, base_values=[.5, .1, -.2])
    yield forest("forest_below", mode="BRANCH_LT")
    yield forest("forest_above", mode="BRANCH_GTE")
    yield forest("leaf", trees=1, depth=0)
    yield classes("three_classes", [3, 5, 9], None, "NONE", True)
    yield classes("three_classes_softmax", [0, 1, 2], None, "SOFTMAX", False)
    yield classes("two_classes", [4, 9], [0], "NONE", True)
    yield classes("two_classes_boosted", [0, 1], [0], "LOGISTIC", False, [.25])
    yield classes("two_classes_signed", [0, 1], [0], "NONE", False)
    yield classes("second_class", [0, 1], [1], "NONE", False)
    yield classes("both_classes", [0, 1], None, "NONE", True)


def wanted_of(path, net):
    session = onnxruntime.InferenceSession(str(path))
    each = [session.run(None, {i.name: x[k] for i, x in zip(net.inputs, net.data)}) for k in range(SAMPLES)]
    return [np.stack([np.asarray(e[k]) for e in each]) for k in range(len(net.outputs))]


def program_outputs(tool, path, net, folder):
    np.save(folder / "x.npy", net.data[0])
    for command in ([tool, "compile", path, "--target", "cortex-m55", "--calibrate", folder / "x.npy", "-o", folder / "m.pte"],
                    [tool, "run", folder / "m.pte", "--input", folder / "x.npy", "--output-dir", folder / "out"]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return done.stderr.strip()
    return [np.load(folder / "out" / ("output%d.npy" % k)) for k in range(len(net.outputs))]


def fault_of(wanted, found, like):
    if isinstance(found, str):
        return found
    for w, f in zip(wanted, found):
        if w.size != f.size:
            return "has shape %s instead of %s" % (f.shape, w.shape)
        w, f = w.astype(np.float64).ravel(), f.astype(np.float64).ravel()
        apart, span = np.abs(w - f), max(np.ptp(w), np.abs(w).max(), 1e-9)
        if isinstance(like, float) and (apart.max() > like * 1.001 or (apart > like / 2).mean() > TIES):
            return "differs by up to %.3f steps, in %.1f %%" % (apart.max() / like, 100 * (apart > like / 2).mean())
        if not isinstance(like, float) and apart.max() > {"exact": 1e-6, "float": 1e-5}[like] * span:
            return "differs by up to %g of %g" % (apart.max(), span)
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("deuteron")
    parser.add_argument("runner")
    parser.add_argument("--only")
    options = parser.parse_args()
    good, jobs, count = True, [], 0
    with tempfile.TemporaryDirectory() as place:
        for name, net, like in kinds():
            if options.only and name != options.only:
                continue
            folder, count = pathlib.Path(place) / name, count + 1
            folder.mkdir()
            path = folder / "model.onnx"
            net.save(path)
            wanted = wanted_of(path, net)
            if like != "float":
                fault = fault_of(wanted, program_outputs(options.deuteron, path, net, folder), like)
                good &= not fault
                print("%s %s %s" % ("FAIL" if fault else "ok  ", name, fault))
                continue
            for k in range(SAMPLES):
                (folder / str(k)).mkdir()
                for i, x in enumerate(net.data):
                    np.save(folder / str(k) / ("in%d.npy" % i), x[k])
                jobs.append((name, path, folder / str(k), [w[k] for w in wanted]))
        faults = {}
        for (name, _, folder, wanted), answer in zip(jobs, float_jobs.answers_of(options.runner, [j[:3] for j in jobs])):
            fault = answer if answer != "ok" else fault_of(wanted, [np.load(folder / ("out%d.npy" % k)) for k in range(len(wanted))], "float")
            faults[name] = faults.get(name) or fault
        for name, fault in faults.items():
            good &= not fault
            print("%s %s %s" % ("FAIL" if fault else "ok  ", name, fault))
    print("%d kinds" % count)
    return 0 if good and count else 1


if __name__ == "__main__":
    sys.exit(main())
