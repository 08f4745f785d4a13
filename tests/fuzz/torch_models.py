# SPDX-License-Identifier: Apache-2.0
"""Small torch.export models for the fuzz target `pt2`, in the text of tests/pt2_text.py: torch's example of each operator, and each of them with
other operands known and other arguments, which an importer goes other ways for; then what no single operator shows: complex numbers, writes
through views, sizes that are computed."""
import re

TEXT_ARGUMENTS = {'"sum"': ['"prod"', '"mean"', '"amax"', '"amin"'], '"mean"': ['"sum"'], '"none"': ['"tanh"'], '"same"': ['"valid"'], '"valid"': ['"same"']}
PROGRAMS = [
    # writes through views
    *(f"""input x : f32[3,4]
c = aten.clone.default(self=x) : f32[3,4]
v = {view} : {shape}
n = aten.neg_.default(self=v) : {shape}
{more}
y = aten.relu.default(self=c) : f32[3,4]
output y
output {last}""" for view, shape, more, last in (
        ("aten.select.int(self=c, dim=0, index=1)", "f32[4]", "", "v"),
        ("aten.slice.Tensor(self=c, dim=1, start=1, end=4, step=2)", "f32[3,2]", "f = aten.fill_.Scalar(self=n, value=2.0) : f32[3,2]", "v"),
        ("aten.view.default(self=c, size=[2,6])", "f32[2,6]", "s = aten.slice.Tensor(self=v, dim=1, start=1, end=3) : f32[2,2]\n"
         "m = aten.mul_.Tensor(self=s, other=2) : f32[2,2]", "s"),
        ("aten.permute.default(self=c, dims=[1,0])", "f32[4,3]", "d = aten.diagonal.default(self=v) : f32[3]\nz = aten.zero_.default(self=d) : f32[3]", "d"),
        ("aten.view.default(self=c, size=[12])", "f32[12]", "r = aten.select.int(self=c, dim=0, index=2) : f32[4]\nq = aten.add_.Tensor(self=r, other=100) : f32[4]", "v"),
        ("aten.expand.default(self=c, size=[3,4])", "f32[3,4]", "r = aten.unsqueeze.default(self=c, dim=0) : f32[1,3,4]", "r"))),
    # complex numbers
    *(f"""input a : f32[2,4]
input b : f32[2,4]
parameter k : f32[2,4] 0.5
parameter kc : c64[2,4] 1
z = aten.complex.default(real=a, imag=b) : c64[2,4]
w = {call} : c64[2,4]
y = aten.view_as_real.default(self=w) : f32[2,4,2]
output y""" for call in (
        *(f"aten.{op}.Tensor(self={one}, other={other}{alpha})" for op, alpha in (("add", ""), ("add", ", alpha=2"), ("sub", ""), ("mul", ""), ("div", ""))
          for one, other in (("z", "z"), ("z", "k"), ("k", "z"), ("z", "2.0"), ("z", "kc"), ("a", "kc"))),
        "aten.exp.default(self=z)", "aten.neg.default(self=z)", "aten.permute.default(self=z, dims=[0,1])", "aten.slice.Tensor(self=z, dim=1)",
        "aten.mul.Scalar(self=z, other=2.0)", "aten.reciprocal.default(self=z)", "aten.pow.Tensor_Scalar(self=z, exponent=2)")),
    # sizes that are computed
    *("""input x : f32[1,8]
y = aten.relu.default(self=x) : f32[1,8]
output y
set graph_module.graph.tensor_values.x.sizes.0 = {"as_expr": {"expr_str": "Symbol('s0', positive=True, integer=True)", "hint": {"as_int": 2}}}
set graph_module.graph.tensor_values.y.sizes.0 = {"as_expr": {"expr_str": "%s", "hint": {"as_int": 2}}}
set range_constraints = {"s0": {"min_val": 1, "max_val": 8}}""" % expression.replace("s", "Symbol('s0', positive=True, integer=True)").replace(
        "i", "Integer(2)") for expression in (
            "s", "Mul(i, s)", "Add(s, i, i)", "Max(s, i)", "Min(i, s)", "Pow(s, i)", "Pow(i, Integer(-1))", "Mul(Rational(1, 2), s, i)", "FloorDiv(s, i)",
            "Mod(s, i)", "PythonMod(s, Integer(-3))", "CleanDiv(s, i)", "floor(Mul(s, Rational(1, 2)))", "Add(s, Mul(Integer(-1), i), evaluate=False)", "Max(s", "Symbol('s9')")),
    # weights that are computed of weights, and one that no network has
    """input x : f32[1,3,6,6]
parameter w : f32[4,3,2,2] 0.5
v = aten.mul.Tensor(self=w, other=w) : f32[4,3,2,2]
u = aten.neg.default(self=v) : f32[4,3,2,2]
y = aten.conv2d.default(input=x, weight=u) : f32[1,4,5,5]
output y""",
    "input x : f32[2]\nparameter w : f32[2] nan\ny = aten.add.Tensor(self=x, other=w) : f32[2]\noutput y",
    "input x : f32[1,3,4,4]\ninput w : f32[3,2,3,3]\ny = aten.conv_transpose2d.input(input=x, weight=w, stride=[2,3], padding=[1,1]) : f32[1,2,7,10]\noutput y",
]


def examples(text):
    """(target, text) of frontends/pt2/examples/torch_examples.inc."""
    parts = re.split(r"^# (\S+)\n", re.sub(r'^.*R"torch\(|\)torch".*$', "", text, flags=re.M), flags=re.M)
    for target, example in zip(parts[1::2], parts[2::2]):
        example = re.sub(r"^(parameter .* : f\d+\[[\d,]*\])$", r"\1 0.5", example, flags=re.M)
        yield target, example.replace("=cpu", '=json:{"as_device":{"type":"cpu","index":null}}').strip()


def numbers(kind, shape):
    count = 1
    for extent in shape.split(","):
        count *= int(extent or 1)
    values = {"f": [f"{(7 * k % 13 - 6) / 5}" for k in range(count)], "b": [str(k % 2) for k in range(count)]}
    return ",".join(values.get(kind[0], [str(k % 2) for k in range(count)]))


def known(line):
    """An input as a parameter."""
    return re.sub(r"^input (\w+) : (\w+)\[([\d,]*)\].*", lambda m: f"parameter {m[1]} : {m[2]}[{m[3]}] {numbers(m[2], m[3])}", line)


def computed(line):
    return re.sub(r"^parameter (\w+) : (\w+\[[\d,]*\]).*", r"input \1 : \2", line)


def other_arguments(target, text):
    """The example with one argument of its operator changed."""
    call = next((line for line in text.split("\n") if f" = {target}(" in line), "")
    for m in re.finditer(r"(\w+)=(\[[-\d,]*\]|-?\d+|true|false|none|\"\w*\")(?=[,)])", call):
        name, value = m.groups()
        if value in ("true", "false"):
            others = ["false" if value == "true" else "true"]
        elif value[0] == '"':
            others = TEXT_ARGUMENTS.get(value, ['"other"'])
        elif value == "none":
            others = ["1"]
        elif value[0] == "[":
            others = [re.sub(r"-?\d+", lambda n: str(int(n[0]) + 1), value), re.sub(r"-?\d+", "2", value)]
        else:
            others = [str(int(value) + 1), str(int(value) - 1)]
        for other in others:
            yield text.replace(call, call.replace(f"{name}={value}", f"{name}={other}", 1))


def models(text):
    """(name, text)"""
    for target, example in examples(text):
        yield target, example
        lines = example.split("\n")
        inputs = [k for k, line in enumerate(lines) if line.startswith("input ")]
        variants = {"\n".join(map(computed, lines)), "\n".join(known(line) if k in inputs[1:] else line for k, line in enumerate(lines)),
                    "\n".join([*map(known, lines), "input extra : f32[2]", "extra_result = aten.relu.default(self=extra) : f32[2]", "output extra_result"]),
                    *other_arguments(target, example)}
        yield from ((f"{target}.{k}", variant) for k, variant in enumerate(sorted(variants - {example})))
    yield from ((f"program{k}", program) for k, program in enumerate(PROGRAMS))
