# SPDX-License-Identifier: Apache-2.0
"""What a profile says, and what it costs: maps and sums of four networks for four targets, the same events on boards and host, the same
bits, the tracer's price in instructions, and what is wrong with clocks and buffers.

    python3 tests/tracing.py [build/deuteron] [build/boards] [../shared]

Prints what tracing costs.
"""
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import checks
import etdump
from checks import check

ROOT = pathlib.Path(__file__).resolve().parents[1]
paths = sys.argv[1:]
TOOL = pathlib.Path(paths[0] if paths else ROOT / "build" / "deuteron").resolve()
BOARDS = pathlib.Path(paths[1] if len(paths) > 1 else ROOT / "build" / "boards")
MODELS = pathlib.Path(paths[2] if len(paths) > 2 else ROOT.parent / "shared") / "fixtures" / "models"
NETWORKS = ["cifarnet", "resnet8", "mobilenet_v2", "digits_cnn"]
BOARD_OF = {"imxrt700": "mps2-an505", "imxrt700cm": "mps2-an505", "cortex-m33": "mps2-an505", "cortex-m55": "mps3-an547"}


def call(*arguments):
    return subprocess.run([str(TOOL), *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600)


def done(*arguments):
    result = call(*arguments)
    return check(result.returncode == 0, f"{' '.join(map(str, arguments))}: {result.stderr[-600:]}")


def model_of(name):
    """What to compile: the quantized model where there is one."""
    quantized = MODELS / name / "qdq.pt2"
    return [quantized] if quantized.exists() else [MODELS / name / "float.pt2", "--calibrate", MODELS / name / "inputs"]


def record_map(path):
    with zipfile.ZipFile(path) as z:
        return json.loads(z.read("delegate_map"))["deuteron"]


def outputs(folder):
    return [hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.glob("*.npy"))]


def shape_of(events):
    """What must be the same wherever a program runs: all but the CPU's times."""
    return [(e["name"], e["chain"], e["instruction"], e["id"], e["metadata"], e["end"] - e["start"] if e["id"] >= 0 else None) for e in events]


def check_map(where, m):
    """Every kernel has an operator, every operator a kernel or a reason."""
    placed = set()
    for c in m["calls"]:
        check(c["operators"], f"{where}: call {c['instruction']} {c['kernel']} belongs to no operator")
        for k in c.get("npu_kernels", []):
            check(k["operators"], f"{where}: kernel {k['id']} {k['kernel']} of call {c['instruction']} belongs to no operator")
            placed.update(k["operators"])
        for w in c.get("without_kernel", []):
            check(w["reason"], f"{where}: `{m['operators'][w['operator']]['name']}` has no kernel and no reason")
            placed.add(w["operator"])
        if "npu_kernels" in c:
            check(set(c["operators"]) <= placed, f"{where}: operators {set(c['operators']) - placed} of call {c['instruction']}")
        placed.update(c["operators"])
    for f in m["folded"]:
        check(f["reason"], f"{where}: `{m['operators'][f['operator']]['name']}` is folded without a reason")
        placed.add(f["operator"])
    missing = [o["name"] for i, o in enumerate(m["operators"]) if i not in placed]
    check(not missing, f"{where}: not in the map: {missing}")


def check_network(where, name, target):
    if not done("compile", *model_of(name), "--target", target, "--profile", "-o", where / "p.pte", "--etrecord", where / "p.etrecord",
                "--json", where / "p.json"):
        return
    report, m = json.loads((where / "p.json").read_text()), record_map(where / "p.etrecord")
    check_map(f"{name} for {target}", m)
    x = MODELS / name / "inputs" / "000.bin"
    done("compile", *model_of(name), "--target", target, "-o", where / "plain.pte", "--etrecord", where / "plain.etrecord")
    check_map(f"{name} for {target}, without --profile", record_map(where / "plain.etrecord"))
    done("run", where / "plain.pte", "--input", x, "--output-dir", where / "plain")
    done("run", where / "p.pte", "--input", x, "--output-dir", where / "unprofiled")
    done("run", where / "p.pte", "--input", x, "--output-dir", where / "profiled", "--profile", where / "host.etdp")
    same = outputs(where / "plain") == outputs(where / "unprofiled") == outputs(where / "profiled")
    check(same, f"{name} for {target}: the bits with and without a profile")
    blocks = etdump.read(where / "host.etdp")
    check(etdump.facts(blocks)["program"] == m["program_id"], f"{name} for {target}: the ids of dump and record")
    (events,) = etdump.runs(blocks)
    npu = etdump.inside_npu(events)
    kernels = [(c["instruction"], k) for c in m["calls"] for k in c.get("npu_kernels", [])]
    check([(e["instruction"], e["id"] - 1000, e["metadata"][0]) for e in npu] == [(i, k["id"], k["code"]) for i, k in kernels],
          f"{name} for {target}: kernels of the dump and of the record")
    check([e["end"] - e["start"] for e in npu] == [k["predicted_cycles"] for _, k in kernels], f"{name} for {target}: ticks of each kernel")
    check(etdump.ticks(npu) == report["npu_cycles"], f"{name} for {target}: {etdump.ticks(npu)} ticks, {report['npu_cycles']} in the model")
    names = [(e["instruction"], e["name"]) for e in etdump.on_cpu(events)]
    check(names == [(c["instruction"], "native_call_" + c["kernel"]) for c in m["calls"] if "npu_kernels" not in c], f"{name} for {target}: calls")
    line = f"{name:13} {target:11} {len(kernels):3} NPU kernels {report['npu_cycles']:8} ticks {len(names):3} CPU calls"
    if name in ("cifarnet", "resnet8"):
        line += check_board(where, f"{name} for {target}", BOARD_OF[target], x, events)
    print(line)


def check_board(where, name, board, x, host_events):
    done("run", where / "p.pte", "--input", x, "--output-dir", where / "on_board", "--on", "qemu:" + board, "--json", where / "off.json")
    done("run", where / "p.pte", "--input", x, "--output-dir", where / "traced", "--on", "qemu:" + board, "--profile", where / "board.etdp",
         "--json", where / "on.json")
    check(outputs(where / "on_board") == outputs(where / "traced") == outputs(where / "profiled"), f"{name} on {board}: the bits")
    (events,) = etdump.runs(etdump.read(where / "board.etdp"))
    check(shape_of(events) == shape_of(host_events), f"{name} on {board}: the events are those of the host")
    off, on = (json.loads((where / f"{k}.json").read_text())["instructions"] for k in ("off", "on"))
    # What plays the NPU is in no other figure: far more than the calls of its delegates take by themselves.
    npu = json.loads((where / "off.json").read_text())["npu_simulation_instructions"]
    delegates = etdump.ticks([e for e in events if e["name"] == "DELEGATE_CALL"])
    has_npu = any(e["id"] >= 0 for e in events)
    check((npu > 20 * delegates) if has_npu else npu == 0, f"{name} on {board}: {npu} instructions play the NPU, its calls take {delegates}")
    cpu = etdump.ticks(etdump.on_cpu(events) + [e for e in events if e["name"] == "DELEGATE_CALL"])
    # Of all that the board's processor did: beside an NPU its own part may be as small as the tracer's.
    check(abs(cpu - off) <= 0.01 * (off + npu), f"{name} on {board}: the calls sum to {cpu}, the run has {off} instructions")
    check(on <= off + 0.02 * (off + npu), f"{name} on {board}: {on} instructions with the tracer, {off} without")
    return f"; {board}: {off} instructions, calls sum to {cpu} ({100 * (cpu - off) / off:+.3f} %), traced {on} ({100 * (on - off) / off:+.3f} %)"


def section_sizes(image):
    text = subprocess.run(["arm-none-eabi-size", "-A", str(image)], capture_output=True, text=True, check=True).stdout
    return {w[0]: int(w[1]) for w in map(str.split, text.splitlines()) if len(w) == 3 and w[0].startswith(".")}


def loaded_bytes(image, where):
    subprocess.run(["arm-none-eabi-objcopy", "-O", "binary", str(image), str(where / "image.bin")], check=True)
    return (where / "image.bin").read_bytes()


def check_cost(where):
    """Compiled out, it is as if the tracer's files did not exist; compiled in and off, it is a test for each run."""
    untraced, bare = BOARDS / "mps2-an505.untraced.elf", BOARDS / "mps2-an505.bare.elf"
    if not untraced.exists():
        return print("left out: the images without the tracer (ninja untraced_firmware)")
    check(loaded_bytes(untraced, where) == loaded_bytes(bare, where), "compiled out: every byte as without the tracer's files")
    sizes = section_sizes(untraced)
    check(sizes == section_sizes(bare), "compiled out: the sections' sizes")
    symbols = subprocess.run(["arm-none-eabi-nm", "-C", str(untraced)], capture_output=True, text=True, check=True).stdout
    check("Trace" not in symbols and "etdump" not in symbols, "compiled out: no symbol of it")
    done("compile", MODELS / "resnet8" / "qdq.pt2", "--target", "cortex-m33", "-o", where / "r.pte")
    counts = {}
    for kind, extra in {"traced image, off": [], "traced image, on": ["--profile", where / "r.etdp"], "untraced image": ["--runner", untraced],
                        "image without its files": ["--runner", bare]}.items():
        done("run", where / "r.pte", "--input", MODELS / "resnet8" / "inputs" / "000.bin", "--output-dir", where / "o", "--on", "qemu:mps2-an505",
             "--json", where / "r.json", *extra)
        counts[kind] = json.loads((where / "r.json").read_text())["instructions"]
        print(f"resnet8 on mps2-an505, {kind}: {counts[kind]} instructions")
    check(counts["untraced image"] == counts["image without its files"], "compiled out: the instructions of a run")
    check(counts["traced image, off"] - counts["untraced image"] <= 17, "compiled in and off: at most an instruction for each of its 17 calls")
    print(f"text of the image: {sizes['.text']} bytes without the tracer, {section_sizes(BOARDS / 'mps2-an505.elf')['.text']} with it")
    result = call("run", where / "r.pte", "--input", MODELS / "resnet8" / "inputs" / "000.bin", "--output-dir", where / "o", "--on",
                  "qemu:mps2-an505", "--runner", untraced, "--profile", where / "none.etdp")
    check(result.returncode == 1 and "without the tracer" in result.stderr and not (where / "none.etdp").exists(), "a runner without it says so")


def check_clocks_and_buffers(where):
    done("compile", MODELS / "cifarnet" / "qdq.pt2", "--target", "cortex-m33", "-o", where / "c.pte")
    x = MODELS / "cifarnet" / "inputs" / "000.bin"
    for clock, name in {"dwt": "DWT_CYCCNT", "pmu": "PMU_CCNTR"}.items():
        result = call("profile", where / "c.pte", "--input", x, "-o", where / "still.etdp", "--on", "qemu:mps2-an505", "--profile-clock", clock)
        told = result.returncode == 1 and name in result.stderr and "stands still" in result.stderr and "[profile.clock]" in result.stderr
        check(told and not (where / "still.etdp").exists(), f"{clock}, which the board does not have: {result.stderr}")
    # A tick of SysTick is 50 instructions on mps2-an505; it goes round thousands of times in a run, and several times within one call.
    done("profile", where / "c.pte", "--input", x, "-o", where / "exact.etdp", "--on", "qemu:mps2-an505")
    (exact,) = etdump.runs(etdump.read(where / "exact.etdp"))
    for reload in ("9999", "16777215"):
        done("profile", where / "c.pte", "--input", x, "-o", where / "wraps.etdp", "--on", "qemu:mps2-an505", "--profile-clock", "systick:" + reload)
        (wrapped,) = etdump.runs(etdump.read(where / "wraps.etdp"))
        for a, b in zip(etdump.on_cpu(exact), etdump.on_cpu(wrapped), strict=True):
            counted, ticks = a["end"] - a["start"], 50 * (b["end"] - b["start"])
            check(abs(ticks - counted) <= 0.02 * counted + 200, f"systick:{reload}, {a['name']}: {ticks}, not {counted}")
    for on in ("host", "qemu:mps2-an505", "qemu:mps3-an547"):
        if on == "qemu:mps3-an547":
            done("compile", MODELS / "cifarnet" / "qdq.pt2", "--target", "cortex-m55", "-o", where / "c.pte")
        done("profile", where / "c.pte", "--input", x, "-o", where / "all.etdp", "--on", on)
        done("profile", where / "c.pte", "--input", x, "-o", where / "few.etdp", "--on", on, "--profile-events", "4")
        every, few = (etdump.runs(etdump.read(where / f"{k}.etdp"))[0] for k in ("all", "few"))
        check(shape_of(few) == shape_of(every[:4]), f"an overfull dump on {on} has the oldest events")
        told = etdump.facts(etdump.read(where / "few.etdp"))
        check((told["events"], told["dropped"]) == ("4", str(len(every) - 4)), f"an overfull dump on {on} says how many are missing")
    many = MODELS / "cifarnet" / "inputs"
    samples = len(list(many.glob("*.bin")))
    done("profile", where / "c.pte", "--input", many, "-o", where / "many.etdp")
    every = etdump.runs(etdump.read(where / "many.etdp"))
    check(len(every) == samples and all(shape_of(e) == shape_of(every[0]) for e in every), f"{samples} samples are {samples} blocks")
    refused = call("compile", MODELS / "mnist_lstm" / "qdq.pt2", "--target", "imxrt700", "-o", where / "no.pte", "--etrecord", where / "no.etrecord")
    check(refused.returncode == 1 and not (where / "no.etrecord").exists(), "what is refused leaves no record")
    result = call("profile", where / "c.pte", "--input", x, "-o", where / "no" / "such" / "folder.etdp")
    check(result.returncode == 1 and "folder.etdp" in result.stderr, "a folder that does not exist")


def main():
    if not MODELS.is_dir():
        print(f"left out: there is no {MODELS}")
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        where = pathlib.Path(scratch)
        for name in checks.those_there(MODELS, NETWORKS):
            for target in BOARD_OF:
                check_network(where, name, target)
        check_cost(where)
        check_clocks_and_buffers(where)
    print(f"{checks.verdict()}")
    return checks.failed != 0


sys.exit(main())
