# SPDX-License-Identifier: Apache-2.0
"""The gallery: what `deuteron analyze --html` shows of each fixture for two chips, as pages of the site.

A page of --html carries the layout of graphs (elkjs, 1.4 MB). These have the same page bundled with a small layout in its place
(explain/page/build.mjs --small), by node and the packages that the build of the program has fetched; without those there is the table alone.
"""
import concurrent.futures
import json
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
    return f"{n:,}".replace(",", " ")


def pages(tool, fixtures, root):
    models = sorted(p.parent for p in pathlib.Path(fixtures, "fixtures/models").glob("*/float.pt2"))
    made, rows = {}, []
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        template = small_page(root, work)
        jobs = {(m, t): pool.submit(analyze, tool, m, t, work) for m in models for t in TARGETS}
        for (folder, target), job in jobs.items():
            report, data = job.result()
            name = f"{folder.name}-{target}"
            link = folder.name
            if template and data:
                made[f"gallery/{name}.html"] = template.replace("@DEUTERON_DATA@", data).replace('<div id="app">', BACK + '<div id="app">')
                link = f"[{folder.name}]({name}.html)"
            task = json.loads((folder / "model.json").read_text()).get("task", "")
            noise = report.get("sqnr_db")
            rows.append(f"| {link} | {task} | `{target}` | {100 * (report.get('npu_macs_share') or 0):.1f} % | {grouped(report['cycles']['total'])} | "
                        f"{grouped(report['ram_bytes'])} | {grouped(report['file_bytes'])} | {'' if noise is None else f'{noise:.1f}'} |")
    heads = "| model | task | target | on the NPU | cycles | RAM, bytes | flash, bytes | dB |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n"
    made["gallery/index.md"] = (
        "# Gallery\n\nEach model is compiled for a Cortex-M55 and for an i.MX RT700 (NPU and Cortex-M33). A page shows the model's graph by placement, "
        "the memory plan, flash by part, and every reason.\nIt is the page that `deuteron analyze MODEL --target T --calibrate inputs --html FILE` writes; "
        "only its graph is laid out more simply.\n\nCycles are those of models, not of a chip. dB is the signal to quantization noise on the samples that "
        "chose the ranges.\n\n" + heads + "\n".join(rows) + "\n")
    return made
