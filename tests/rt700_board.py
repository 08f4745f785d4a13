# SPDX-License-Identifier: Apache-2.0
"""docs/rt700.md, its commands word for word, with a stand-in for the vendor's converter whose microcode nobody can read; then every verb on
such a program: what it says, and what it cannot do.

    python3 tests/rt700_board.py DEUTERON NEUTRON_CONVERTER [../shared] [--all] [--package build/python]

--all: every network of the fixtures, float and quantized, and three of the zoo, for which this interpreter needs torch. --package: the folder of the Python package, and this interpreter runs it.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import checks
from checks import check

ROOT = pathlib.Path(__file__).resolve().parents[1]
ALL = "--all" in sys.argv
PACKAGE = sys.argv[sys.argv.index("--package") + 1] if "--package" in sys.argv else None
PLACES = [a for a in sys.argv[1:] if not a.startswith("--") and a != PACKAGE]
TOOL, CONVERTER = (pathlib.Path(p).resolve() for p in PLACES[:2])
MODELS = pathlib.Path(PLACES[2] if len(PLACES) > 2 else ROOT.parent / "shared").resolve() / "fixtures" / "models"
DIGITS = ROOT / "models" / "digits_cnn"
FEW = [("resnet8", "qdq"), ("dscnn_kws", "float")]
ZOO = ("person_detection", "keyword_cnn", "causal_attention")
SAMPLES = 2
RULE, SENTENCE = "[pte.vendor_microcode]", "has the microcode of the vendor's converter, which runs on the chip alone"
OF_OURS = "measured with our conversion of the NPU's parts (the vendor's runs only on the chip)"


def commands_of(page):
    """The lines for a shell of the page's section on boards, those that go on behind a backslash as one, without what only a chip or the vendor's SDK can do."""
    blocks = re.findall(r"^```\n(.*?)^```$", page.read_text().split("## On a board")[1], re.M | re.S)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    return [" ".join(line.split()) for line in lines if re.match(r"(export|deuteron) ", line) and "trace.etdp" not in line]


def shell(where, line):
    environment = {**os.environ, "PATH": f"{where}/bin:{os.environ['PATH']}", "SDK": str(where / "sdk")}
    return subprocess.run(["bash", "-ec", line], cwd=where, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=1200)


def place(where, model, samples):
    """A folder in which the page's names mean something."""
    for link, to in (("model.pt2", model), ("bin/deuteron", TOOL), ("sdk/bin/neutron-converter", CONVERTER)):
        (where / link).parent.mkdir(parents=True, exist_ok=True)
        (where / link).symlink_to(to)
    (where / "sdk" / "lib").mkdir()
    (where / "samples").mkdir()
    for sample in samples:
        (where / "samples" / sample.name).symlink_to(sample)


def inspected(where, *options):
    done = shell(where, f"deuteron inspect model.pte --json inspect.json {' '.join(options)}")
    check(done.returncode == 0, f"inspect: {done.stderr[-500:]}")
    return done.stdout, json.loads((where / "inspect.json").read_text())


def follow(what, where, model, samples):
    place(where, model, samples)
    printed, compiled, page = "", "", commands_of(ROOT / "docs" / "rt700.md")
    check([line.split()[1] for line in page if line.startswith("deuteron")] == ["compile", "firmware"], f"the page's commands: {page}")
    setting = ""
    for line in page:
        if line.startswith("export"):
            setting = line + "\n"
            continue
        done = shell(where, setting + line)
        if "[firmware.memory]" in done.stderr:  # what it says to do
            check("--neutron-option fetch_constants_to_sram=true" in done.stderr, f"{what}: {done.stderr}")
            done = shell(where, setting + f"{compiled} --neutron-option fetch_constants_to_sram=true\n{line} --force")
        if not check(done.returncode == 0, f"{what}: {line}: exit {done.returncode}: {done.stderr[-700:]}"):
            return
        if " compile " in line:
            printed, compiled = done.stdout, line
    check(OF_OURS in printed, f"{what}: of which program the accuracy is: {printed}")
    text, program = inspected(where, "--etrecord", "model.etrecord")
    inside = [c["npu_kernels"] for c in program["calls"] if c["op"] == "NeutronBackend"]
    check(all(d["neutron"]["vendor_microcode"] for d in program["delegates"]) and not program["loads_on_host"], f"{what}: inspect: {text}")
    check(len(inside) == len(program["delegates"]) > 0 and all(inside), f"{what}: kernels by the record: {inside}")
    check("runs on the chip alone" in text and "loads on this machine" not in text, f"{what}: inspect: {text}")
    check(len(list(where.glob("kernels_vendor*.c"))) == len(inside), f"{what}: the vendor's selections")
    print(f"{what}: {sum(map(len, inside))} kernels in {len(inside)} parts")


def check_verbs(where, sample):
    """Each verb on the program that the page has made."""
    def says(line, code, *texts):
        done = shell(where, f"deuteron {line}")
        said = done.stdout + done.stderr
        check(done.returncode == code and all(t in said for t in texts), f"{line}: exit {done.returncode}: {said[-700:]}")
        return said

    for line in (f"run model.pte --input {sample} --output-dir out", f"profile model.pte --input {sample} -o t.etdp",
                 f"run model.pte --input {sample} --output-dir out --on qemu:mps2-an505", f"evaluate model.pte --inputs {sample} --model model.pt2",
                 f"compare model.pt2 model.pte --inputs {sample}",
                 f"compare model.pt2 model.pte --inputs {sample} --neutron-converter sdk/bin/neutron-converter"):
        said = says(line, 1, RULE, SENTENCE, "without --neutron-converter")
        check(said.count("error") == 1, f"{line}: one sentence: {said}")
    # What it says to do: the same model by our converter gives a program of the same ports that runs here.
    says("compile model.pt2 --target imxrt700cm --calibrate samples/ -o here.pte", 0)
    says(f"run here.pte --input {sample} --output-dir out", 0)
    says(f"compare model.pt2 here.pte --inputs {sample} --neutron-converter sdk/bin/neutron-converter --calibrate samples/", 0, "SQNR dB")
    says("inspect here.pte --etrecord model.etrecord", 1, "[inspect.program_id]")
    says("inspect model.pte --target imxrt700cm", 0, "cortex_m::")
    # Of the CPU's calls the kernels are known, as of our own program.
    kernels = []
    for program in ("here", "model"):
        says(f"inspect {program}.pte --json {program}.json", 0)
        kernels.append([c.get("kernels") for c in json.loads((where / f"{program}.json").read_text())["calls"]])
    check(kernels[0] == kernels[1] and any(kernels[0]), f"kernels of the CPU: {kernels[1]}, not {kernels[0]}")
    says("firmware model.pte --board mps2-an505 -o other", 1, "[firmware.driver]", "--driver vendor")
    says("firmware model.pte --board mimxrt700-evk --as c -o as_c/", 0)
    model = "model.pt2 --target imxrt700cm --calibrate samples/ --neutron-converter sdk/bin/neutron-converter"
    says(f"compile {model} --board mps2-an505 -o b.pte", 1, RULE, "without --neutron-converter")
    says(f"compile {model} --emit c -o c2/", 0, OF_OURS)
    says(f"compile {model} --neutron-option fetch_constants_to_sram=true -o f.pte", 0, OF_OURS)
    says(f"analyze {model} --html a.html", 0, OF_OURS)
    says(f"doctor {model} --try", 0, "our conversion of the NPU's parts")
    says("ops --target imxrt700cm", 0)
    if shell(where, "openssl genpkey -algorithm ed25519 -out key.pem && openssl pkey -in key.pem -pubout -out key.pub").returncode == 0:
        says("sign model.pte --key key.pem -o signed.pte", 0)
        says("inspect signed.pte --etrecord model.etrecord", 0, "runs on the chip alone")
        says(f"run signed.pte --input {sample} --output-dir out --verify-key key.pub", 1, RULE)


def check_package(where, sample):
    sys.path.insert(0, str(PACKAGE))
    import numpy

    import deuteron

    here = deuteron.compile(where / "model.pt2", target="imxrt700cm", calibration=where / "samples")
    program = deuteron.compile(where / "model.pt2", target="imxrt700cm", calibration=where / "samples", neutron_converter=where / "sdk/bin/neutron-converter")
    check(program.report.json["accuracy_of_own_conversion"] is True, "Python: of which program the accuracy is")
    check(program.report.sqnr_db == here.report.sqnr_db and program.report.ram_bytes == here.report.ram_bytes, f"Python: {program.report}")
    check((program.inputs, program.outputs) == (here.inputs, here.outputs), f"Python: {program.inputs}, {program.outputs}")
    program.save(where / "p.pte")
    loaded = deuteron.load(where / "p.pte")
    check([s.shape for s in loaded.inputs] == [s.shape for s in here.inputs], f"Python: {loaded.inputs}")
    x = numpy.fromfile(sample, numpy.float32).reshape(here.inputs[0].shape)
    for one in (program, loaded):
        for what, call in (("run", lambda p: p.run(x)), ("a board", lambda p: p.run(x, on="qemu:mps2-an505")), ("profile", lambda p: p.profile(x)),
                           ("evaluate", lambda p: p.evaluate(x, model=where / "model.pt2")), ("compare", lambda p: p.compare(where / "model.pt2", x))):
            try:
                call(one)
                check(False, f"Python: {what} gives a result")
            except deuteron.Error as e:
                check(SENTENCE in str(e) and "without neutron_converter" in str(e), f"Python: {what}: {e}")


def of_zoo(folder):
    """(name, model, samples) of networks of the zoo, exported here."""
    sys.path.insert(0, str(ROOT / "bench" / "zoo"))
    try:
        import steps
        from small_signals import ROWS as SIGNALS
        from small_vision import ROWS as VISION
    except ImportError as error:
        print(f"left out: {', '.join(ZOO)}: {error}")
        return
    for row in VISION + SIGNALS:
        if row.name in ZOO:
            (made := folder / f"{row.name}_made").mkdir()
            _, fault = steps.apart(steps.export, row, made)
            if check(not fault, f"{row.name}: {fault}"):
                yield row.name, made / "model.pt2", [made / "calibrate0.npy"]


with tempfile.TemporaryDirectory() as folder:
    for name, model, samples in of_zoo(pathlib.Path(folder)) if ALL else ():
        (at := pathlib.Path(folder) / name).mkdir()
        follow(f"{name} of the zoo", at, model, samples)
    if ALL:
        rows = [(m.parent.name, m.stem) for m in sorted(MODELS.glob("*/*.pt2")) if m.stem in ("float", "qdq")]
    else:
        rows = [r for r in FEW if (MODELS / r[0]).is_dir()]
    for name, form in rows:
        at = pathlib.Path(folder) / f"{name}_{form}"
        at.mkdir()
        follow(f"{name}, {form}", at, MODELS / name / f"{form}.pt2", sorted((MODELS / name / "inputs").glob("*.bin"))[:SAMPLES])
    at = pathlib.Path(folder) / "digits"
    at.mkdir()
    follow("digits_cnn of the repository", at, DIGITS / "float.pt2", [DIGITS / "calibrate.npy"])
    one = at / "x.bin"
    one.write_bytes((DIGITS / "calibrate.npy").read_bytes()[-4 * 64:])  # its last sample
    check_verbs(at, one)
    if PACKAGE and not list(pathlib.Path(PACKAGE).glob("deuteron/_core*")):
        print(f"left out: the package is not built in {PACKAGE}")
    elif PACKAGE:
        check_package(at, one)
print(checks.verdict())
sys.exit(1 if checks.failed else 0)
