# SPDX-License-Identifier: Apache-2.0
"""Runs every measurement of docs/results.md, in order.

    python3 bench/results.py [--write] [--only TITLE]

Prints each section as it is measured. --write puts what was printed into docs/results.md; a section that fails is an
error, and then nothing is written. --only runs the sections whose title contains TITLE; with --write, the page keeps its
other sections. The exit code is 1 when a measurement failed or missed a bar. Needs ../shared, and build/venv for what compares with PyTorch and ExecuTorch.
"""
import argparse
import functools
import pathlib
import re
import subprocess
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "dev_tools" / "site"))
import picture

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "results.md"
PYTHON = "build/venv/bin/python"
HEAD = """# Results

Every figure of this page was printed by the command at its head; `./dev bench --write` runs them all and writes the
page whole. A `!` marks a bar that does not hold. The models are MLPerf Tiny's four, ExecuTorch's cifarnet and a
digits network, all trained. Figures in brackets are those of the peer that the column names, or of a limit.

Instruction counts are exact counts under emulation: they repeat to the last digit. Times are wall times of this run on
one machine; compare them with each other only. An accuracy that is marked *in-sample* was measured on the samples that
the ranges were chosen on; expect less on new data.
"""
# What a reader does not need: quantize and dequantize of every network, networks with nothing else left on the CPU, and
# which of them have an operator that TFLite approximates; structure and sizes of networks with seeded weights;
# which images the NPU and the CPU see differently.
LEFT_OUT = [r"(?m)^ .*: beside what the NPU takes\n", r"(?m)^\S+[.]pt2: 100[.]0 %.*\n(?! )", r"(?m)^with operators that TFLite approximates.*\n",
            r"(?m)^( +! .* image.*|      image .*)\n", r"(?m)^MobileNetV\S+, seeded: .*\n  .*\n"]
# Title, what the reader should know, the command, and whether it prints Markdown (else it is shown as it is).
SECTIONS = [
    ("Six trained networks on Cortex-M", "SQNR is against the float model's outputs, in-sample. PT2E: torchao's quantizer with the same "
     "samples. Stock: ExecuTorch 1.5's `cortex_m` flow.", ["python3", "bench/spine.py"], True),
    ("Beside CMSIS-NN", "Instructions of one inference, emulated, exact, with a float input and output. The peer: ExecuTorch 1.5's runtime with "
     "CMSIS-NN and the file of its own flow on the same boards (on Cortex-M3 CMSIS-NN's kernels alone). The sample that runs is none that the program was calibrated on. Then what is left "
     "out behind relu, on one half of the samples in the order that the other half gave (kernels.md). Then the models as .tflite files, int8 in and out, "
     "which keep TFLite's two roundings. Then what resnet8 takes in firmware that loads it; bar: 2 048 bytes of stack to run.", ["python3", "bench/kernels.py"], True),
    ("Accuracy on other data", "Each third of eight random orders of the samples is held out once, two thirds calibrate. Signal to noise against the "
     "float model in dB. `estimate` is what `compile` says beforehand, `off` how far it is from the truth, with its standard error.", [PYTHON, "bench/held_out.py"], True),
    ("MobileNet on a Cortex-M55", "MobileNetV2 is trained and runs on five photographs, beside PT2E with the same calibration (in-sample).", [PYTHON, "bench/mobilenet.py"], False),
    ("Least RAM", "`--max-ram least`: planned RAM with int8 inputs and outputs on a Cortex-M55, against the plan without bands of rows, and "
     "what it costs. Instructions are those of the emulated board (memory-planner.md).", ["python3", "bench/least_ram.py"], True),
    ("Noise of lowering", "ExecuTorch's own quantizer quantizes each model; its passes and ours make programs of the same quantized graph. "
     "Both are compared with PT2E's simulation of that graph; inf: every output is equal.", [PYTHON, "bench/stock_quantized.py"], True),
    ("Estimated cycles", "One inference, float input and output unless the column says otherwise: how often each block of instructions runs, "
     "priced by llvm-mca (firmware.md), and what the weights cost in the flash of a chip (cpu-cost.md). The stock files are those of ExecuTorch's own flow.", ["python3", "bench/cycles.py"], True),
    ("Operators", "The 173 operators and small graphs of the fixtures, on the host and on emulated boards. For comparison, ExecuTorch "
     "1.5: 8 do not compile, 20 fail on the device, 82 run partly in float, 63 wholly int8.", ["python3", "tests/op_cases.py", "--boards"], False),
    ("Partitions of the Neutron NPU", "Each model is one partition; only quantize and dequantize are left on the CPU. The TFLite "
     "interpreter runs every partition of the fixtures and gives the machine model's bits. Where TFLite approximates a function, that "
     "operator alone may be one step off; whatever reads its result is compared exactly.",
     [PYTHON, "tests/stock/neutron_partitions.py", "build/deuteron", "build/neutron_runner", "../shared"], False),
    ("Placement on the i.MX RT700", "The models of which something but quantize and dequantize at the ends is left on the CPU, and why; all others are wholly on the NPU.",
     ["python3", "tests/neutron_programs.py", "build/deuteron", "../shared"], False),
    ("Accuracy on the i.MX RT700", "719 real test images that no calibration has seen; one image is 0.139 points.",
     ["python3", "tests/neutron_accuracy.py", "build/deuteron", ".", "../shared"], False),
]


def measure(title, text, command, is_markdown):
    """The section, and whether its command ended well."""
    shown = " ".join(command)
    print(f"== {title}: {shown}", flush=True)
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    print(done.stdout, flush=True)
    if done.returncode not in (0, 1) or not done.stdout.strip() or "Traceback (most recent call last)" in done.stderr:
        sys.exit(f"{shown}: exit status {done.returncode}\n{done.stderr}")
    shown_lines = functools.reduce(lambda text, lines: re.sub(lines, "", text), LEFT_OUT, done.stdout).strip()
    body = shown_lines if is_markdown else f"```\n{shown_lines}\n```"
    page = f"\n## {title}\n\n<!-- figures: {shown} -->\n\n`{shown}`\n\n{textwrap.fill(text, 118)}\n\n{body}\n"
    return page, done.returncode == 0


def kept_sections():
    """The sections that the page has, by title."""
    parts = re.split(r"(?m)^(?=\n## )", PAGE.read_text())[1:]
    return {re.match(r"\n## (.*)\n", part)[1]: part for part in parts}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--write", action="store_true")
    arguments.add_argument("--only", default="")
    options = arguments.parse_args()
    sections = {s[0]: measure(*s) for s in SECTIONS if options.only in s[0]}
    if not sections:
        arguments.error(f"no section has {options.only!r} in its title")
    if options.write:
        pages = kept_sections() if options.only else {}
        pages |= {title: text for title, (text, _) in sections.items()}
        PAGE.write_text(HEAD + "".join(pages[title] for title, *_ in SECTIONS if title in pages))
        picture.draw()
    return 0 if all(well for _, well in sections.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
