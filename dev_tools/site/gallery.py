# SPDX-License-Identifier: Apache-2.0
"""The gallery: what `deuteron analyze --html` shows of each fixture for two chips, as pages of the site.

A page of --html carries the layout of graphs (elkjs, 1.4 MB). These have the same page bundled with a small layout in its place
(explain/page/build.mjs --small), by node and the packages that the build of the program has fetched; without those there are its figures alone.
"""
import concurrent.futures
import html
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

TARGETS = ("cortex-m55", "imxrt700cm")
BACK = '<p style="margin: 12px"><a href="index.html">Gallery</a></p>\n'
DATA = re.compile(r'(<script type="application/json" id="data">)(.*?)(</script>)', re.S)


def small_page(root, work):
    """The page without its data, or None."""
    node, packages = shutil.which("node") or shutil.which("nodejs"), root / "build/page"
    if not node or not (packages / "node_modules").exists():
        return None
    out = pathlib.Path(work, "page.html")
    subprocess.run([node, root / "explain/page/build.mjs", packages, out, "--small"], check=True)
    return out.read_text(encoding="utf-8")


def analyze(tool, folder, target, work):
    """(JSON of the report, data of its page or None) of a fixture."""
    at = pathlib.Path(work, f"{folder.name}-{target}")
    command = [tool, "analyze", f"{folder.name}/float.pt2", "--target", target, "--json", f"{at}.json"]
    command += ["--calibrate", f"{folder.name}/inputs"] if len(inputs_of(folder)) == 1 else []
    done = subprocess.run([*command, "--html", f"{at}.html"], cwd=folder.parent, capture_output=True, text=True)
    if done.returncode != 0 and "built without the page" in done.stderr:
        done = subprocess.run(command, cwd=folder.parent, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{folder.name} for {target}: exit {done.returncode}\n{done.stderr}")
    page = pathlib.Path(f"{at}.html")
    data = DATA.search(page.read_text(encoding="utf-8"))[2] if page.exists() else None
    return json.loads(pathlib.Path(f"{at}.json").read_text()), data


def inputs_of(folder):
    return json.loads((folder / "model.json").read_text()).get("inputs", [None])


def grouped(n):
    return f"{n:,}".replace(",", "\u202f")


def thumbnail(operators):
    """The graph by placement, in small: layers by the longest way to each operator, beside each other in columns."""
    layer, layers, at = [], {}, []
    for k, o in enumerate(operators):
        layer.append(1 + max((layer[i] for i in o.get("inputs", []) if i < k), default=-1))
        layers.setdefault(layer[k], []).append(k)
    wide = 16 * max(map(len, layers.values())) + 10
    rows = max(1, math.ceil(math.sqrt(len(layers) * wide / (2.2 * 10))))
    for k, row in enumerate(layer):
        left = wide * (row // rows) + (wide - 16 * len(layers[row])) / 2
        at.append((left + 16 * layers[row].index(k) + 8, 10 * (row % rows) + 5))
    edges = "".join(f"M{at[i][0]:g} {at[i][1]:g}L{at[k][0]:g} {at[k][1]:g}" for k, o in enumerate(operators) for i in o.get("inputs", []) if i < k and layer[i] // rows == layer[k] // rows)
    boxes = "".join(f'<rect class="{html.escape(o.get("placement", "none"))}" x="{x - 6:g}" y="{y - 3:g}" width="12" height="6" rx="1.5"/>' for o, (x, y) in zip(operators, at))
    return f'<svg viewBox="0 0 {wide * math.ceil(len(layers) / rows)} {10 * rows}" aria-hidden="true"><path d="{edges}"/>{boxes}</svg>'


def card(title, target, task, report, operators, link):
    noise, share = report.get("sqnr_db"), report.get("npu_macs_share") or 0
    figures = [("cycles", grouped(report["cycles"]["total"])), ("RAM", grouped(report["ram_bytes"])), ("flash", grouped(report["file_bytes"])),
               *([("on the NPU", f"{100 * share:.0f} %")] if share else []), *([("dB", f"{noise:.1f}")] if noise is not None else [])]
    inner = (thumbnail(operators) if operators else "") + f"<strong>{html.escape(title)}</strong> <code>{target}</code><small>{html.escape(task)}</small>"
    inner += "<dl>" + "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in figures) + "</dl>"
    return f'<a class="card" href="{link}">{inner}</a>' if link else f'<div class="card">{inner}</div>'


def pages(tool, fixtures, root):
    models = sorted(p.parent for p in pathlib.Path(fixtures, "fixtures/models").glob("*/float.pt2"))
    made, cards = {}, []
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        template = small_page(root, work)
        jobs = {(m, t): pool.submit(analyze, tool, m, t, work) for m in models for t in TARGETS}
        for (folder, target), job in jobs.items():
            report, data = job.result()
            name = f"{folder.name}-{target}"
            link = template and data and f"{name}.html"
            if link:
                made[f"gallery/{link}"] = template.replace("@DEUTERON_DATA@", data).replace('<div id="app">', BACK + '<div id="app">')
            task = json.loads((folder / "model.json").read_text()).get("task", "")
            cards.append(card(folder.name, target, task, report, data and json.loads(data)["operators"], link))
    made["gallery/index.md"] = (
        "# Gallery\n\nEach model is compiled for a Cortex-M55 and for an i.MX RT700 (NPU and Cortex-M33). A page shows accuracy and cycles by operator, "
        "the graph by placement (green: NPU, blue: Cortex-M), the memory plan, flash by part, and every reason.\nIt is the page that `deuteron analyze MODEL "
        "--target T --calibrate inputs --html FILE` writes; only its graph is laid out more simply.\n\nCycles are those of models, not of a chip. RAM and "
        "flash are bytes. dB is the signal to quantization noise on the samples that chose the ranges.\n\n"
        '<div class="gallery">' + "".join(cards) + "</div>\n")
    return made
