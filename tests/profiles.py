# SPDX-License-Identifier: Apache-2.0
"""Profiles of whole models through the command line: compile, profile, inspect. Every table adds up, the NPU's ticks are what the machine model
predicted, every event is in the record; and what does not belong together is refused.

profiles.py DEUTERON SHARED
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from checks import those_there

tool, shared = os.path.abspath(sys.argv[1]), sys.argv[2]
models = os.path.join(shared, "fixtures/models")
if not os.path.isdir(models):
    print(f"left out: profiles of whole models: there is no {models}")
    sys.exit(77)


def deuteron(*args, code=0):
    done = subprocess.run([tool, *args], capture_output=True, text=True, timeout=240)
    if done.returncode != code:
        sys.exit(f"FAILED: deuteron {' '.join(args)}: exit {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
    return done.stderr


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


profiles = 0
with tempfile.TemporaryDirectory() as folder:
    at = lambda name: os.path.join(folder, name)
    for model in those_there(pathlib.Path(models), ["cifarnet", "resnet8", "mobilenet_v2", "digits_cnn", "digits_bmm", "mnist_lstm"]):
        inputs = os.path.join(models, model, "inputs")
        sample = os.path.join(inputs, sorted(os.listdir(inputs))[0])
        for target in ("imxrt700", "imxrt700cm", "cortex-m55", "cortex-m33"):
            if target == "imxrt700" and model in ("digits_bmm", "mnist_lstm"):
                continue  # the NPU alone does not run them
            name = f"{model} for {target}"
            pte, record, dump = at(f"{model}-{target}.pte"), at(f"{model}-{target}.etrecord"), at(f"{model}-{target}.etdp")
            side = ["--prefer", "npu"] if target == "imxrt700cm" else []  # or mnist_lstm has nothing there
            deuteron("compile", os.path.join(models, model, "float.pt2"), "--target", target, "--calibrate", sample, "--profile", "-o", pte, "--etrecord", record, *side)
            deuteron("profile", pte, "--input", sample, "-o", dump)
            said = deuteron("inspect", dump, "--etrecord", record, "--json", at("j.json"))
            expect("not in the record" not in said, f"{name}: {said}")
            j = json.load(open(at("j.json")))
            for table in ("kernels", "by_operator", "by_module"):
                for clock in ("cpu", "npu"):
                    total = sum(r["total"] for r in j[table] if r["clock"] == clock)
                    expect(total == j[f"{clock}_total"], f"{name}: {table} of the {clock}: {total}, not {j[f'{clock}_total']}")
            npu = [r for r in j["kernels"] if r["clock"] == "npu" and not r["name"].startswith("(")]
            expect(bool(npu) == target.startswith("imxrt"), f"{name}: {len(npu)} kernels of the NPU")
            for r in npu:
                expect(r["total"] == r["predicted_cycles"], f"{name}: {r['name']}: {r['total']} ticks, {r['predicted_cycles']} predicted")
                expect(r["operators"] or r["added"], f"{name}: {r['name']} has no operator")
            deuteron("inspect", dump, "--json", at("k.json"))  # without a record
            k = json.load(open(at("k.json")))
            expect("by_operator" not in k and [r["total"] for r in k["kernels"]] == [r["total"] for r in j["kernels"]], f"{name}: without a record")
            profiles += 1
    ids = [json.loads(subprocess.run([tool, "inspect", at(f"{m}-cortex-m33.etdp"), "--json", "-"], capture_output=True, text=True).stdout)["program_id"] for m in ("cifarnet", "resnet8")]
    said = deuteron("inspect", at("cifarnet-cortex-m33.etdp"), "--etrecord", at("resnet8-cortex-m33.etrecord"), code=1)
    expect(ids[0] in said and ids[1] in said, f"both ids: {said}")
    whole = open(at("cifarnet-cortex-m33.etdp"), "rb").read()
    for size in (3, 40, len(whole) // 2, len(whole) - 1):
        open(at("cut.etdp"), "wb").write(whole[:size])
        deuteron("inspect", at("cut.etdp"), code=1)
    open(at("cut.etrecord"), "wb").write(open(at("cifarnet-cortex-m33.etrecord"), "rb").read()[:-30])
    deuteron("inspect", at("cifarnet-cortex-m33.etdp"), "--etrecord", at("cut.etrecord"), code=1)
    said = deuteron("inspect", at("cifarnet-cortex-m33.etdp"), "--etrecord", at("cifarnet-cortex-m33.etrecord"), "--baseline", at("cifarnet-cortex-m55.etdp"))
    expect("is of another program than the record" in said, said)
    said = deuteron("inspect", at("cifarnet-cortex-m33.pte"), "--etrecord", at("cifarnet-cortex-m33.etrecord"))  # a program and its record
print(f"{profiles} profiles")
