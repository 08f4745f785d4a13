#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes torch_examples.inc: a small model for every operator of torch that frontends/pt2/operators imports. Needs torch; ./dev makes build/venv with it.

  make_examples.py            writes the file
  make_examples.py --check    says for which operators it finds no example; exit code 1 if there are such

Calls come from torch's own examples (op_db), traced as torch.export traces them, before and after decomposition; the smallest one counts. What op_db lacks is
in own_examples.py. Both are models in the text form of tests/pt2_text.py.
"""
import inspect
import itertools
import logging
import operator
import pathlib
import re
import sys
import warnings

import torch
import torch.ao.quantization.fx._decomposed  # registers the operators of quantized_decomposed
from torch.fx.experimental.proxy_tensor import make_fx
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree

import own_examples

HERE = pathlib.Path(__file__).resolve().parent
FILE = HERE / "torch_examples.inc"
MOST_ELEMENTS = 4096
DTYPES = {torch.float32: "f32", torch.int64: "s64", torch.int32: "s32", torch.bool: "b8", torch.uint8: "u8", torch.int8: "s8", torch.float64: "f64",
          torch.complex64: "c64"}
# Operands that a trained model holds; every other float is computed from the model's inputs.
TRAINED = {"weight", "bias", "running_mean", "running_var", "weights", "params", "boundaries", "window", "codebook", "mat2_bias"}
# Arguments that say where and how a tensor lies; a program has one place.
PLACES = {"layout", "device", "pin_memory", "memory_format", "generator"}


def imported():
    """Targets of all rows."""
    targets = set()
    for source in sorted((HERE.parent / "operators").glob("*.cpp")):
        targets |= set(re.findall(r'\{"((?:aten|quantized_decomposed)\.[^"]+)",', source.read_text()))
    return sorted(targets)


class Unfit(Exception):
    """A call that no text can say."""


def type_of(t):
    if not isinstance(t, torch.Tensor) or t.dtype not in DTYPES or t.layout != torch.strided:
        raise Unfit
    return "%s[%s]" % (DTYPES[t.dtype], ",".join(map(str, t.shape)))


def number(v):
    if isinstance(v, bool):
        return "true" if v else "false"
    if isinstance(v, float) and (v != v or v in (float("inf"), float("-inf"))):
        raise Unfit
    return repr(v)


class Model:
    """One call as a model: what it reads, the call, and what of it is given out."""

    def __init__(self, target, schema):
        self.target, self.schema, self.lines, self.names, self.has_input = target, schema, [], {}, False

    def tensor(self, t, argument, is_only):
        if id(t) in self.names:
            return self.names[id(t)]
        if t.numel() == 0 or t.numel() > MOST_ELEMENTS or t.is_complex():
            raise Unfit
        name = argument if argument not in self.names.values() else "%s%d" % (argument, len(self.names))
        self.names[id(t)] = name
        if argument not in TRAINED and (t.is_floating_point() or not self.has_input) and t.dtype != torch.float64:
            self.lines.append("input %s : %s" % (name, type_of(t)))
            self.has_input = True
        else:
            text = "" if t.is_floating_point() else " " + ",".join(str(int(v)) for v in t.flatten().tolist())
            self.lines.append("parameter %s : %s%s" % (name, type_of(t), text))
        return name

    def value(self, v, a):
        if isinstance(v, torch.Tensor):
            return self.tensor(v, a.name, False)
        if v is None:
            return "none"
        if isinstance(v, torch.dtype):
            if v not in DTYPES:
                raise Unfit
            return DTYPES[v]
        if isinstance(v, str):
            return '"%s"' % v
        if isinstance(v, (list, tuple)):
            return "[%s]" % ",".join(self.value(e, a) for e in v)
        if isinstance(v, (bool, int, float)):
            return number(float(v) if str(a.type) == "float" and not isinstance(v, bool) else v)
        raise Unfit

    def text(self, args, kwargs):
        given = []
        values = dict(zip([a.name for a in self.schema.arguments], args)) | kwargs
        for a in self.schema.arguments:
            if a.name not in values or a.name in PLACES or (a.has_default_value() and _pytree.tree_all(lambda x: not isinstance(x, torch.Tensor), values[a.name])
                                                            and values[a.name] == a.default_value):
                continue
            given.append("%s=%s" % (a.name, self.value(values[a.name], a)))
        made = getattr(getattr(getattr(torch.ops, self.target.split(".")[0]), self.target.split(".")[1]), self.target.split(".")[2])(*args, **kwargs)
        is_list = isinstance(made, list)
        results = list(made) if isinstance(made, (list, tuple)) else [made]
        if not self.has_input or any(isinstance(t, torch.Tensor) and (t.numel() == 0 or t.is_complex()) for t in results):
            raise Unfit
        names = ["y%d" % k for k in range(len(results))] if len(results) > 1 else ["y"]
        self.lines.append("%s = %s(%s) : %s" % (", ".join(names), self.target, ", ".join(given), ", ".join(type_of(t) for t in results)))
        self.lines += ["output " + n for n in (names if is_list else names[:1])]
        return "\n".join(self.lines)


class Calls(torch.fx.Interpreter):
    """Runs a trace and keeps the calls of operators that have no example so far, or a larger one."""

    def __init__(self, module, found, wanted):
        super().__init__(module)
        self.found, self.wanted = found, wanted

    def call_function(self, target, args, kwargs):
        name = str(target)
        if name in self.wanted:
            try:
                text = Model(name, target._schema).text(args, kwargs)
                # As many numbers as make rows of their own, and no more.
                if name not in self.found or rank_of(text) < rank_of(self.found[name]):
                    self.found[name] = text
            except (Unfit, RuntimeError, IndexError):
                pass
        return super().call_function(target, args, kwargs)


def model_of(function, tensors):
    """The text of a whole function: what its parameters and every call of its trace are."""
    names = []
    for name, p in inspect.signature(function).parameters.items():
        names += [f"{name}{k}" for k in range(len(tensors) - len(names))] if p.kind is p.VAR_POSITIONAL else [name]
    given = [torch.rand(t) if isinstance(t, tuple) else t for t in tensors]
    trace = make_fx(function, pre_dispatch=True)(*given)
    kept = dict(zip([n for n in trace.graph.nodes if n.op == "placeholder"], zip(names, given)))
    lines, text_of, value_of = [], {}, {}

    def parameter(name, t, is_input):
        text_of[name] = name
        is_made = t.is_floating_point() and isinstance(tensors[names.index(name)], tuple) if name in names else t.is_floating_point()
        numbers = "" if is_made else " " + ",".join(repr(v if t.is_floating_point() else int(v)) for v in t.flatten().tolist())
        lines.append(f"input {name} : {type_of(t)}" if is_input else f"parameter {name} : {type_of(t)}{numbers}")
        return name

    def text(v, a):
        if isinstance(v, torch.fx.Node):
            return text_of[v]
        if isinstance(v, (list, tuple)):
            return "[%s]" % ",".join(text(e, a) for e in v)
        return Model(None, None).value(v, a)

    for node in trace.graph.nodes:
        if node.op == "placeholder":
            name, t = kept[node]
            text_of[node], value_of[node] = parameter(name, t, not name.startswith("w") and (t.is_floating_point() or name == "x")), t
        elif node.op == "get_attr":
            t = getattr(trace, node.target)
            text_of[node], value_of[node] = parameter("k" + node.name.strip("_"), t, False), t
        elif node.op == "output":
            results = node.args[0] if isinstance(node.args[0], (list, tuple)) else [node.args[0]]
            return "\n".join(lines + ["output " + text_of[r] for r in results])
        elif node.target is operator.getitem:
            text_of[node], value_of[node] = "%s_%d" % (text_of[node.args[0]], node.args[1]), value_of[node.args[0]][node.args[1]]
        else:
            args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), lambda n: value_of[n])
            made = value_of[node] = node.target(*args, **kwargs)
            text_of[node] = node.name.strip("_")
            schema = node.target._schema.arguments
            values = dict(zip([a.name for a in schema], node.args)) | node.kwargs
            call = ", ".join(f"{a.name}={text(values[a.name], a)}" for a in schema if a.name in values and a.name not in PLACES)
            if made is None:
                lines.append(f"{text_of[node]} = {node.target}({call}) :")
                continue
            many = isinstance(made, (list, tuple))
            results = [f"{text_of[node]}_{k}" for k in range(len(made))] if many else [text_of[node]]
            lines.append("%s = %s(%s) : %s" % (", ".join(results), node.target, call, ", ".join(type_of(t) for t in (made if many else [made]))))
    raise Unfit


def own():
    found = dict(own_examples.TEXTS)
    for key, form in own_examples.FORMS.items():
        target = key.split(" ")[0]
        space, name, overload = target.split(".")
        operator_ = getattr(getattr(getattr(torch.ops, space), name), overload)
        with torch.no_grad():
            torch.manual_seed(0)
            try:
                text = model_of(*form(operator_))
            except Exception as why:
                print(f"{target}: {type(why).__name__}: {str(why)[:200]}")
                continue
        if f"{target}(" in text:
            found[key] = text
        else:
            print(f"{target}: the trace of its example does not call it")
    return found


def rank_of(text):
    """What is more like a layer of a model comes first: two axes or more, no axis of one element, then few elements."""
    shapes = [[int(n) for n in s.split(",") if n] for s in re.findall(r"^input \S+ : \w+\[([\d,]*)\]", text, re.M)]
    flat = sum(len(s) < 2 for s in shapes)
    return flat, "f32" not in text.split("\n")[0], sum(s.count(1) for s in shapes), len(text), text


def traces(op, sample):
    leaves, tree = _pytree.tree_flatten(((sample.input, *sample.args), sample.kwargs))
    places = [k for k, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]

    def call(*tensors):
        given = list(leaves)
        for k, t in zip(places, tensors):
            given[k] = t
        args, kwargs = _pytree.tree_unflatten(given, tree)
        return op.op(*args, **kwargs)

    tensors = [leaves[k].detach().clone() for k in places]
    for pre_dispatch in (True, False):
        yield make_fx(call, pre_dispatch=pre_dispatch)(*tensors), tensors


def from_op_db(wanted, samples=4):
    found = {}
    for op in op_db:
        if torch.float32 not in op.dtypes:
            continue
        try:
            torch.manual_seed(0)
            examples = op.sample_inputs("cpu", torch.float32, requires_grad=False)
            some = list(itertools.islice(examples, samples))
            del examples
        except Exception:
            continue
        for sample in some:
            try:
                with torch.no_grad():
                    for module, tensors in traces(op, sample):
                        torch.manual_seed(0)
                        Calls(module, found, wanted).run(*[t.clone() for t in tensors])
            except Exception:
                continue
    return found


def main():
    warnings.filterwarnings("ignore")
    sys.unraisablehook = lambda _: None  # generators of op_db that end within a trace
    logging.disable(logging.ERROR)
    targets = imported()
    ours = own()
    found = from_op_db(set(targets) - set(ours)) | ours
    missing = [t for t in targets if t not in found]
    for target in missing:
        print(f"{target}: no example; write one into own_examples.py")
    for target in sorted({key.split(" ")[0] for key in own_examples.FORMS | own_examples.TEXTS} - set(targets)):
        print(f"{target}: own_examples.py has one, and nothing imports it")
    if "--check" not in sys.argv:
        blocks = "\n\n".join("# %s\n%s" % (key, found[key].strip()) for t in targets for key in sorted(found) if key.split(" ")[0] == t)
        head = "// SPDX-License-Identifier: Apache-2.0\n// Written by make_examples.py from torch's own examples, and from own_examples.py.\n"
        FILE.write_text(head + 'R"torch(\n' + blocks + '\n)torch"\n')
    print(f"{len(targets) - len(missing)} of {len(targets)} operators have an example, {len(ours)} of them our own")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
