# SPDX-License-Identifier: Apache-2.0
"""Our profiles and records in ExecuTorch's own Inspector: it reads them, and shows the user's operators for kernels on CPU and NPU.

    inspector.py DEUTERON SHARED
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
from checks import check

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
with contextlib.redirect_stderr(io.StringIO()):
    import torch
    from executorch.devtools import Inspector

tool, shared = sys.argv[1], pathlib.Path(sys.argv[2])


def call(*arguments):
    result = subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    check(result.returncode == 0, f"{' '.join(map(str, arguments))}: {result.stderr[-800:]}")


def gives_a_tensor(target):
    _, op, overload = target.replace("_.", ".").split(".")
    returns = getattr(getattr(torch.ops.aten, op), overload)._schema.returns
    return len(returns) == 1 and str(returns[0].type) == "Tensor"


def blocks_of(where, inspector):
    return {b.name: b for b in inspector.event_blocks}


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
    with zipfile.ZipFile(where / "m.etrecord") as z:
        m = json.loads(z.read("delegate_map"))["deuteron"]
    check([b.name for b in inspector.event_blocks] == ["Default", "Execute", "Profile"], f"{what}: blocks")
    check(len(blocks_of(where, alone)["Execute"].events) == len(blocks_of(where, inspector)["Execute"].events), f"{what}: without the record")
    events = blocks_of(where, inspector)["Execute"].events
    by_call = {e._instruction_id: e for e in events if not e.is_delegated_op}
    by_kernel = {(e._instruction_id, str(e.name)): e for e in events if e.is_delegated_op}

    def check_event(event, ids, label):
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

    kernels = 0
    for c in m["calls"]:
        event = by_call.get(c["instruction"])
        check_event(event, c["operators"], f"{what}: call {c['instruction']}")
        check(event.name == ("DELEGATE_CALL" if c["kernel"] == "NeutronBackend" else "native_call_" + c["kernel"]), f"{what}: {event.name}")
        if "npu_kernels" not in c:
            continue
        check(event.delegate_backend_name == "NeutronBackend", f"{what}: the backend's name")
        if not extra:
            continue
        for k in c["npu_kernels"]:
            inside = by_kernel.get((c["instruction"], str(1000 + k["id"])))
            check_event(inside, k["operators"], f"{what}: kernel {k['id']} of call {c['instruction']}")
            check(inside is not None and bytes(inside.delegate_debug_metadatas[0]) == bytes([k["code"]]), f"{what}: the code of kernel {k['id']}")
            kernels += 1
        dump = by_kernel.get((c["instruction"], str(1000 + len(c["npu_kernels"]))))
        check(dump is not None and not dump.op_types, f"{what}: the dump of the NPU's profile")
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
        check_model(where, quantized, "cifarnet", "imxrt700cm", "host", ["--profile", "--neutron-exclude", "linear"])
        check_model(where, quantized, "cifarnet", "imxrt700cm", "host", [])
        float_core = [models / "resnet8" / "float_core.pt2", "--calibrate", models / "resnet8" / "inputs"]
        for target, extra in {"imxrt700cm": ["--profile"], "cortex-m33": []}.items():
            check_model(where, float_core, "resnet8", target, "host", extra)
            check_model(where, [models / "digits_bmm" / "qdq.pt2"], "digits_bmm", target, "host", extra)
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
