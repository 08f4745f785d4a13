# SPDX-License-Identifier: Apache-2.0
"""Our profiles and records in ExecuTorch's own Inspector: it reads them, and shows the user's operators for kernels on CPU and NPU. The same
records with traces of stock firmware (tests/stock_traces.py), in the Inspector and in `deuteron inspect`; with RUNNER also traces that the stock
runtime writes, with NXP's own NeutronBackend over the open machine (stock_runner_upstream).

    inspector.py DEUTERON SHARED [RUNNER]
"""
import contextlib
import io
import json
import logging
import pathlib
import subprocess
import sys
import tempfile
import warnings
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import checks
import stock_traces
from checks import check

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
with contextlib.redirect_stderr(io.StringIO()):
    import torch
    from executorch.devtools import Inspector

tool, shared = sys.argv[1], pathlib.Path(sys.argv[2])
runner = sys.argv[3] if len(sys.argv) > 3 else None


def call(*arguments):
    result = subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    check(result.returncode == 0, f"{' '.join(map(str, arguments))}: {result.stderr[-800:]}")


def gives_a_tensor(target):
    _, op, overload = target.replace("_.", ".").split(".")
    returns = getattr(getattr(torch.ops.aten, op), overload)._schema.returns
    return len(returns) == 1 and str(returns[0].type) == "Tensor"


def blocks_of(where, inspector):
    return {b.name: b for b in inspector.event_blocks}


def map_of(record):
    with zipfile.ZipFile(record) as z:
        return json.loads(z.read("delegate_map"))["deuteron"]


def check_event(m, event, ids, label):
    """It has the types, names, stack traces and modules of these operators."""
    ops = [m["operators"][i] for i in ids]
    if not check(event is not None, f"{label}: no event"):
        return
    wanted = sorted({o["target"].replace("_.", ".") for o in ops})
    check(sorted(set(event.op_types)) == wanted, f"{label}: types {event.op_types}, not {wanted}")
    # An operator that gives a list of tensors is a node under a name of the reader's own.
    named = {o["name"]: o["stack"] for o in ops if "stack" in o and gives_a_tensor(o["target"])}
    told = {n.removesuffix("_"): stack for n, stack in event.stack_traces.items() if not n.startswith("aten_")}
    check(told == named, f"{label}: names and stack traces {list(event.stack_traces)}, not {list(named)}")
    modules = {n.removesuffix("_"): list(v or []) for n, v in event.module_hierarchy.items()}
    check(all(o["module"] in str(modules.get(o["name"])) for o in ops if "module" in o), f"{label}: modules {modules}")


def events_of(where, data):
    (where / "stock.etdp").write_bytes(data)
    with contextlib.redirect_stderr(io.StringIO()):
        inspector = Inspector(etdump_path=str(where / "stock.etdp"), etrecord=str(where / "m.etrecord"))
    return blocks_of(where, inspector)["Execute"].events


def check_kernels(m, events, what):
    """Every kernel of the NPU, by the number that stock firmware gives it, in the Inspector."""
    inside = {(e._instruction_id, str(e.name)): e for e in events if e.is_delegated_op}
    for c in m["calls"]:
        if "npu_kernels" not in c:
            continue
        for k in c["npu_kernels"]:
            check_event(m, inside.get((c["instruction"], str(k["id"]))), k["operators"], f"{what}: kernel {k['id']} of call {c['instruction']}")
        dump = inside.get((c["instruction"], str(len(c["npu_kernels"]))))
        check(dump is not None and not dump.op_types, f"{what}: the writing of the profile of call {c['instruction']}")


def check_stock_firmware(where, what, m):
    made = events_of(where, stock_traces.trace(m))
    check_kernels(m, made, what + ", made")
    check_inspect(where, what + ", made", m)
    return made


def described(events):
    """Without what names itself inside a call: that does the code that ExecuTorch generates for its kernels, and the runner has ours."""
    return sorted((str(e._instruction_id), str(e.name), e.is_delegated_op, sorted(set(e.op_types))) for e in events if not str(e.name).startswith("native_call_"))


def check_recorded(where, what, m, made, inputs):
    """The stock runtime writes such a trace, and twice the same rows come of it. Its kernels and clocks are those of the map."""
    runs = []
    for k in range(2):
        done = subprocess.run([runner, f"--etdump={where}/real{k}.etdp", str(where / "m.pte"), str(where / "out"), *map(str, inputs)], capture_output=True, text=True, timeout=300)
        if not check(done.returncode == 0, f"{what}: the stock runtime: {done.stderr[-500:]}"):
            return
        runs.append((where / f"real{k}.etdp").read_bytes())
    events = events_of(where, runs[0])
    check_kernels(m, events, what)
    real, made = described(events), described(made)
    check(real == made, f"{what}: only in the runtime's trace {[e for e in real if e not in made]}, only in the made one {[e for e in made if e not in real]}")
    profile, text, _ = inspected(where, runs[0])
    check(inspected(where, runs[1])[1] == text, f"{what}: a second run has other rows")
    npu = {(r["instruction"], r["delegate_id"]): r for r in profile["kernels"] if r["clock"] == "npu"}
    kernels = [(c["instruction"], k) for c in m["calls"] for k in c.get("npu_kernels", [])]
    for instruction, k in kernels:
        row = npu.get((instruction, k["id"]), {})
        check(row.get("operators") == k["operators"] and row.get("total", 0) > 0, f"{what}: kernel {k['id']} of call {instruction}: {row}")
    check(profile["npu_total"] == sum(npu[i, k["id"]]["total"] for i, k in kernels), f"{what}: {profile['npu_total']} cycles of the NPU")
    check(all(r["operators"] for r in profile["kernels"] if r["clock"] == "cpu" and "instruction" in r), f"{what}: a call without operators")
    print(f"{what}: {len(kernels)} kernels, twice the same rows")


def inspected(where, data):
    (where / "stock.etdp").write_bytes(data)
    result = subprocess.run([tool, "inspect", str(where / "stock.etdp"), "--etrecord", str(where / "m.etrecord"), "--json", str(where / "stock.json")],
                            capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    check(result.returncode == 0 and "another program" not in result.stderr, f"inspect: {result.stderr[-800:]}")
    return json.loads((where / "stock.json").read_text()), result.stdout, result.stderr


def check_inspect(where, what, m):
    """All rows of the kernels, the clocks apart, and the same rows wherever the counters stand."""
    profile, text, said = inspected(where, stock_traces.trace(m))
    check(said.count("warning") == 1 and "inspect.program_id" in said, f"{what}: {said}")
    rows = profile["kernels"]
    npu = {(r["instruction"], r["delegate_id"]): r for r in rows if r["clock"] == "npu"}
    cpu = {r["instruction"]: r for r in rows if r["clock"] == "cpu" and "instruction" in r}
    total = 0
    for c in m["calls"]:
        ours = cpu.pop(c["instruction"], {})
        kernels = c.get("npu_kernels")
        ticks = 290 if kernels is None else stock_traces.call_ticks(c)
        check(ours.get("total") == ticks and ours.get("operators") == c["operators"], f"{what}: call {c['instruction']}: {ours}")
        for k in kernels or []:
            row = npu.pop((c["instruction"], k["id"]), {})
            total += stock_traces.cycles(c, k)
            right = (row.get("name"), row.get("operators"), row.get("total")) == (k["kernel"], k["operators"], stock_traces.cycles(c, k))
            check(right, f"{what}: kernel {k['id']} of call {c['instruction']}: {row}")
        if kernels is not None:
            row = npu.pop((c["instruction"], len(kernels)), {})
            check((row.get("name"), row.get("total")) == ("(writing of the profile)", 0), f"{what}: the writing of the profile: {row}")
    check(not npu and not cpu, f"{what}: rows of nothing: {npu} {cpu}")
    check(profile["npu_total"] == total, f"{what}: {profile['npu_total']} cycles of the NPU, not {total}")
    for counters in [(70_000, 1_000_000), (1_000_000, 1_000_400), (0, 4_294_960_000)]:
        check(inspected(where, stock_traces.trace(m, *counters))[1] == text, f"{what}: other rows where the counters stand at {counters}")


def check_model(where, source, name, target, on, extra):
    """Every call and kernel of the map has its operators' types, names, modules and stack traces in the Inspector."""
    what = f"{name} for {target} on {on}"
    call("compile", *source, "--target", target, "-o", where / "m.pte", "--etrecord", where / "m.etrecord", *extra)
    inputs = shared / "fixtures" / "models" / name / "inputs"
    x = inputs / "000.bin"
    call("profile", where / "m.pte", "--input", x, "-o", where / "m.etdp", "--on", on)
    with contextlib.redirect_stderr(io.StringIO()):
        inspector = Inspector(etdump_path=str(where / "m.etdp"), etrecord=str(where / "m.etrecord"))
        alone = Inspector(etdump_path=str(where / "m.etdp"))
    m = map_of(where / "m.etrecord")
    check([b.name for b in inspector.event_blocks] == ["Default", "Execute", "Profile"], f"{what}: blocks")
    check(len(blocks_of(where, alone)["Execute"].events) == len(blocks_of(where, inspector)["Execute"].events), f"{what}: without the record")
    events = blocks_of(where, inspector)["Execute"].events
    by_call = {e._instruction_id: e for e in events if not e.is_delegated_op}
    by_kernel = {(e._instruction_id, str(e.name)): e for e in events if e.is_delegated_op}
    kernels = 0
    for c in m["calls"]:
        event = by_call.get(c["instruction"])
        check_event(m, event, c["operators"], f"{what}: call {c['instruction']}")
        check(event.name == ("DELEGATE_CALL" if c["kernel"] == "NeutronBackend" else "native_call_" + c["kernel"]), f"{what}: {event.name}")
        if "npu_kernels" not in c:
            continue
        check(event.delegate_backend_name == "NeutronBackend", f"{what}: the backend's name")
        if not extra:
            continue
        for k in c["npu_kernels"]:
            inside = by_kernel.get((c["instruction"], str(1000 + k["id"])))
            check_event(m, inside, k["operators"], f"{what}: kernel {k['id']} of call {c['instruction']}")
            check(inside is not None and bytes(inside.delegate_debug_metadatas[0]) == bytes([k["code"]]), f"{what}: the code of kernel {k['id']}")
            kernels += 1
        dump = by_kernel.get((c["instruction"], str(1000 + len(c["npu_kernels"]))))
        check(dump is not None and not dump.op_types, f"{what}: the dump of the NPU's profile")
    if extra and "npu_kernels" in str(m["calls"]):
        made = check_stock_firmware(where, what + ", stock firmware", m)
        if runner and on == "host":
            check_recorded(where, what + ", the stock runtime", m, made, [x])
    modules = [o["module"] for o in m["operators"] if "module" in o]
    table = io.StringIO()
    inspector.print_data_tabular(file=table)
    check("native_call_" in table.getvalue(), f"{what}: the Inspector's table")
    print(f"{what}: {len(by_call)} calls and framework events, {kernels} NPU kernels, {len(modules)} operators with a module")


def main():
    models = shared / "fixtures" / "models"
    if not models.is_dir():
        print(f"left out: there is no {models}")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        where = pathlib.Path(folder)
        quantized = [models / "cifarnet" / "qdq.pt2"]
        for target, boards in {"imxrt700": ["host"], "imxrt700cm": ["host", "qemu:mps2-an505"], "cortex-m55": ["host", "qemu:mps3-an547"],
                               "cortex-m33": ["host", "qemu:mps2-an505"]}.items():
            npu = target.startswith("imxrt")
            for on in boards:
                check_model(where, quantized, "cifarnet", target, on, ["--profile"] if npu else [])
        check_model(where, quantized, "cifarnet", "imxrt700cm", "host", ["--profile", "--layer", "linear=cpu"])
        check_model(where, quantized, "cifarnet", "imxrt700cm", "host", [])
        float_core = [models / "resnet8" / "float_core.pt2", "--calibrate", models / "resnet8" / "inputs"]
        for target, extra in {"imxrt700cm": ["--profile"], "cortex-m33": []}.items():
            check_model(where, float_core, "resnet8", target, "host", extra)
            check_model(where, [models / "digits_bmm" / "qdq.pt2"], "digits_bmm", target, "host", extra)
        for name in ("mobilenet_v1_025_vww", "dscnn_kws", "autoencoder_ad"):
            floats = [models / name / "float.pt2", "--calibrate", models / name / "inputs" / "000.bin"]
            check_model(where, floats, name, "imxrt700cm", "host", ["--profile"])
        # Several samples are one block of several values.
        call("compile", *quantized, "--target", "cortex-m33", "-o", where / "m.pte")
        call("profile", where / "m.pte", "--input", models / "cifarnet" / "inputs", "-o", where / "m.etdp")
        with contextlib.redirect_stderr(io.StringIO()):
            inspector = Inspector(etdump_path=str(where / "m.etdp"))
        samples = len(list((models / "cifarnet" / "inputs").glob("*.bin")))
        check(all(len(e.perf_data.raw) == samples for e in blocks_of(where, inspector)["Execute"].events), "a value for each sample")


left_out = main()
print(f"{checks.verdict()}")
sys.exit(1 if checks.failed else left_out or 0)
