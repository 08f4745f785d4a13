# SPDX-License-Identifier: Apache-2.0
"""Pages of the site that are nothing but what the program says of itself."""
import json
import re


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "| " + " | ".join("---" for _ in heads) + " |"]
    return "\n".join(lines + ["| " + " | ".join(cell(c) for c in row) + " |" for row in rows]) + "\n"


def targets(run):
    rows = [(f"`{t['name']}`", t["description"], f"`{t['isa']}`", ", ".join(t["backends"]), f"`{t['file']}`")
            for t in json.loads(run("targets", "--json", "-"))["targets"]]
    return (f"# Targets\n\n{len(rows)} targets are built in. `deuteron targets` prints this table, `deuteron targets --show NAME` prints one with "
            "all that it extends. [Your own](../tutorials/own-board.md) is a file.\n\n" + table(("target", "what", "kernels", "backends", "file"), rows))


def of_torch(fates):
    """What becomes of each operator of torch, alone."""
    def becomes(f):
        return "refused" if f["refused"] else ", ".join(f"`{k}`" for k in f["kernels"]) or "no kernel"

    rows = [(f"`{f['name']}`", becomes(f), ", ".join(f["computes_in"]), f["why"]) for f in fates]
    return (f"## Operators of PyTorch\n\n{len(rows)} are imported. A small model of each goes the whole way of `deuteron compile`: the kernels that compute it, "
            "and where it is refused, or not on the NPU, why.\n\n" + table(("operator", "becomes", "in", "why"), rows))


def operators(run, target):
    said = json.loads(run("ops", "--target", target, "--json", "-"))
    rows = [(f"`{o['name']}`", o["kernel"] or "none: folded, or made of others", o["builtin"], o["operands"], o["constraints"].replace("; ", ";<br>"))
            for o in said["operators"]]
    text = table(("operator", "kernel", "NPU builtin", "operands", "what the NPU asks"), rows).replace("&lt;br>", "<br>")
    return f"# Operators on {target}\n\n`deuteron ops --target {target}` prints these tables, `--csv` for other tools.\n\n{text}\n{of_torch(said['torch'])}"


def verbs(run):
    names = re.findall(r"^  (\S+)", run("--help"), re.M)  # what a verb does goes on in lines further in
    blocks = "".join(f"## {name}\n\n```text\n{run(name, '--help').strip()}\n```\n\n" for name in names)
    return f"# Every verb and option\n\n`deuteron VERB --help` prints these. [The command line](../command-line.md) explains them.\n\n{blocks}"


def pages(run):
    made = {"made/targets.md": targets(run), "made/verbs.md": verbs(run)}
    for target in ("cortex-m55", "imxrt700cm"):
        made[f"made/operators-{target}.md"] = operators(run, target)
    return made
