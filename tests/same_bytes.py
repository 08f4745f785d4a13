# SPDX-License-Identifier: Apache-2.0
"""The same inputs give the same files: in another folder, language, time zone, environment and user mask, with other numbers of threads.

    same_bytes.py DEUTERON

The language is German, where a comma divides decimals, if `localedef` can make it; else the test is skipped (77). What says how long something
took is left out."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOL = os.path.abspath(sys.argv[1])
DIGITS = ROOT / "models/digits_cnn"
TIMES = re.compile(rb'(?<=seconds":)\s*[-+\d.e]+')
MODELS = ROOT / "tests/carried/fixtures/models"
# The private key of RFC 8032, section 7.1, test 1.
KEY = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n-----END PRIVATE KEY-----\n"
DATA = {"digits.pt2": DIGITS / "float.pt2", "digits.npy": DIGITS / "calibrate.npy", "sine.tflite": MODELS / "hello_sine/original_int8.tflite",
        "lstm.pt2": MODELS / "mnist_lstm/float.pt2", "lstm.bin": MODELS / "mnist_lstm/inputs/000.bin",
        "bmm.pt2": MODELS / "digits_bmm/float.pt2", "bmm.npy": MODELS / "digits_bmm/test_inputs.npy"}
FLOAT = {"digits": ["digits.pt2", "--calibrate", "digits.npy"], "lstm": ["lstm.pt2", "--calibrate", "lstm.bin"], "bmm": ["bmm.pt2", "--calibrate", "bmm.npy"]}
# Every kind of file that the program writes but traces, which hold times. {} is what --threads gets.
COMMANDS = [
    ["compile", *FLOAT["digits"], "--target", "cortex-m55", "-o", "out/m55.pte", "--json", "out/m55.json", "--html", "out/m55.html", "--threads", "{}",
     "--intermediates", "out/graphs"],
    ["compile", *FLOAT["digits"], "--target", "cortex-m4", "-o", "out/m4.pte", "--etrecord", "out/m4.etrecord", "--threads", "{}"],
    ["sign", "out/m4.pte", "--key", "key.pem", "-o", "out/signed.pte"],
    ["compile", *FLOAT["digits"], "--target", "cortex-m3", "-o", "out/stock.pte", "--dialect", "stock", "--threads", "{}"],
    ["compile", *FLOAT["digits"], "--target", "imxrt700cm", "-o", "out/npu.pte", "--etrecord", "out/npu.etrecord", "--html", "out/npu.html", "--profile",
     "--neutron-kernel-selection", "out/npu.c", "--threads", "{}"],
    ["compile", *FLOAT["digits"], "--target", "cortex-m55", "-o", "out/c", "--emit", "c", "--threads", "{}"],
    ["compile", *FLOAT["lstm"], "--target", "cortex-m33", "-o", "out/lstm.pte", "--json", "out/lstm.json", "--threads", "{}"],
    ["compile", *FLOAT["digits"], "--target", "cortex-m55", "-o", "out/digits16.pte", "--precision", "int16", "--threads", "{}"],
    ["compile", *FLOAT["bmm"], "--target", "imxrt700cm", "-o", "out/bmm.pte", "--etrecord", "out/bmm.etrecord", "--threads", "{}"],
    ["compile", "sine.tflite", "--target", "cortex-m4", "-o", "out/sine.pte", "--json", "out/sine.json", "--threads", "{}"],
    ["analyze", *FLOAT["digits"], "--target", "imxrt700cm", "--json", "out/analyze.json", "--threads", "{}"],
    ["doctor", *FLOAT["bmm"], "--target", "imxrt700cm", "--json", "out/doctor.json", "--threads", "{}"],
    ["run", "out/m55.pte", "--input", "digits.npy", "--output-dir", "out/run"],
    ["evaluate", "out/m55.pte", "--inputs", "digits.npy", "--model", "digits.pt2", "--json", "out/evaluate.json"],
    ["compare", "digits.pt2", "out/m55.pte", "--inputs", "digits.npy", "--json", "out/compare.json"],
    ["inspect", "out/m4.pte", "--json", "out/inspect.json"],
    ["ops", "--target", "imxrt700", "--json", "out/ops.json"],
    ["firmware", "out/m55.pte", "out/digits16.pte", "--board", "mps3-an547", "-o", "out/fw"],
    ["firmware", "out/m55.pte", "--board", "mps3-an547", "-o", "out/fw_c", "--as", "c"],
]


def results(where, threads, more):
    """name: bytes, of everything that the commands write."""
    environment = {"PATH": os.environ["PATH"], **more}
    for name, origin in DATA.items():
        (where / name).write_bytes(origin.read_bytes())
    (where / "key.pem").write_text(KEY)
    out = where / "out"
    out.mkdir()
    for command in COMMANDS:
        words = [threads if word == "{}" else word for word in command]
        done = subprocess.run([TOOL, *words], cwd=where, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise SystemExit(f"{' '.join(words)}: {done.stderr}")
    return {str(p.relative_to(out)): TIMES.sub(b"", p.read_bytes()) for p in sorted(out.rglob("*")) if p.is_file()}


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        locale = folder / "locale"
        locale.mkdir()
        made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", locale / "de_DE.UTF-8"], capture_output=True)
        if not (locale / "de_DE.UTF-8").exists():
            print("left out: the German locale, which localedef cannot make: " + made.stderr.decode()[:200])
        first, second = folder / "a", folder / "an other folder ü"
        first.mkdir(), second.mkdir()
        ours = results(first, "1", {"LC_ALL": "C", "TZ": "UTC", "HOME": "/nowhere"})
        os.umask(0o077)
        theirs = results(second, "3", {"LC_ALL": "de_DE.UTF-8", "LOCPATH": str(locale), "TZ": "Pacific/Chatham", "HOME": str(folder), "COLUMNS": "40"})
        wrong = [name for name in sorted(ours.keys() | theirs.keys()) if ours.get(name) != theirs.get(name)]
    for name in wrong:
        a, b = ours.get(name, b""), theirs.get(name, b"")
        at = next((k for k, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        print(f"{name} differs at byte {at}: {a[max(0, at - 40):at + 40]} and {b[max(0, at - 40):at + 40]}")
    print(f"{len(ours) - len(wrong)} of {len(ours)} files are the same, whoever makes them")
    return 1 if wrong or len(ours) < 300 else 0


if __name__ == "__main__":
    sys.exit(main())
