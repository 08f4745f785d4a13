#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes torch_schemas.inc: what torch says of every operator that frontends/pt2/operators imports. Needs torch; ./dev makes build/venv with it.

  make_schemas.py            writes the file
  make_schemas.py --check    says where the file, the rows of the imports and the installed torch differ; exit code 1 if they do
"""
import pathlib
import re
import sys

import torch
import torch.ao.quantization.fx._decomposed  # registers the operators of quantized_decomposed

HERE = pathlib.Path(__file__).resolve().parent
FILE = HERE / "torch_schemas.inc"


def imported():
    """Targets of all rows, and of the in-place forms that they stand for."""
    targets = set()
    for source in sorted((HERE.parent / "operators").glob("*.cpp")):
        for target, rest in re.findall(r'\{"((?:aten|quantized_decomposed)\.[^"]+)",([^{}]*)\},', source.read_text()):
            targets.add(target)
            name, overload = target.rsplit(".", 1)
            if rest.split(",")[-1].strip() == "true" and not re.search(r"[^_]_$", name):
                targets.add(f"aten.__i{name[7:]}.{overload}" if name.startswith("aten.__") else f"{name}_.{overload}")
    return targets


def default_of(value):
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(default_of(v) for v in value) + "]"
    if isinstance(value, str):
        return f'"{value}"'
    return repr(value)


def line_of(target):
    space, name, overload = target.split(".")
    schema = getattr(getattr(getattr(torch.ops, space), name), overload)._schema
    # The types of torch's text: the schema's own say float for Scalar and int for ScalarType.
    text = re.sub(r"(?<=Tensor)\([^()]*\)", "", str(schema).split("(", 1)[1]).split(")")[0]  # without marks of aliases
    types = [p.split(" ")[0] for p in re.split(r", (?![^\[]*\])", text) if p and p != "*"]
    assert len(types) == len(schema.arguments), (target, types)
    parameters, keywords = [], False
    for type_, a in zip(types, schema.arguments):
        if a.kwarg_only and not keywords:
            parameters.append("*")
            keywords = True
        parameters.append(f"{type_} {a.name}" + (f"={default_of(a.default_value)}" if a.has_default_value() else ""))
    assert not any(", " in p for p in parameters), target
    return f"{target}({', '.join(parameters)})"


def main():
    targets, missing = imported(), []
    lines = []
    for target in sorted(targets):
        try:
            lines.append(line_of(target))
        except (AttributeError, RuntimeError):
            missing.append(target)
    text = "// SPDX-License-Identifier: Apache-2.0\n// Written by make_schemas.py from torch's own schemas.\n" + 'R"torch(' + "\n" + "\n".join(lines) + '\n)torch"\n'
    for target in missing:
        print(f"{target}: torch {torch.__version__} has no such operator")
    if "--check" not in sys.argv:
        FILE.write_text(text)
    else:
        was, now = set(FILE.read_text().splitlines()), set(text.splitlines())
        for line in sorted(was - now):
            print("only in the file: " + line)
        for line in sorted(now - was):
            print("not in the file:  " + line)
        print(f"{len(lines)} operators, {len(was ^ now)} lines differ")
        return 1 if was != now or missing else 0
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
