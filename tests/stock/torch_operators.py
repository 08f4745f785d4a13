#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every operator of PyTorch's own database of examples (op_db, which PyTorch tests itself with) through the import, in float against PyTorch.

    torch_operators.py FLOAT_RUNNER [--samples N] [--only NAME] [--write] [--verbose]

An example is a call: its float tensors become inputs of a model, everything else stays as it is. The first N examples (2) of each operator are exported, as
torch.export leaves them. A refusal is an answer, and counted by rule; wrong numbers are a fault. Those that pass are recorded in torch_operators_passing.txt:
one that no longer does fails by its name. --write records them anew.
"""
import argparse
import collections
import itertools
import logging
import pathlib
import sys
import tempfile
import warnings

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree

import float_jobs

PASSING = pathlib.Path(__file__).with_name("torch_operators_passing.txt")
MOST_ELEMENTS = 1 << 16
# Results that are other numbers each time, by the operator's name.
RANDOM = {"bernoulli", "empty", "empty_like", "empty_permuted", "empty_strided", "multinomial", "new_empty", "new_empty_strided", "normal", "rand_like", "randint",
          "randint_like", "randn", "randn_like", "rand", "uniform", "nn.functional.rrelu", "nn.functional.gumbel_softmax"}
# Operators whose numbers differ for a reason.
KNOWN = {"bfloat16": "a cast to bfloat16 is none: the program is float32 there", "half": "a cast to float16 is none: the program is float32 there",
         "masked_softmax": "a row with nothing to choose from is not a number in PyTorch", "masked_log_softmax": "as masked_softmax",
         "torch_ops_aten__safe_softmax_default": "as masked_softmax"}


class Example(torch.nn.Module):
    """A call with its float tensors taken from the inputs."""

    def __init__(self, function, tree, leaves):
        super().__init__()
        self.function, self.tree, self.leaves = function, tree, leaves

    def forward(self, *inputs):
        given = list(inputs)
        leaves = [given.pop(0) if leaf is Example else leaf for leaf in self.leaves]
        args, kwargs = _pytree.tree_unflatten(leaves, self.tree)
        made = self.function(*args, **kwargs)
        return tuple(t for t in _pytree.tree_leaves(made) if isinstance(t, torch.Tensor))


def models_of(op, sample):
    """(suffix, module, inputs): with all float tensors as inputs, and where there are several with the first one only, the others as constants."""
    leaves, tree = _pytree.tree_flatten(((sample.input, *sample.args), sample.kwargs))
    floats = [k for k, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor) and leaf.is_floating_point() and 0 < leaf.numel() <= MOST_ELEMENTS]
    for suffix, chosen in [("", floats)] + ([(".constants", floats[:1])] if len(floats) > 1 else []):
        inputs = [leaves[k].detach().clone() for k in chosen]
        given = [Example if k in chosen else leaf.detach() if isinstance(leaf, torch.Tensor) else leaf for k, leaf in enumerate(leaves)]
        if inputs:
            yield suffix, Example(op.op, tree, given).eval(), inputs


def fault_of(wanted, found):
    if wanted.shape != found.shape:
        return "shape %s instead of %s" % (found.shape, wanted.shape)
    w, f = wanted.astype(np.float64), found.astype(np.float64)
    finite = np.isfinite(w)
    if not np.array_equal(np.isnan(w), np.isnan(f)):
        return "is not a number elsewhere"
    low = np.isinf(w) & (w < 0)
    if np.any(f[low] > -1e29):  # -inf is the smallest number here
        return "is not -inf where it must be"
    range_ = max(np.abs(w[finite]).max(initial=0), 1e-3)
    worst = np.abs(w[finite] - f[finite]).max(initial=0)
    return "" if worst <= 2e-5 * range_ else "differs by up to %.3g of %.3g" % (worst, range_)


def jobs_of(options, folder):
    """(name, folder, expected outputs), and why examples are left out."""
    jobs, left_out = [], collections.Counter()
    for op in op_db:
        name = op.formatted_name
        if options.only and options.only not in name:
            continue
        if op.name in RANDOM or torch.float32 not in op.dtypes:
            left_out["give other numbers each time, or take no float32"] += 1
            continue
        try:
            torch.manual_seed(0)
            examples = iter(op.sample_inputs("cpu", torch.float32, requires_grad=False))
            samples = list(itertools.islice(examples, options.samples))
            del examples  # here: it ends in a torch.no_grad() of its own, which an export would take for the model's
        except Exception:
            left_out["have no examples on this machine"] += 1
            continue
        forms = [(k, *form) for k, sample in enumerate(samples) for form in models_of(op, sample)]
        left_out["have no input"] += not forms
        for k, suffix, module, inputs in forms:
            place = folder / ("job%d" % len(jobs))
            try:
                with torch.no_grad():
                    outputs = [t.detach() for t in module(*[t.clone() for t in inputs])]
                    program = torch.export.export(module, tuple(inputs))
                place.mkdir(exist_ok=True)
                torch.export.save(program, place / "model.pt2")
            except Exception as why:
                if options.verbose:
                    print("     %s: cannot be exported: %s" % (name, str(why).split("\n")[0][:200]))
                left_out["cannot be exported"] += 1
                continue
            if not outputs or any(t.is_complex() or t.numel() == 0 or t.layout != torch.strided for t in outputs):
                left_out["have results that are complex, sparse or empty"] += 1
                continue
            for i, t in enumerate(inputs):
                np.save(place / ("in%d.npy" % i), np.ascontiguousarray(t.numpy()))
            jobs.append(("%s.%d%s" % (name, k, suffix), place, [t.resolve_conj().resolve_neg().to(torch.float64).numpy() for t in outputs]))
    return jobs, left_out


def outcome_of(answer, place, outputs):
    if answer != "ok":
        return answer
    try:
        found = [np.load(place / ("out%d.npy" % k)) for k in range(len(outputs))]
    except OSError:
        return "wrong: lacks an output"
    faults = [fault_of(w, f) for w, f in zip(outputs, found)]
    return next(("wrong: " + f for f in faults if f), "passes")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runner")
    parser.add_argument("--samples", type=int, default=2)
    parser.add_argument("--only")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        jobs, left_out = jobs_of(options, pathlib.Path(folder))
        answers = float_jobs.answers_of(options.runner, [(name, place / "model.pt2", place) for name, place, _ in jobs])
        outcomes = {name: outcome_of(a, place, outputs) for a, (name, place, outputs) in zip(answers, jobs)}
    recorded = set(PASSING.read_text().split()) if PASSING.exists() else set()
    failed, refused, passing = [], collections.Counter(), []
    for name, outcome in outcomes.items():
        if outcome == "passes":
            passing.append(name)
        elif outcome.startswith("refused"):
            refused[outcome.split("[")[1].split("]")[0] if "[" in outcome else outcome] += 1
        if outcome != "passes" and (name in recorded or not outcome.startswith("refused")) and name.split(".")[0] not in KNOWN:
            failed.append("FAIL %s: %s" % (name, outcome))
        elif options.verbose and outcome != "passes":
            print("     %s: %s" % (name, outcome))
    print("\n".join(failed))
    if options.write and not options.only:
        PASSING.write_text("\n".join(sorted(passing)) + "\n")
    for what, count in left_out.most_common():
        print("left out: %d examples or operators that %s" % (count, what))
    print("refused: " + ", ".join("%d by %s" % (n, rule) for rule, n in refused.most_common()))
    print("%d examples of %d operators pass, %d are refused, %d failures" %
          (len(passing), len({n.split(".")[0] for n in passing}), sum(refused.values()), len(failed)))
    return 1 if failed or not passing else 0


sys.exit(main())
