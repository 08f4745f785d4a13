# SPDX-License-Identifier: Apache-2.0
"""Writes the table of docs/operators-neutron.md from what the compiler itself says.

    python3 docs/operators-neutron.py [build/deuteron]
"""
import csv
import io
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
tool = sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "deuteron"
rows = csv.DictReader(io.StringIO(subprocess.run([tool, "ops", "--target", "imxrt700", "--csv"], capture_output=True, text=True, check=True).stdout))
table = ["| operator | Neutron IR | operands | result | limits |", "| --- | --- | --- | --- | --- |"]
for row in rows:
    if row["builtin"] and "." not in row["operator"]:  # those with a point are torch's: what an example of each becomes
        cells = [row["operator"], row["builtin"], row["operands"], row["result"], row["constraints"].replace("; ", "<br>")]
        table.append("| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |")
page = ROOT / "docs" / "operators-neutron.md"
head = page.read_text().split("| operator |")[0]
page.write_text(head + "\n".join(table) + "\n")
