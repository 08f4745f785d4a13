# SPDX-License-Identifier: Apache-2.0
"""Runs our programs on ExecuTorch's runtime with its own cortex_m kernels and CMSIS-NN, built from their sources
(DEUTERON_STOCK_SOURCES), with the kernels' runtime checks on; the bits must be those of `deuteron run`.

    firmware_kernels.py DEUTERON SHARED RECORD [--host RUNNER] [--board CORE MACHINE IMAGE ...] [--board-operators NAMES] [--networks N] [--write]

Models, bands, operators and random networks; a host runs plain C, an emulated board the kernels of its instruction set.
--write records the outputs, with the versions, in RECORD. Without runners the outputs of `deuteron run` are held against
RECORD: a program that is compiled otherwise since is left out and counted, and it is a failure when none is left.
"""
import argparse
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import checks
from checks import check

CORES = ["cortex-m3", "cortex-m4", "cortex-m33", "cortex-m55"]
PLAIN = ["--dialect", "plain"]  # as stock kernels read them
OPTIONS = {"": PLAIN, "int8": [*PLAIN, "--io", "int8"], "contiguous": [*PLAIN, "--io", "contiguous"], "stock": ["--dialect", "stock"]}
BANDS = {"resnet8": 40000, "mobilenet_v1_025_vww": 40000, "dscnn_kws": 12000}


def call(arguments, limit=900):
    return subprocess.run([str(a) for a in arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=limit)


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def plan_of(pte):
    from executorch.exir._serialize._program import deserialize_pte_binary

    program = deserialize_pte_binary(pte.read_bytes())
    return getattr(program, "program", program).execution_plan[0]


class Kernels:
    """The stock runtimes that there are, by core; beside cortex_m's, boards have these operators."""

    def __init__(self, host, boards, operators):
        self.host, self.boards, self.operators = host, boards, operators

    def lacks(self, core, plan):
        """Whether the plan calls what the runtime of this core does not have."""
        others = {f"{o.name}.{o.overload}".strip(".") for o in plan.operators if not o.name.startswith("cortex_m::")}
        return any(n.startswith("deuteron::") for n in others) or (core in self.boards and not others <= self.operators)

    def command(self, core, arguments):
        if core in self.boards:
            machine, image = self.boards[core]
            words = ",".join(f"arg={a}" for a in ["runner", *arguments])
            return ["qemu-system-arm", "-M", machine, "-kernel", image, "-icount", "shift=0,sleep=off", "-nodefaults", "-display", "none",
                    "-monitor", "none", "-serial", "none", "-semihosting-config", f"enable=on,target=native,{words}"]
        return [self.host, *arguments] if self.host and core == "cortex-m3" else None


class Case:
    def __init__(self, name, model, calibrate, samples, options=()):
        self.name, self.model, self.samples, self.options = name, model, samples, list(options)
        self.calibrate = [a for f in calibrate for a in ("--calibrate", f)]


def run_ours(tool, pte, case, where):
    """What `deuteron run` gives, as bytes of each output in the user's order."""
    named = []
    for k, sample in enumerate(case.samples):
        np.save(where / f"in{k}.npy", sample)
        named += ["--input", where / f"in{k}.npy"]
    r = call([tool, "run", pte, *named, "--output-dir", where / "ours"])
    if not check(r.returncode == 0, f"{case.name}: deuteron run: {r.stderr[-300:]}"):
        return None
    return [np.load(f) for f in sorted((where / "ours").glob("output*.npy"), key=lambda f: int(re.sub(r"\D", "", f.stem)))]


def run_stock(command_of, plan, case, where, ours):
    """Bytes of each output and the instructions that a board counted; or what went wrong."""
    given = []
    for k, (index, sample) in enumerate(zip(plan.inputs, case.samples)):
        entry = plan.values[index].val
        np.transpose(sample.reshape(entry.sizes), entry.dim_order).tofile(where / f"in{k}.bin")
        given.append(where / f"in{k}.bin")
    r = call(command_of([where / "p.pte", where / "stock", *given]))
    if r.returncode:
        return None, (r.stdout + r.stderr)[-300:]
    outputs = []
    for k, index in enumerate(plan.outputs):
        entry = plan.values[index].val
        stored = np.fromfile(where / f"stock{k}.bin", ours[k].dtype).reshape([entry.sizes[d] for d in entry.dim_order])
        outputs.append(np.transpose(stored, np.argsort(list(entry.dim_order))).reshape(ours[k].shape).tobytes())
    counted = re.search(r"instructions (\d+)", r.stdout)
    return outputs, int(counted[1]) if counted else 0


def run_case(tool, kernels, case, core, record, seen):
    key, command = f"{case.name} {core}", kernels.command(core, [])
    if not command and key not in record:
        return
    with tempfile.TemporaryDirectory() as folder:
        where = pathlib.Path(folder)
        pte = where / "p.pte"
        made = call([tool, "compile", case.model, "--target", core, *case.calibrate, *case.options, "-o", pte])
        check(made.returncode in (0, 1), f"{case.name}: deuteron compile: exit code {made.returncode}")
        if command:
            record.pop(key, None)  # until this run has the same bits
        if made.returncode:
            seen["refused on the host"] += 1
            return
        program = digest(pte.read_bytes())
        if not command and record[key]["program"] != program:
            seen["compiled otherwise since"] += 1
            return
        plan = plan_of(pte)
        # A model of an open batch becomes a program of one sample.
        case.samples = [s[:1] if s.size > np.prod(plan.values[i].val.sizes) else s for i, s in zip(plan.inputs, case.samples)]
        ours = run_ours(tool, pte, case, where)
        if ours is None:
            return
        outputs = digest(b"".join(o.tobytes() for o in ours))
        if not command:
            check(record[key]["outputs"] == outputs, f"{key}: other bits than the stock kernels gave")
            seen["same"] += 1
            return
        if kernels.lacks(core, plan):
            seen["with kernels that the stock image lacks"] += 1
            return
        stock, said = run_stock(lambda a: kernels.command(core, a), plan, case, where, ours)
        if not check(stock is not None, f"{key}: {said}"):
            return
        if check(stock == [o.tobytes() for o in ours], f"{key}: the stock kernels give other bits"):
            seen["same"] += 1
            record[key] = {"program": program, "outputs": outputs, **({"instructions": said} if said else {})}


def models(shared):
    for folder in sorted((shared / "fixtures" / "models").iterdir()):
        if not (folder / "model.json").exists():
            continue
        shapes = [i["shape"] for i in json.loads((folder / "model.json").read_text())["inputs"]]
        files = sorted((folder / "inputs").glob("*.bin"))[:1]
        if len(shapes) != 1 or not files:
            continue
        samples = [np.fromfile(files[0], "<f4").reshape(shapes[0])]
        large = (folder / "float.pt2").stat().st_size > 4 << 20
        for option, words in OPTIONS.items():
            if large and option:
                continue
            for model, calibrate in [("float.pt2", [folder / "inputs"]), ("qdq.pt2", [])]:
                if (folder / model).exists():
                    given = [np.random.default_rng(1).integers(-128, 128, shapes[0], np.int8)] if option == "int8" else samples
                    yield Case(f"{folder.name}/{model} {option}".strip(), folder / model, calibrate, given, words)
        if folder.name in BANDS:
            yield Case(f"{folder.name}/bands", folder / "float.pt2", [folder / "inputs"], samples, [*PLAIN, "--max-ram", BANDS[folder.name]])


def operators(shared):
    folder = shared / "fixtures" / "ops"
    for case in json.loads((folder / "ops.json").read_text()):
        named = [i for i in case["inputs"] if "file" in i]
        if any(i["dtype"] == "bfloat16" for i in named):  # which numpy lacks, and the compiler refuses
            continue
        samples = [np.fromfile(folder / i["file"], i["dtype"]).reshape(i["shape"]) for i in named]
        yield Case(f"ops/{case['name']}", folder / case["file"], [folder / i["file"] for i in named], samples, PLAIN)


def networks(count, folder):
    import random_networks
    import torch

    for seed in range(count):
        plan = random_networks.random_plan(seed)
        model, files = folder / f"net{seed}.pt2", []
        try:
            torch.export.save(torch.export.export(random_networks.network_of(plan), tuple(plan.values[v][0] for v in plan.inputs)), str(model))
        except Exception:  # what PyTorch cannot export
            continue
        for k, v in enumerate(plan.inputs):
            files.append(folder / f"net{seed}.{k}.npy")
            np.save(files[-1], np.stack([t.numpy() for t in plan.values[v]]))
        yield Case(f"network {seed}", model, files, [plan.values[v][0].numpy() for v in plan.inputs], PLAIN)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("deuteron", "shared", "record"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--host")
    parser.add_argument("--board", nargs=3, action="append", default=[], metavar=("CORE", "MACHINE", "IMAGE"))
    parser.add_argument("--board-operators", default="", help="of ATen, that the boards' images have: aten::cat.out,...")
    parser.add_argument("--networks", type=int, default=0)
    parser.add_argument("--only", default="", help="cases whose names contain it")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--versions", default="")
    a = parser.parse_args()
    if not (a.shared / "fixtures" / "models").is_dir():
        print("left out: the models of ../shared, which is not there")
        return 77
    kernels = Kernels(a.host, {core: (machine, image) for core, machine, image in a.board}, set(a.board_operators.split(",")))
    written = json.loads(a.record.read_text()) if a.record.exists() else {"versions": "", "cases": {}}
    seen = dict.fromkeys(["same", "refused on the host", "with kernels that the stock image lacks", "compiled otherwise since"], 0)
    with tempfile.TemporaryDirectory() as folder:
        cases = [*models(a.shared), *operators(a.shared), *(networks(a.networks, pathlib.Path(folder)) if a.networks else [])]
        for case in cases:
            for core in CORES:
                if a.only in case.name and (kernels.command(core, []) or not (a.host or a.board)):
                    run_case(a.deuteron, kernels, case, core, written["cases"], seen)
    check(seen["same"] > 0, "nothing was compared")
    print("stock kernels: " + ", ".join(f"{n} {what}" for what, n in seen.items()) + f"; {checks.verdict()}")
    if a.write and not checks.failed:
        written["versions"] = a.versions
        # Networks are made when they are run, and nobody runs them from the record.
        written["cases"] = {k: v for k, v in sorted(written["cases"].items()) if not k.startswith("network ")}
        lines = [f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in written["cases"].items()]
        a.record.write_text(f'{{"versions": {json.dumps(a.versions)}, "cases": {{\n' + ",\n".join(lines) + "\n}}\n")
    return checks.failed != 0


sys.exit(main())
