#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes decomposable.inc: operators of torch that have no import, and that program.run_decompositions() turns into some that have. Each was tried: torch's
own samples of its operators are exported, with and without decompositions. Needs torch; ./dev makes build/venv with it. Minutes.

  make_decomposable.py            writes the file
"""
import collections
import pathlib
import sys
import warnings

import torch
from torch.testing._internal.common_methods_invocations import op_db

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "schema"))
import make_schemas

SAMPLES = 3  # of each operator
KNOWN = make_schemas.imported() | {"aten.sym_size.int"}
NAMES = {target.split(".")[1] for target in KNOWN}


def targets(program):
    return {str(n.target) for n in program.graph.nodes if n.op == "call_function" and "getitem" not in str(n.target)}


class Called(torch.nn.Module):
    def __init__(self, op, args, kwargs):
        super().__init__()
        self.op, self.args, self.kwargs = op, args, kwargs

    def forward(self, x):
        return self.op(x, *self.args, **self.kwargs)


def main():
    warnings.filterwarnings("ignore")
    good, bad = collections.Counter(), collections.Counter()
    for op in op_db:
        if torch.float32 not in op.dtypes or op.aten_name in NAMES:
            continue
        try:
            samples = list(op.sample_inputs("cpu", torch.float32))[:SAMPLES]
        except Exception:
            continue
        for sample in samples:
            if not isinstance(sample.input, torch.Tensor) or sample.input.numel() == 0:
                continue
            try:
                program = torch.export.export(Called(op.op, sample.args, sample.kwargs), (sample.input,))
                unknown = targets(program) - KNOWN
                if not unknown:
                    continue
                left = targets(program.run_decompositions()) - KNOWN
            except Exception:
                continue
            for name in unknown:
                (bad if left else good)[name] += 1
    lines = sorted(name for name in good if name not in bad)
    (HERE / "decomposable.inc").write_text(
        "// SPDX-License-Identifier: Apache-2.0\n// Made by make_decomposable.py of torch %s: unknown operators that run_decompositions()\n"
        "// replaces by known ones, in each of torch's own samples.\n" % torch.__version__.split("+")[0] + "".join('"%s",\n' % line for line in lines))
    print("%d help, of %d" % (len(lines), len(set(good) | set(bad))))
    for name in sorted(set(bad)):
        print("  not:", name, good[name], bad[name])


if __name__ == "__main__":
    main()
