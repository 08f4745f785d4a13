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
TFLITE = ROOT / "tests/carried/fixtures/models/hello_sine/original_int8.tflite"


def results(where, threads, more):
    """name: bytes, of everything that the commands write."""
    environment = {"PATH": os.environ["PATH"], **more}
    for name in ("float.pt2", "calibrate.npy"):
        (where / name).write_bytes((DIGITS / name).read_bytes())
    (where / "sine.tflite").write_bytes(TFLITE.read_bytes())
    out = where / "out"
    out.mkdir()
    digits = ["float.pt2", "--calibrate", "calibrate.npy", "--threads", threads]
    for command in (["compile", *digits, "--target", "cortex-m55", "-o", "out/m55.pte", "--json", "out/m55.json"],
                    ["compile", *digits, "--target", "imxrt700cm", "-o", "out/npu.pte", "--etrecord", "out/npu.etrecord", "--html", "out/npu.html"],
                    ["compile", "sine.tflite", "--target", "cortex-m4", "-o", "out/sine.pte", "--json", "out/sine.json"],
                    ["run", "out/m55.pte", "--input", "calibrate.npy", "--output-dir", "out/run"],
                    ["firmware", "out/m55.pte", "--board", "mps3-an547", "-o", "out/fw"]):
        done = subprocess.run([TOOL, *command], cwd=where, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)}: {done.stderr}")
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
    return 1 if wrong or len(ours) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
