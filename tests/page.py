# SPDX-License-Identifier: Apache-2.0
"""The page of --html in a headless Chromium: a trace, a report, a large graph, on a phone and in a large window, light and dark.

page.py DEUTERON SHARED [FOLDER for pictures]
"""
import json
import os
import subprocess
import sys
import tempfile

import browser

tool, shared = os.path.abspath(sys.argv[1]), sys.argv[2]
pictures = sys.argv[3] if len(sys.argv) > 3 else None
root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
checks = 0


def deuteron(*args):
    done = subprocess.run([tool, *args], capture_output=True, text=True, timeout=240)
    if done.returncode != 0:
        sys.exit(f"deuteron {' '.join(args)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def expect(condition, what):
    global checks
    checks += 1
    if not condition:
        sys.exit(f"FAILED: {what}")


def equal(found, wanted, what):
    expect(found == wanted, f"{what}: {found!r}, not {wanted!r}")


def texts(b, selector):
    return b.run(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent)")


def column(b, n):
    return b.run(f"[...document.querySelectorAll('.table-box tbody tr')].map(r => r.children[{n}].textContent)")


def number(text):
    return float("".join(c for c in text if c.isdigit() or c in ".-") or "-1")


def look(b, path, name, data):
    """What holds for every page, in every window."""
    windows = ((390, 844, False), (390, 844, True), (1920, 1080, False), (1920, 1080, True))
    for width, height, dark in windows if name in ("trace", "report") else (windows[1], windows[2]):
        b.open(path, width, height, dark)
        if data.get("operators"):
            b.wait("document.querySelector('.graph-box.ready')", 60)
        where = f"{name} at {width}x{height}{' dark' if dark else ''}"
        equal(b.faults(), [], where)
        inner, scrolls = b.run("[innerWidth, document.documentElement.scrollWidth]")
        expect(scrolls <= inner == width, f"{where}: {scrolls} pixels wide")
        cut = b.run("""[...document.querySelectorAll('.figure .value, h1, h2, .choice button, .node-name')].filter(e => {
            const box = e.getBoundingClientRect(), around = e.closest('.figure, .card, .node, .top').getBoundingClientRect();
            return box.width > 0 && (box.left < around.left - 1 || box.right > around.right + 1); }).map(e => e.textContent)""")
        equal(cut, [], f"{where}: text that leaves its place")
        over = b.run("[...document.querySelectorAll('.figure .value, .figure .label, .bar-value, nav a, .choice button')].filter(e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline').map(e => e.textContent)")
        equal(over, [], f"{where}: text that is wider than its box")
        # Light on dark, or dark on light: what is written can be read.
        page, text = b.run("[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color].map(c => c.match(/\\d+/g).slice(0, 3).reduce((a, x) => a + Number(x), 0))")
        expect((page < 150 and text > 600) if dark else (page > 650 and text < 150), f"{where}: page {page}, text {text}")
        if pictures:
            b.picture(os.path.join(pictures, f"{name}-{width}{'-dark' if dark else ''}.png"))


def starred(row):
    """The name of a row; kernels that the open machine is assumed to have bear the star of the texts."""
    return row["name"] + (" *" if row.get("assumed_calls", 0) else "")


def check_assumed(b, data, note):
    """The page says what the text of `analyze` or `inspect` says: how many such kernels, and the NPU's cycles without them."""
    calls, cycles = note
    notes = [t for t in texts(b, ".notes li") if t.startswith("* ")]
    equal([[int(number(part)) for part in n.split("if not: ")[1].split(", NPU ")] for n in notes], [[calls, cycles]] if calls else [], "assumed kernels")
    equal([t for t in texts(b, '[data-figure="npu"] .note') if t.endswith(" assumed *")] != [], calls > 0, "the NPU's figure is marked")


def nodes_match(b, data, name):
    operators = data["operators"]
    equal(b.run("document.querySelectorAll('.node').length"), len(operators), f"{name}: nodes")
    equal(b.run("[...document.querySelectorAll('.node')].map(n => [Number(n.dataset.operator), n.dataset.place])"),
          [[i, o.get("placement", "unknown")] for i, o in enumerate(operators)], f"{name}: placements")
    edges = {(i, k) for k, o in enumerate(operators) for i in o.get("inputs", []) if i != k}
    equal(b.run("document.querySelectorAll('.edge').length"), len(edges), f"{name}: edges")
    # Nodes do not lie on each other.
    over = b.run("""(() => { const r = [...document.querySelectorAll('.node rect')].map(e => e.getBoundingClientRect()); let n = 0;
        for (let i = 0; i < r.length; i++) for (let k = 0; k < i; k++)
          if (r[i].left < r[k].right - 1 && r[k].left < r[i].right - 1 && r[i].top < r[k].bottom - 1 && r[k].top < r[i].bottom - 1) n++; return n; })()""")
    equal(over, 0, f"{name}: nodes that lie on each other")


def check_trace(b, path, data):
    trace = data["trace"]
    b.open(path, 1920, 1080)
    b.wait("document.querySelector('.graph-box.ready')", 60)
    nodes_match(b, data, "trace")
    equal(column(b, 0), [starred(r) for r in trace["by_operator"]], "rows by operator")
    bar = lambda r: starred(r) + (" (added)" if 0 < r["total"] <= r.get("added_ticks", 0) else "")  # no operator's own time
    equal(texts(b, ".bar-name"), [bar(r) for r in trace["by_operator"]][:14], "bars")
    with_star = [r for r in trace["kernels"] if r.get("assumed_calls", 0)]
    expect(with_star, "digits_cnn has a kernel that the open machine is assumed to have")
    runs = trace["runs"]  # the page's figures are those of one
    check_assumed(b, data, (sum(r["assumed_calls"] for r in with_star) / runs, (trace["npu_total"] + sum(r["apart_cycles"] - r["total"] for r in with_star)) / runs))
    check_first_figures(b, ["cpu", "npu", "ram"])
    # Sorting: by median, down, then up; the name, up.
    heads = texts(b, ".table-box thead button")
    median = heads.index("median")
    click = lambda k: b.run(f"document.querySelectorAll('.table-box thead button')[{k}].click()")
    click(median)
    down = [number(x) for x in column(b, median)]
    equal(down, sorted(down, reverse=True), "sorted down")
    equal(sorted(down), sorted(float(r["median"]) for r in trace["by_operator"]), "medians")
    click(median)
    equal([number(x) for x in column(b, median)], sorted(down), "sorted up")
    equal(b.run(f"document.querySelectorAll('.table-box th')[{median}].getAttribute('aria-sort')"), "ascending", "told to readers")
    # Search.
    wanted = data["operators"][0]["name"]
    b.run(f"(() => {{ const s = document.getElementById('search'); s.value = {json.dumps(wanted.upper())}; s.dispatchEvent(new Event('input')); }})()")
    found = column(b, 0)
    expect(0 < len(found) < len(trace["by_operator"]) and all(wanted in x for x in found if "(" not in x), f"search for {wanted}: {found}")
    b.run("(() => { const s = document.getElementById('search'); s.value = 'no such thing'; s.dispatchEvent(new Event('input')); })()")
    equal(texts(b, ".found"), [f"0 of {len(trace['by_operator'])}"], "search for nothing")
    b.run("(() => { const s = document.getElementById('search'); s.value = ''; s.dispatchEvent(new Event('input')); })()")
    for key, rows in (("kernels", trace["kernels"]), ("modules", trace["by_module"]), ("baseline", trace["baseline"]["by_operator"]), ("reasons", data["operators"])):
        b.run(f"document.querySelector('#tables [data-key={key}]').click()")
        equal(b.run(f"document.querySelectorAll('#table-{key} tbody tr').length"), len(rows), f"rows of {key}")
    # Timeline: both tracks; all of it is less than a part of it, closer.
    expect(b.run("document.querySelectorAll('.slice[data-npu=\"1\"]').length") > 0, "the NPU's track")
    width = lambda: b.run("Math.max(...[...document.querySelectorAll('.slice[data-npu=\"0\"]')].filter(e => e.dataset.name !== 'Method::execute').map(e => e.getBoundingClientRect().width))")
    before = width()
    b.run("document.querySelector('#timeline [title=\"zoom in\"]').click()")
    expect(width() > before * 1.3 or before > 900, "zoom")
    # A node chosen shows what is known of it; the colours change.
    conv = next(i for i, o in enumerate(data["operators"]) if o.get("macs", 0) > 0)
    b.run(f"document.querySelector('[data-operator=\"{conv}\"]').dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
    expect(data["operators"][conv]["name"] in texts(b, "#details h3") and data["operators"][conv]["target"] in "".join(texts(b, "#details dd")), "details")
    fills = lambda: b.run("[...document.querySelectorAll('.node rect')].map(e => getComputedStyle(e).fill)")
    by_time = fills()
    b.run("document.querySelector('#graph [data-key=placement]').click()")
    expect(fills() != by_time, "colours by placement differ from those by time")
    # Memory: a rectangle for each tensor of the plan, none on another.
    tensors = [t for t in data["memory"][0]["tensors"] if t["bytes"] > 0]
    equal(b.run("document.querySelectorAll('.plan-view [data-tensor]').length"), len(tensors), "tensors of the plan")
    expect(b.run("document.querySelectorAll('.chart canvas').length") == 1, "memory over the calls")
    inked = b.run("(() => { const c = document.querySelector('.chart canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n / (d.length / 4); })()")
    expect(inked > 0.05, f"the chart is drawn: {inked}")


    # Light or dark by the button, whatever the system has; the chart follows.
    ground = lambda: b.run("getComputedStyle(document.body).backgroundColor")
    light = ground()
    b.run("document.querySelector('.theme').click()")
    expect(ground() != light, "dark by the button")
    b.run("document.querySelector('.theme').click()")
    equal(ground(), light, "light again")
    equal(b.faults(), [], "after all of this")


def check_first_figures(b, wanted):
    """What decides leads; no more memory is alive than is planned."""
    shown = b.run("[...document.querySelectorAll('.figures.lead .figure')].map(e => e.dataset.figure)")
    equal(shown[: len(wanted)], wanted, "the figures that decide")
    if alive := texts(b, "#peak .sub"):
        used = sum(int(number(t.split(" bytes used")[0])) for t in texts(b, "#memory .sub") if " bytes used" in t)
        expect(0 < number(alive[0].rsplit(": ", 1)[-1]) <= used, f"alive at the peak: {alive[0]}, of {used}")


def check_accuracy(b, data, has_samples):
    """By operator, the worst first, where there are samples; also inside the NPU's calls."""
    rows = data["report"]["accuracy"]
    equal(bool(rows), has_samples, "accuracy by operator")
    if not rows:
        return
    if more := b.run("document.querySelectorAll('#accuracy .more').length"):
        b.run("document.querySelector('#accuracy .more').click()")
    equal(more, int(len(rows) > 8), "a button for the rest")
    levels = sorted(r["sqnr_db"] for r in rows if r["sqnr_db"] is not None)
    shown = texts(b, "#accuracy .bar-value")
    equal(len(shown), len(rows), "bars of accuracy")
    equal([t.split(" dB")[0] for t in shown[: len(levels)]], [f"{x:.1f}" for x in levels], "the worst first")
    named = {i for r in rows for i in r["operators"]}
    expect(named <= set(range(len(data["operators"]))) and len(named) > len(data["operators"]) / 2, f"operators with an accuracy: {sorted(named)}")


def check_report(b, path, data, has_samples):
    b.open(path, 390, 844)
    b.run("document.querySelector('#tables [data-key=kernels]').click()")
    equal(texts(b, ".table-box th")[:3], ["operators", "placement", "predicted cycles"], "columns on a phone")
    seen = b.run("(() => { const box = document.querySelector('.table-box').getBoundingClientRect(); return [...document.querySelectorAll('.table-box tbody tr:first-child td')].slice(0, 3).every(e => e.getBoundingClientRect().right <= box.right + 1); })()")
    expect(seen, "a phone shows placement and cycles")
    b.open(path, 1920, 1080)
    b.wait("document.querySelector('.graph-box.ready')", 60)
    check_first_figures(b, ["cycles", "ram", "error"])
    expect("float inputs to int8" in texts(b, ".bar-name"), "the conversion of the inputs has a bar of its own")
    check_accuracy(b, data, has_samples)
    nodes_match(b, data, "report")
    expect(b.run("document.querySelector('#timeline')") is None, "a report has no timeline")
    check_assumed(b, data, (data["report"]["npu_kernels_assumed"], data["report"]["npu_cycles_without_assumed"]))
    kernels = [k for c in data["calls"] for k in c.get("npu_kernels", [])]
    if any(k.get("assumed") for k in kernels):
        b.run("document.querySelector('#tables [data-key=kernels]').click()")
        equal(sum(name.endswith(" *") for name in column(b, 1)), data["report"]["npu_kernels_assumed"], "kernels with a star")
    b.run("document.querySelector('#tables [data-key=reasons]').click()")
    shown = b.run("document.querySelector('#table-reasons').textContent")
    for o in data["operators"]:
        expect(not o.get("reason") or o["reason"] in shown, f"the reason of {o['name']}")
    for key in ("choices", "crossings"):
        rows = data["report"].get(key) or []
        if rows:
            b.run(f"document.querySelector('#tables [data-key={key}]').click()")
            equal(b.run(f"document.querySelectorAll('#table-{key} tbody tr').length"), len(rows), f"rows of {key}")
    expect(b.run("document.querySelectorAll('#flash .stack span').length") == sum(1 for v in data["flash"].values() if v > 0), "flash by part")


def check_files(calls, model, report):
    """Without a record a program's page has its calls, one reading what the other wrote, and a model's the operators that a compilation reports."""
    equal([o["inputs"] for o in calls["operators"]], [[], [0], [1]], "quantize, the NPU, dequantize: edges")
    equal([o["placement"] for o in calls["operators"]], ["cpu", "npu", "cpu"], "placements of calls")
    equal([(t["kind"], t["first"], t["last"]) for t in calls["memory"][0]["tensors"]], [("input", 0, 0), ("activation", 0, 1), ("scratch", 1, 1), ("activation", 1, 2), ("output", 2, 2)], "lives of tensors")
    equal(sum(calls["flash"].values()), sum(report["flash"].values()), "bytes of the file")
    keys = ("name", "target", "inputs", "macs", "shape", "dtype")
    equal([[o.get(k) for k in keys] for o in model["operators"]], [[o.get(k) for k in keys] for o in report["operators"]], "operators of the model")


def data_of(path):
    text = open(path, encoding="utf-8").read()
    return json.loads(text.split('<script type="application/json" id="data">')[1].split("</script>")[0])


def main():
    if not browser.find():
        print("left out: the page in a browser: chromium is not installed (apt-get install chromium)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        at = lambda name: os.path.join(folder, name)
        model = os.path.join(root, "models/digits_cnn")
        samples, inputs = os.path.join(model, "calibrate.npy"), os.path.join(model, "test_inputs.npy")
        missing = subprocess.run([tool, "analyze", os.path.join(model, "float.pt2"), "--target", "imxrt700cm", "--calibrate", samples, "--html", at("report.html")],
                                 capture_output=True, text=True, timeout=240)
        if "built without the page" in missing.stderr:
            print("left out: the page in a browser: it was not built (npm)")
            sys.exit(77)
        equal(missing.returncode, 0, missing.stderr)
        deuteron("compile", os.path.join(model, "float.pt2"), "--target", "imxrt700cm", "--calibrate", samples, "--profile", "-o", at("m.pte"), "--etrecord", at("m.etrecord"))
        deuteron("profile", at("m.pte"), "--input", inputs, "-o", at("m.etdp"))
        deuteron("inspect", at("m.etdp"), "--etrecord", at("m.etrecord"), "--baseline", at("m.etdp"), "--html", at("trace.html"))
        deuteron("inspect", at("m.etdp"), "--html", at("names.html"))
        deuteron("inspect", at("m.pte"), "--etrecord", at("m.etrecord"), "--html", at("program.html"))
        equal(data_of(at("program.html"))["operators"], data_of(at("trace.html"))["operators"], "operators of a program's page")
        deuteron("inspect", at("m.pte"), "--html", at("calls.html"))
        deuteron("inspect", os.path.join(model, "float.pt2"), "--html", at("model.html"))
        check_files(data_of(at("calls.html")), data_of(at("model.html")), data_of(at("report.html")))
        pages = ["report", "trace", "names", "program", "calls", "model"]
        large = os.path.join(shared, "fixtures/models/mobilenet_v3_small/float.pt2")
        if os.path.exists(large):
            deuteron("analyze", large, "--target", "imxrt700cm", "--html", at("large.html"))
            pages.append("large")
        else:
            print(f"left out: the page of a large graph: there is no {large}")
        with browser.Browser() as b:
            for name in pages:
                look(b, at(f"{name}.html"), name, data_of(at(f"{name}.html")))
            check_trace(b, at("trace.html"), data_of(at("trace.html")))
            check_report(b, at("report.html"), data_of(at("report.html")), True)
            if "large" in pages:
                check_report(b, at("large.html"), data_of(at("large.html")), False)
    print(f"{checks} checks of {len(pages)} pages")


main()
