# SPDX-License-Identifier: Apache-2.0
"""What a run of `./dev fuzz` has done: executions and new inputs by target, and how many lines of each reader were reached.

    coverage.py BUILD_FUZZ

Lines are those that clang's coverage counts (llvm-profdata, llvm-cov of LLVM 14), in the files that READERS names, and reached are those that any
target has come to: the operators of torch are met by files too, the passes by three targets. A target that ran several times has a log and a profile
of each, NAME.log and NAME.WORD.log; their executions are added. Standard library only. The exit code is 1 when a target has left an input that
crashes, hangs or takes too much memory, or has not run to its end."""
import json
import os
import pathlib
import re
import subprocess
import sys

# The files that a target is for. npu/neutron/converter/forms.cpp and neutron_ir.cpp write Neutron IR, which the target `compile` makes them do.
READERS = {
    "pte": r"runtime/(?!test_|ports/|etdump|trace)[^/]*\.(cpp|h)$",
    "pt2": r"frontends/pt2/(?!operators|schema|examples)",
    "tflite": r"frontends/tflite/(?!file/writer)",
    "onnx": r"frontends/onnx/(?!file/writer)",
    "text": r"ir/(cursor|parse|text_|print|verify)",
    "neutron": r"npu/neutron/machine/|npu/neutron/kernels/[^/]+/(check|kernel)\.cpp",
    "neutron_ir": r"npu/neutron/converter/(?!neutron_ir|forms|kernel_selection)[^/]*\.cpp|npu/neutron/kernels/[^/]+/operation\.cpp|npu/neutron/delegate/payload",
    "console_dump": r"npu/neutron/vendor/(console_dump|kernel_map|converter_options)",
    "etdump": r"explain/traces/(read_)?etdump|explain/inspect/(perfetto|tables|profile|profile_table|place_events)\.",
    "etrecord": r"explain/traces/(read_etrecord|source_map)",
    "npy": r"base/data/(npy|array|labels|inputs)\.cpp",
    "npz": r"base/data/npz",
    "image": r"base/data/(bmp|image|jpeg|png)",
    "target": r"targets/(extend|read_target|target)\.cpp|targets/target_keys",
    "selection": r"write/firmware/kernel_list|npu/neutron/converter/kernel_selection",
    "command_line": r"cli/(command_line|options)\.cpp|base/data/option_number",
    "compile": r"compile/|ir/rewrite/|base/allocate/",
    "operators": r"frontends/pt2/(operators|schema)/",
    "networks": r"compile/|ir/rewrite/|base/allocate/",
}


def lines_of(program, profile, pattern):
    """(reached, all)"""
    done = subprocess.run(["llvm-cov", "export", "-summary-only", f"-instr-profile={profile}", program], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"llvm-cov: {done.stderr}")
    reached = every = 0
    for file in json.loads(done.stdout)["data"][0]["files"]:
        name = os.path.normpath(file["filename"]).removeprefix("build/fuzz/")  # "build/fuzz/../../ir/parse.cpp": where the compiler worked
        if re.match(pattern, name) and not name.endswith("_test.cpp"):
            reached += file["summary"]["lines"]["covered"]
            every += file["summary"]["lines"]["count"]
    return reached, every


def runs_of(build, name):
    """(executions, seconds) of each run; None: it has not ended well."""
    for log in sorted([*(build / "corpus").glob(f"{name}.log"), *(build / "corpus").glob(f"{name}.*.log")]):
        text = log.read_text(errors="replace")
        executions = re.search(r"stat::number_of_executed_units:\s*(\d+)", text)
        done = re.search(r"^Done \d+ runs in (\d+) second", text, re.M)
        yield log, (int(executions[1]), int(done[1])) if executions and done else None


def main():
    build = pathlib.Path(sys.argv[1])
    print(f"{'target':13} {'executions':>11} {'seconds':>8} {'inputs':>7}   lines of its reader")
    total, bad = 0, []
    together = build / "coverage" / "all.profdata"
    profiles = sorted(p for p in (build / "coverage").glob("*.profraw") if p.stat().st_size)  # what crashes leaves an empty one
    if profiles:
        subprocess.run(["llvm-profdata", "merge", "-sparse", *profiles, "-o", together], check=True)
    for name, pattern in READERS.items():
        executions = seconds = 0
        ended = has_run = False
        for log, run in runs_of(build, name):
            has_run = True
            if run:
                executions, seconds, ended = executions + run[0], seconds + run[1], True
            else:
                bad.append(f"{name}: has not ended well, see {log}")
        total += executions
        inputs = len(list((build / "corpus" / name).glob("*")))
        share = "no profile: it has not ended well"
        if ended and profiles:
            reached, every = lines_of(build / f"{name}_fuzz", together, pattern)
            share = f"{reached} of {every}, {100 * reached / max(every, 1):.1f} %"
            if not every:
                bad.append(f"{name}: READERS names no file that is in its program")
        if not has_run:
            bad.append(f"{name}: has not run")
        print(f"{name:13} {executions:11} {seconds:8} {inputs:7}   {share}")
        bad += [str(p) for kind in ("crash", "timeout", "oom", "leak") for p in build.glob(f"{name}-{kind}-*")]
    print(f"{total} executions")
    for what in bad:
        print(f"bad: {what}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
