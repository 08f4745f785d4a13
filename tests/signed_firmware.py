# SPDX-License-Identifier: Apache-2.0
"""A firmware that takes signed programs alone, on emulated boards: what the key has signed runs with the host's bits, all else is refused by name.

    signed_firmware.py DEUTERON

The projects are those of `deuteron firmware`, with load_signed() in the place of load() and tests/signed_firmware/ed25519.cpp in the place of the
platform's Ed25519. Without the cross compiler, QEMU or openssl it is skipped (77)."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import checks
from checks import check
from cross_build import build_environment

TOOL = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parent.parent
for needed in ("arm-none-eabi-g++", "qemu-system-arm", "cmake", "ninja", "openssl"):
    if not shutil.which(needed):
        print(f"left out: no {needed}")
        sys.exit(77)
BOARDS = [("mps3-an547", "cortex-m55"), ("mps2-an385", "cortex-m3")]  # with most instructions and with fewest
NETWORK = 'input x : f32[3,10]\ny = softmax(x) axis=1 : f32[3,10]\noutput y\n'
where = pathlib.Path(tempfile.mkdtemp(prefix="deuteron_signed_"))
environment = build_environment(where)


def run(*command, **more):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600, env=environment, **more)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def key(name):
    """The path without its ending, and the public key's 32 bytes: the last of its DER form (RFC 8410)."""
    run("openssl", "genpkey", "-algorithm", "ed25519", "-out", where / f"{name}.pem")
    run("openssl", "pkey", "-in", where / f"{name}.pem", "-pubout", "-outform", "DER", "-out", where / f"{name}.der")
    return (where / f"{name}.der").read_bytes()[-32:]


def ask_for_signatures(project, public):
    """What a user changes in a project: main.cpp loads what the key has signed, and the verifier is compiled too."""
    for source in ("ed25519.h", "ed25519.cpp"):
        shutil.copy(ROOT / "tests" / "signed_firmware" / source, project)
    main, cmake = project / "main.cpp", project / "CMakeLists.txt"
    text = main.read_text()
    called = "programs[k].load(file, kFirmwareKernels, model.tables, model.planned, model.memories)"
    check(text.count(called) == 1, "main.cpp loads in another way")
    text = text.replace(called, "load_signed(programs[k], file, {kPublicKey, test::verify_ed25519_slowly, nullptr}, kFirmwareKernels, model.tables, *model.planned)")
    declared = f'#include "ed25519.h"\n#include "runtime/signature.h"\n\nconst uint8_t kPublicKey[] = {{{", ".join(map(str, public))}}};\n'
    main.write_text(text.replace('#include "model.h"\n', f'#include "model.h"\n{declared}', 1))
    cmake.write_text(cmake.read_text().replace("add_executable(firmware main.cpp", "add_executable(firmware main.cpp ed25519.cpp deuteron/runtime/signature.cpp", 1))


def outcome(project, board):
    run("cmake", "--build", project / "build")
    done = subprocess.run(["qemu-system-arm", "-M", board, "-kernel", project / "build" / "firmware.elf", "-icount", "shift=0", "-nodefaults", "-no-user-config",
                           "-display", "none", "-monitor", "none", "-serial", "null", "-parallel", "null", "-semihosting-config", "enable=on,target=native"],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
    return done.returncode, done.stdout + done.stderr


def try_board(board, target, public):
    samples, plain, signed = where / "x.bin", where / f"{target}.pte", where / f"signed_{target}.pte"
    samples.write_bytes(b"".join(b"\0\0" + bytes([k * 7 % 128]) + b"\x3f" for k in range(30)))  # .5 to 2
    (where / "net.txt").write_text(NETWORK)
    run(TOOL, "compile", where / "net.txt", "--target", target, "--calibrate", samples, "-o", plain)
    run(TOOL, "sign", plain, "--key", where / "ours.pem", "-o", signed)
    run(TOOL, "sign", plain, "--key", where / "theirs.pem", "-o", where / "theirs.pte")
    project = where / board
    run(TOOL, "firmware", signed, "--board", board, "-o", project)
    ask_for_signatures(project, public)
    run("cmake", "-S", project, "-B", project / "build", "-G", "Ninja")
    whole, (model,) = signed.read_bytes(), (project / "models").glob("*.pte")
    code, text = outcome(project, board)
    check(code == 0 and text.count(" as on the host") == 1, f"{board}: signed: {code} {text}")
    cases = [(plain.read_bytes(), "the program is not signed"), ((where / "theirs.pte").read_bytes(), "signed with another key")]
    for at in (len(whole) // 2, len(whole) - 200, len(whole) - 136 + 10, len(whole) - 40, len(whole) - 1):  # constants, description, hash, R, S
        cases.append((whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:], "was changed after it was signed"))
    for data, why in cases:
        model.write_bytes(data)
        code, text = outcome(project, board)
        check(code == 65 and why in text and "loaded" not in text, f"{board}: {why}: {code} {text}")
    return len(cases)


def main():
    public = key("ours")
    key("theirs")
    refused = sum(try_board(board, target, public) for board, target in BOARDS)
    shutil.rmtree(where)
    print(f"signed programs on {len(BOARDS)} boards, {refused} others refused: {checks.verdict()}")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
