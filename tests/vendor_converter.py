# SPDX-License-Identifier: Apache-2.0
"""The vendor's way: five networks through a stand-in for the vendor's converter (tests/stand_ins/neutron_converter.cpp), whose microcode is
foreign, against the same networks through ours: the map of kernels, the selection of kernels, the report's figures, ports. Then every way in
which a converter fails. tests/rt700_board.py has what a user does with such a program.

    python3 tests/vendor_converter.py DEUTERON NEUTRON_CONVERTER [../shared]
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import checks
from checks import check

ROOT = pathlib.Path(__file__).resolve().parents[1]
TOOL, CONVERTER = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
MODELS = pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else ROOT.parent / "shared") / "fixtures" / "models"
NETWORKS = ["cifarnet", "resnet8", "dscnn_kws", "mobilenet_v1_025_vww", "autoencoder_ad"]
OURS = bytes.fromhex("6e4d4364444e4d01")  # npu/neutron/machine/microcode.h
QUICK = ["--observer", "minmax"]
# Two inputs of one shape: their order shows in the result alone.
JOINED = """input u : f32[1,4,4,8]
input v : f32[1,4,4,8]
a = quantize(u) quant=q(scale=0.05 zero=3)
b = quantize(v) quant=q(scale=0.05 zero=3)
y = concat(a, b) axis=3 : s8[1,4,4,16] q(scale=0.05 zero=3)
output y
"""
if not MODELS.is_dir():
    print(f"left out: there is no {MODELS}")
    sys.exit(77)


def call(*arguments, **environment):
    return subprocess.run([str(TOOL), *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600,
                          env={**os.environ, **environment})


def done(*arguments, **environment):
    result = call(*arguments, **environment)
    check(result.returncode == 0, f"{' '.join(map(str, arguments))}: {result.stderr[-800:]}")
    return result


def model_of(name):
    quantized = MODELS / name / "qdq.pt2"
    return [quantized] if quantized.exists() else [MODELS / name / "float.pt2", "--calibrate", MODELS / name / "inputs" / "000.bin", *QUICK]


def calls_of(record):
    with zipfile.ZipFile(record) as z:
        calls = json.loads(z.read("delegate_map"))["deuteron"]["calls"]
    for c in calls:  # what removed an operator is said in other words
        for w in c.get("without_kernel", []):
            w.pop("reason")
        c.pop("reason", None)
        for k in c.get("npu_kernels", []):
            for assumed in ("assumed", "apart_cycles"):  # of kernels of our machine; the vendor's text says which there are
                k.pop(assumed, None)
            if k["kernel"] == "MemCpy":
                check(k["added"] and k["operators"], f"{record}: a copy of constants is added, and for operators: {k}")
    return calls


def compiled(name, where, stem, *options, **environment):
    done("compile", *model_of(name), "--target", "imxrt700cm", "--profile", "-o", where / f"{stem}.pte", "--etrecord",
         where / f"{stem}.etrecord", "--neutron-kernel-selection", where / f"{stem}.c", "--json", where / f"{stem}.json",
         "--intermediates", where, *options, **environment)
    return json.loads((where / f"{stem}.json").read_text())


def inspected(where, stem):
    done("inspect", where / f"{stem}.pte", "--etrecord", where / f"{stem}.etrecord", "--json", where / f"{stem}.inspect.json")
    return json.loads((where / f"{stem}.inspect.json").read_text())


def check_programs(name, where):
    """The two files are the same but for what the converters made, and nothing of ours is in the vendor's."""
    a, b = inspected(where, "ours"), inspected(where, "theirs")
    for key in ("inputs", "outputs", "planned_bytes", "constants_bytes", "operators", "calls"):
        check(a[key] == b[key], f"{name}: {key}: {b[key]}, not {a[key]}")
    sections = ("microcode_bytes", "weights_bytes", "kernels_bytes")
    made = []  # the payloads' sections, with padding
    for d in (a["delegates"], b["delegates"]):
        made.append(sum(16 * -(-one["neutron"][s] // 16) for one in d for s in sections))
    for x, y in zip(a["delegates"], b["delegates"]):
        for key, value in x["neutron"].items():
            if key not in (*sections, "open_model", "vendor_microcode", "kernel_calls", "assumed_kernel_calls"):
                check(y["neutron"][key] == value, f"{name}: {key} of a payload: {y['neutron'][key]}, not {value}")
        check(y["neutron"]["vendor_microcode"] and not x["neutron"]["vendor_microcode"], f"{name}: whose microcode it is: {x}, {y}")
    check(b["file_bytes"] - a["file_bytes"] == made[1] - made[0] > 0, f"{name}: {b['file_bytes']} bytes, of ours {a['file_bytes']}: {made}")
    check(a["loads_on_host"] and not b["loads_on_host"], f"{name}: what is said to load here")
    check(OURS in (where / "ours.pte").read_bytes() and OURS not in (where / "theirs.pte").read_bytes(), f"{name}: the stand-in's microcode is ours")


def check_network(name, where, *options):
    ours = compiled(name, where, "ours", *options)
    theirs = compiled(name, where, "theirs", "--neutron-converter", CONVERTER, *options)
    mine, given = calls_of(where / "ours.etrecord"), calls_of(where / "theirs.etrecord")
    kernels = sum(len(c.get("npu_kernels", [])) for c in mine)
    check(kernels > 3, f"{name}: only {kernels} kernels on the NPU")
    for a, b in zip(mine, given):
        for x, y in zip(a.get("npu_kernels", []), b.get("npu_kernels", [])):
            check(x == y, f"{name}: kernel {x['id']}: {x} is {y} through the vendor's converter")
    check(mine == given, f"{name}: other calls: {[(a, b) for a, b in zip(mine, given) if a != b][:1]}")
    check((where / "ours.c").read_text() == (where / "theirs.c").read_text(), f"{name}: another selection of kernels")
    check("kernelSelection" in (where / "theirs_vendor0.c").read_text(), f"{name}: the vendor's own selection is not there")
    for key in ("npu_cycles", "npu_macs", "npu_delegates", "macs", "cycles", "counts", "ram_bytes", "constants_bytes", "sqnr_db", "held_out_sqnr_db"):
        check(ours[key] == theirs[key], f"{name}: {key} {theirs[key]}, not {ours[key]}")
    # Measured on our conversion of the same operators, and it is said.
    measured = theirs["sqnr_db"] is not None
    check(theirs.get("accuracy_of_own_conversion", False) == measured and "accuracy_of_own_conversion" not in ours, f"{name}: of which program the accuracy is")
    check_programs(name, where)
    print(f"{name}: {kernels} kernels, the same map")


def refused(what, rule, text, *arguments, **environment):
    """Exit 1, with this rule and this text."""
    result = call(*arguments, **environment)
    check(result.returncode == 1 and f"[{rule}]" in result.stderr and text in result.stderr,
          f"{what}: exit {result.returncode}: {result.stderr[-800:]}")


def check_failures(where):
    done("compile", *model_of("cifarnet"), "--target", "imxrt700cm", "-o", where / "c.pte", "--intermediates", where)
    (where / "neutron0.ir.tflite").rename(where / "cifarnet.tflite")
    compile_it = ["compile", *model_of("resnet8"), "--target", "imxrt700cm", "--neutron-converter", CONVERTER, "-o", where / "m.pte"]
    other = str(where / "cifarnet.tflite")
    failures = [
        ("crash", "neutron.external.crash", "Segmentation fault", []),
        ("hang", "neutron.external.timeout", "still running, limit 2 s", ["--neutron-option", "limit_seconds=2"]),
        ("old-version", "neutron.external.version", "2.0.2, limit 3.1.2 or newer", []),
        ("partial-graph", "neutron.extract.leftovers", "operators were not converted", []),
        ("other-result", "neutron.external.ports", "input", []),
        ("other-model", "neutron.external.ports", "input", []),
        ("truncated", "tflite.file.verify", "reading its result", []),
        ("no-dump", "neutron.selection.unknown", "not known", ["--neutron-kernel-selection", where / "k.c"]),
    ]
    for name, rule, text, options in failures:
        refused(name, rule, text, *compile_it, *options, NEUTRON_STAND_IN=name, NEUTRON_STAND_IN_OTHER=other)
    result = done(*compile_it, "--profile", "-v", NEUTRON_STAND_IN="no-dump")
    check("[neutron.dump.missing]" in result.stderr, f"no-dump: no warning: {result.stderr}")
    check("predicts none of them" in result.stdout, f"no-dump: counts the NPU's time as 0: {result.stdout}")
    refused("an option that it does not know", "neutron.external.failed", "Unknown option '--no-such-option'", *compile_it,
            "--neutron-option", "noSuchOption=1")
    refused("a graph that is too small for it", "neutron.extract.none", "CONV_2D", *compile_it, "--neutron-option",
            "minNumOpsPerGraph=1000")
    refused("a target that it does not know", "neutron.external.failed", "Unknown target 'mcu'", *compile_it,
            "--neutron-option", "target=mcu")


def check_port_order(where):
    """Ports in another order are matched by name, and it is said."""
    (where / "d.txt").write_text(JOINED)
    for k in range(2):
        (where / f"{k}.bin").write_bytes(b"".join(int.to_bytes(0x3F000000 + 4321 * (k + 1) * i, 4, "little") for i in range(128)))
    reports, ports = [], []
    for stem, options, environment in (("ours", [], {}), ("theirs", ["--neutron-converter", CONVERTER], {"NEUTRON_STAND_IN": "port-order"})):
        result = done("compile", where / "d.txt", "--target", "imxrt700cm", "--calibrate", where / "0.bin", "--calibrate", where / "1.bin", *options,
                      "-o", where / f"{stem}.pte", "--etrecord", where / f"{stem}.etrecord", "--json", where / f"{stem}.json", **environment)
        reports.append(json.loads((where / f"{stem}.json").read_text()))
        ports.append(inspected(where, stem)["delegates"][0]["neutron"]["input_arguments"])
    check("[neutron.external.port_order]" in result.stderr, f"port-order: it is not said: {result.stderr}")
    check(ports[0] == ports[1] == [0, 1], f"port-order: inputs {ports[1]}, of ours {ports[0]}")  # by place they would be [1, 0]
    # What is measured is our conversion, whose ports are in our order.
    for key in ("sqnr_db", "max_abs_error", "exact", "samples"):
        check(reports[0][key] == reports[1][key], f"port-order: {key} {reports[1][key]}, not {reports[0][key]}")


with tempfile.TemporaryDirectory() as folder:
    for network in checks.those_there(MODELS, NETWORKS):
        path = pathlib.Path(folder) / network
        path.mkdir()
        check_network(network, path)
    constants = pathlib.Path(folder) / "constants"
    constants.mkdir()
    check_network("resnet8", constants, "--neutron-option", "fetch_constants_to_sram=true")
    check_failures(pathlib.Path(folder))
    check_port_order(pathlib.Path(folder))
print(checks.verdict())
sys.exit(1 if checks.failed else 0)
