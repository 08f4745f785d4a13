# SPDX-License-Identifier: Apache-2.0
"""Draws docs/beside-cmsis-nn.svg, the picture of the first page, from the table of docs/results.md.

    python3 dev_tools/site/picture.py

bench/results.py --write calls it.
"""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORES = {"cortex-m55": "Cortex-M55", "cortex-m33": "Cortex-M33", "cortex-m4": "Cortex-M4", "cortex-m0+": "Cortex-M0+"}
MODELS = ("resnet8", "dscnn_kws", "mobilenet_v1_025_vww")
ROW = re.compile(r"^\| (cortex-[\w+]+) \| (\w+) \| ([\d.]+) \| ([\d.]+) \| [\d.]+ \| [\d.]+ \| ", re.M)
STYLE = ("text{font:13px system-ui,sans-serif;fill:#444}.n{font-size:12px}.h{font-size:15px;font-weight:600}"
         "@media(prefers-color-scheme:dark){text{fill:#ccc}}")


def picture(page):
    """One bar for each model and core: our instructions as a share of the peer's, which is the whole width."""
    figures = {(core, model): (float(peer), float(ours)) for core, model, peer, ours in ROW.findall(page.split("## Beside CMSIS-NN")[1].split("\n## ")[0])}
    left, width, y, parts = 210, 340, 66, []
    for core, name in CORES.items():
        parts.append(f'<text x="8" y="{y + 12}" class="h">{name}</text>')
        for model in MODELS:
            peer, ours = figures[core, model]
            parts += [f'<text x="{left - 8}" y="{y + 12}" text-anchor="end" class="n">{model.removesuffix("_v1_025_vww")}</text>',
                      f'<rect x="{left}" y="{y}" width="{width}" height="15" fill="#9fa8da" opacity=".45"/>',
                      f'<rect x="{left}" y="{y}" width="{width * ours / peer:.1f}" height="15" fill="#3f51b5"/>',
                      f'<text x="{left + width + 8}" y="{y + 12}" class="n">{ours:g} M of {peer:g} M</text>']
            y += 20
        y += 12
    head = ('<text x="8" y="22" class="h">Instructions: Deuteron (dark), stock ExecuTorch with CMSIS-NN (light)</text>'
            '<text x="8" y="42" class="n">Exact counts of one inference under emulation, trained int8 networks; docs/results.md</text>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 {y}" role="img"><title>Instructions beside CMSIS-NN</title>'
            f"<style>{STYLE}</style>{head}\n" + "\n".join(parts) + "</svg>\n")


def draw():
    (ROOT / "docs/beside-cmsis-nn.svg").write_text(picture((ROOT / "docs/results.md").read_text(encoding="utf-8")))


if __name__ == "__main__":
    draw()
