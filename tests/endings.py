# SPDX-License-Identifier: Apache-2.0
"""However a command ends, nothing half-made stays: signals, limits on the size of files, of memory and of time, full disks.

    endings.py DEUTERON"""
import os
import pathlib
import pty
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

TOOL = os.path.abspath(sys.argv[1])
ROOT = pathlib.Path(__file__).resolve().parent.parent
DIGITS = ROOT / "models/digits_cnn"
MODEL = [DIGITS / "float.pt2", "--calibrate", DIGITS / "calibrate.npy"]


def start(where, *command, **more):
    environment = {**os.environ, "TMPDIR": str(where)}
    return subprocess.Popen([TOOL, *map(str, command)], cwd=where, env=environment, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, **more)


def run(where, *command, **more):
    process = start(where, *command, **more)
    error = process.communicate(timeout=120)[1]
    return process.returncode, error


def names(where):
    return sorted(str(p.relative_to(where)) for p in where.rglob("*") if p.is_file() or not any(p.iterdir()))


def expect(condition, *what):
    if not condition:
        raise AssertionError(" ".join(map(str, what)))


def program(where):
    expect(run(where, "compile", *MODEL, "--target", "cortex-m55", "-o", "p.pte")[0] == 0, "does not compile")


def a_converter_at_work_is_left(where):
    """The vendor's converter has a folder for its files; it has begun when it has written `here`."""
    tool = where / "converter.sh"
    tool.write_text(f"#!/bin/sh\n[ \"$1\" = --version ] && exit 1\necho begun >'{where}/here'\nexec sleep 100\n")
    tool.chmod(0o755)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process = start(where, "compile", *MODEL, "--target", "imxrt700", "--neutron-converter", tool, "-o", "p.pte")
        while not (where / "here").exists():
            expect(process.poll() is None, "ended before its converter", process.stderr)
            time.sleep(0.01)
        expect(any(where.glob("deuteron-neutron-*")), "has no folder for its converter: this test looks at nothing")
        (where / "here").unlink()
        process.send_signal(number)
        error = process.communicate(timeout=20)[1]
        expect(process.returncode == 128 + number, number, "ends with", process.returncode)
        expect(f"ended by signal {int(number)} ({signal.strsignal(number)})" in error, "says", error)
        expect(names(where) == ["converter.sh"], number, "leaves", names(where))


def ignored_signals_stay_ignored(where):
    tool = where / "converter.sh"
    tool.write_text(f"#!/bin/sh\n[ \"$1\" = --version ] && exit 1\necho begun >'{where}/here'\nsleep 0.3\nexit 1\n")
    tool.chmod(0o755)
    process = start(where, "compile", *MODEL, "--target", "imxrt700", "--neutron-converter", tool, "-o", "p.pte",
                    preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    while not (where / "here").exists():
        expect(process.poll() is None, "ended before its converter")
        time.sleep(0.01)
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=60)
    expect(process.returncode == 1, "with SIGHUP ignored ends with", process.returncode)


def a_project_is_whole_or_not_there(where):
    """At any time, also while an older project is replaced."""
    program(where)
    command = ["firmware", "p.pte", "--board", "mps3-an547", "-o", "fw", "--force"]
    begin = time.monotonic()
    expect(run(where, *command)[0] == 0, "no project")
    seconds = time.monotonic() - begin
    whole = names(where)
    times = random.Random(1)
    interrupted = 0
    for k in range(30):
        process = start(where, *command)
        time.sleep(times.uniform(0.2, 1.05) * seconds)
        process.send_signal(signal.SIGTERM if k % 2 else signal.SIGINT)
        process.communicate(timeout=60)
        by_itself = process.returncode in (-signal.SIGTERM, -signal.SIGINT)  # before it has looked at its options
        expect(by_itself or process.returncode in (0, 128 + signal.SIGTERM, 128 + signal.SIGINT), "ends with", process.returncode)
        interrupted += process.returncode > 0
        expect(names(where) == whole, "leaves", set(names(where)) ^ set(whole))
    expect(interrupted > 0, "no run was interrupted: this test looks at nothing")


def files_that_may_not_grow(where):
    program(where)
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))  # noqa: E731
    before = names(where)
    for command in (["compile", *MODEL, "--target", "cortex-m55", "-o", "q.pte"], ["firmware", "p.pte", "--board", "mps3-an547", "-o", "fw"],
                    ["compile", *MODEL, "--target", "cortex-m55", "-o", "p.pte"], ["analyze", *MODEL, "--target", "cortex-m55", "--html", "r.html"]):
        code, error = run(where, *command, preexec_fn=limit)
        expect(code == 1 and error.count("[write.file]") == 1 and "ulimit -f" in error, command[0], "ends with", code, error)
        expect(names(where) == before, command[0], "leaves", set(names(where)) ^ set(before))


def full_disks(where):
    program(where)
    before = names(where)
    for command in (["compile", *MODEL, "--target", "cortex-m55", "-o", "/dev/full"], ["inspect", "p.pte", "--json", "/dev/full"]):
        code, error = run(where, *command)
        expect(code == 1 and error.count("[write.file]") == 1 and "No space left" in error, command[0], "ends with", code, error)
        expect(names(where) == before, command[0], "leaves", set(names(where)) ^ set(before))


def memory_has_a_limit(where):
    program(where)
    if "__asan_init" in subprocess.run(["nm", TOOL], capture_output=True, text=True).stdout:
        return  # whose shadow is data too
    before = names(where)
    ended = {0: 0, 1: 0}
    series = DIGITS / "calibrate.npy"
    for command in (["compile", *MODEL, "--target", "imxrt700cm", "-o", "q.pte"], ["compare", DIGITS / "float.pt2", "p.pte", "--inputs", series],
                    ["run", "p.pte", "--input", series, "--output-dir", "o"], ["evaluate", "p.pte", "--inputs", series, "--model", DIGITS / "float.pt2"]):
        for most in range(1 << 20, 60 << 20, 2900000):
            code, error = run(where, *command, "--max-memory", most)
            expect(code == 0 and not error or code == 1 and error.count("error:") == 1 and "[memory]" in error, command[0], most, "ends with", code, error)
            ended[code] += 1
            if code == 1:
                expect(names(where) == before, command[0], most, "leaves", set(names(where)) ^ set(before))
            for made in ("q.pte", "o"):
                subprocess.run(["rm", "-rf", where / made])
    if shutil.which("qemu-system-arm"):  # which reserves a gigabyte for itself
        code, error = run(where, "run", "p.pte", "--on", "qemu:mps3-an547", "--input", series, "--output-dir", "o", "--max-memory", 60 << 20)
        expect(code == 0 or "[board.not_built]" in error, "on a board ends with", code, error)
    expect(min(ended.values()) > 9, "no limit was small, or none large enough:", ended)


def runs_have_a_limit(where):
    program(where)
    samples = 60000
    head = ("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 1, 1, 8, 8), }" % samples).ljust(117) + "\n"
    (where / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + bytes(256 * samples))
    (where / "y.bin").write_bytes(bytes(samples))
    before = names(where)
    for command in (["run", "p.pte", "--input", "x.npy", "--output-dir", "o"], ["evaluate", "p.pte", "--inputs", "x.npy", "--labels", "y.bin"]):
        code, error = run(where, *command, "--timeout", "0.02")
        expect(code == 1 and "p.pte: error: the run was stopped before its end: still running, limit 0.02 s  [run.timeout]" in error, code, error)
        expect(names(where) == before, command[0], "leaves", set(names(where)) ^ set(before))


def what_a_terminal_gets(where, variables, *command):
    """All that the command writes where its standard error is a terminal, and its exit code."""
    ours, its = pty.openpty()
    process = subprocess.Popen([TOOL, *map(str, command)], cwd=where, env={**os.environ, "TERM": "xterm", **variables}, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=its)
    os.close(its)
    text = b""
    while True:
        try:
            piece = os.read(ours, 1 << 16)
        except OSError:  # the end, as Linux says it
            piece = b""
        if not piece:
            break
        text += piece
    os.close(ours)
    return text.decode(), process.wait(timeout=60)


def progress_goes_away(where):
    """What takes longer than a second says where it is, on a terminal, and takes that away before it prints anything else."""
    tool = where / "converter.sh"
    tool.write_text("#!/bin/sh\n[ \"$1\" = --version ] && exit 1\nsleep 1.5\nexit 1\n")
    tool.chmod(0o755)
    command = ["compile", *MODEL, "--target", "imxrt700", "--neutron-converter", tool, "-o", "p.pte"]
    for variables, error in (({}, "\033[1;31merror:"), ({"NO_COLOR": "1"}, "error:")):
        text, code = what_a_terminal_gets(where, variables, *command)
        line, _, rest = text.rpartition("\r\033[K")
        expect(code == 1 and re.search(r"\r\033\[K[a-z-]+, \d+ of \d+, \d+ s$", line), "shows no progress:", repr(text))
        expect(error in rest and ("\033" in rest) == (not variables), variables, "ends with", repr(rest))
        text, code = what_a_terminal_gets(where, variables, "compil")
        expect(code == 2 and error in text and ("\033" in text) == (not variables), variables, "refuses with", repr(text))
    text, code = what_a_terminal_gets(where, {}, *command, "-q")
    expect("\r\033" not in text, "-q shows", repr(text))
    expect("\033" not in run(where, *command)[1], "escapes are in what is no terminal")


def main():
    wrong = 0
    tests = [a_converter_at_work_is_left, ignored_signals_stay_ignored, a_project_is_whole_or_not_there, files_that_may_not_grow, full_disks,
             memory_has_a_limit, runs_have_a_limit, progress_goes_away]
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(pathlib.Path(folder))
            except AssertionError as e:
                wrong += 1
                print(f"{test.__name__}: {e}")
    print(f"{len(tests) - wrong} of {len(tests)} ways to end leave things in order")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
