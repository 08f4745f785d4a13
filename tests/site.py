# SPDX-License-Identifier: Apache-2.0
"""The documents as a site: builds it, follows every link, weighs every page, and looks at it in a headless Chromium.

    site.py DEUTERON FIXTURES PYTHON [FOLDER for pictures]

PYTHON has mkdocs (dev_tools/site/requirements.txt). The site comes into a folder that is thrown away.
"""
import collections
import functools
import html.parser
import http.server
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import browser

MOST_BYTES = 500_000  # of a page with all that it loads before the reader searches, as it lies on the disk
ROOT = pathlib.Path(__file__).resolve().parents[1]
checks = 0


def expect(condition, what):
    global checks
    checks += 1
    if not condition:
        sys.exit(f"FAILED: {what}")


class Page(html.parser.HTMLParser):
    """The links and anchors of a page, and what it loads."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loads, self.anchors, self.title = [], [], set(), ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        self.anchors |= {a[key] for key in ("id", "name") if a.get(key)}
        if tag == "a" and a.get("href"):
            self.links.append(a["href"])
        if tag == "link" and a.get("href") and a.get("rel") in ("stylesheet", "icon"):
            self.loads.append(a["href"])
        if tag in ("script", "img", "iframe", "source") and a.get("src"):
            self.loads.append(a["src"])


def build(tool, fixtures, python, folder):
    environment = {**os.environ, "DEUTERON": tool, "FIXTURES": fixtures, "NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([python, "-m", "mkdocs", "build", "--strict", "--site-dir", folder], cwd=ROOT, env=environment, capture_output=True,
                          text=True, timeout=300)
    expect(done.returncode == 0, f"the site does not build\n{done.stdout[-4000:]}{done.stderr[-4000:]}")


def check_links(site, pages):
    """Every link of every page leads to a file of the site and an anchor in it; what a page loads is the site's own."""
    outside = collections.Counter()
    for path, page in pages.items():
        for link in page.links + page.loads:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme in ("data", "mailto"):
                continue
            if parts.scheme or parts.netloc:
                expect(link in page.links, f"{path} loads {link}")
                outside[link] += 1
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(parts.path))) if parts.path else path
            if path == "404.html":  # its links begin at the root of a server
                target = urllib.parse.unquote(parts.path).lstrip("/") or "index.html"
            if (site / target).is_dir():
                target = os.path.normpath(os.path.join(target, "index.html"))
            expect((site / target).is_file(), f"{path}: dead link {link}")
            if parts.fragment and target in pages:
                anchor = urllib.parse.unquote(parts.fragment)
                expect(anchor in pages[target].anchors or anchor.startswith("__"), f"{path}: {link} names no anchor of {target}")
    return outside


def check_weights(site, pages):
    """(bytes, path) of the heaviest page."""
    worst, workers = (0, ""), list(site.glob("assets/javascripts/workers/search.*.min.js"))
    expect(len(workers) == 1, f"the search has one worker, not {workers}")
    for path, page in pages.items():
        files = {os.path.normpath(os.path.join(os.path.dirname(path), link.split("?")[0])) for link in page.loads if not link.startswith("data:")}
        files |= {str(f.relative_to(site)) for f in workers} if any(f.endswith(".js") for f in files) else set()
        total = (site / path).stat().st_size + sum((site / f).stat().st_size for f in files if (site / f).is_file())
        expect(total <= MOST_BYTES, f"{path}: {total} bytes with {sorted(files)}, limit {MOST_BYTES}")
        worst = max(worst, (total, path))
    return worst


def check_gallery(site, pages, fixtures):
    """Two pages for each fixture; none where the program was built without the page."""
    models = sorted(p.parent.name for p in pathlib.Path(fixtures, "fixtures/models").glob("*/float.pt2"))
    shown = {p.name for p in (site / "gallery").glob("*.html")} - {"index.html"}
    text = (site / "gallery/index.html").read_text()
    expect(models and all(text.count(m) >= 2 for m in models), f"the gallery's table has each of {models}")
    if not shown:
        print("left out: pages of the gallery: the page was not built (npm)")
        return []
    wanted = {f"{m}-{t}.html" for m in models for t in ("cortex-m55", "imxrt700cm")}
    expect(text.count('<a class="card"') == text.count('aria-hidden="true"><path d="') == len(wanted), "the gallery has a card with a picture for each page")
    expect(shown == wanted, f"the gallery has {sorted(shown)}, not {sorted(wanted)}")
    return sorted(f"gallery/{name}" for name in shown)


def look(b, origin, path, width, dark, pictures):
    height = 844 if width < 600 else 1080
    b.open(f"{origin}/{path}", width, height, dark)
    where = f"{path} at {width}{' dark' if dark else ''}"
    if path.startswith("gallery/") and not path.endswith("index.html"):
        b.wait("document.querySelector('.graph-box.ready')")
        expect(b.run("document.querySelectorAll('.node').length === [...document.querySelectorAll('.node')].filter(n => n.getBoundingClientRect().width > 0).length"), where)
    faults = b.faults(origin)
    expect(not faults, f"{where}: {faults}")
    inner, scrolls = b.run("[innerWidth, document.documentElement.scrollWidth]")
    expect(scrolls <= inner == width, f"{where}: {scrolls} pixels wide")
    ground, text = b.run("[document.body, document.querySelector('h1') || document.body].map((e, i) => getComputedStyle(e)[i ? 'color' : 'backgroundColor']"
                         ".match(/[\\d.]+/g).slice(0, 3).reduce((a, x) => a + Number(x), 0))")
    expect(ground < 200 if dark else ground > 650, f"{where}: the ground is {ground}")
    expect(abs(ground - text) > 250, f"{where}: text {text} on {ground}")
    if pictures:
        b.picture(os.path.join(pictures, f"{path.replace('/', '-')}-{width}{'-dark' if dark else ''}.png"), whole=False)


def loaded(b, origin):
    """The files that the page has asked the server for."""
    urls = [e["params"]["request"]["url"] for e in b.events if e["method"] == "Network.requestWillBeSent"]
    return [u[len(origin) + 1:].split("?")[0] for u in urls if u.startswith(origin)]


def check_the_checks():
    """Small sites with one fault in each are found out."""
    faults = [(check_links, '<a href="b.html">', "dead link"), (check_links, '<a href="#no">', "names no anchor"), (check_links, '<img src="no.png">', "dead link"),
              (check_links, '<script src="https://x.org/x.js"></script>', "loads https"), (check_weights, "x" * (MOST_BYTES + 1), "limit")]
    for check, text, wanted in faults:
        with tempfile.TemporaryDirectory() as folder:
            site = pathlib.Path(folder)
            (site / "assets/javascripts/workers").mkdir(parents=True)
            (site / "assets/javascripts/workers/search.x.min.js").write_text("")
            (site / "a.html").write_text(text)
            try:
                check(site, {"a.html": Page(site / "a.html")})
                said = "nothing"
            except SystemExit as end:
                said = str(end)
        expect(wanted in said, f"a fault that is not found: {text[:60]}: {said}")


def check_navigation():
    listed = set(re.findall(r"- (?:[^:\n]+: )?([\w/.-]+[.]md)$", (ROOT / "mkdocs.yml").read_text(), re.M))
    for page in sorted((ROOT / "docs").rglob("*.md")):
        name = page.relative_to(ROOT / "docs").as_posix()
        expect(name in listed, f"docs/{name} stands nowhere in the nav of mkdocs.yml")


def check_first_load(b, origin, site, pages):
    """A page loads what its weight was counted of, and nothing else until the reader searches."""
    b.open(f"{origin}/index.html", 1920, 1080)
    time.sleep(1)
    b.faults(origin)
    counted = {os.path.normpath(link) for link in pages["index.html"].loads} | {str(f.relative_to(site)) for f in site.glob("assets/javascripts/workers/*.js")}
    asked = set(loaded(b, origin)) - {"index.html", "favicon.ico"}
    expect(asked <= counted, f"loaded, but not counted: {sorted(asked - counted)}")


def check_search(b, origin):
    b.open(f"{origin}/index.html", 1280, 900)
    b.run("document.querySelector('[data-md-toggle=search]').click()")
    b.run("(() => { const q = document.querySelector('[data-md-component=search-query]'); q.focus(); q.value = 'row bands'; "
          "q.dispatchEvent(new Event('focus')); q.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true})); q.dispatchEvent(new Event('input', {bubbles: true})); })()")
    b.wait("document.querySelector('.md-search-result__item a')")
    found = b.run("[...document.querySelectorAll('.md-search-result__item a')].map(a => a.getAttribute('href'))")
    expect(any("memory-planner" in f or "own-board" in f for f in found), f"search for row bands: {found}")
    expect("search/search_index.json" in loaded(b, origin), "the index is loaded when the reader searches")
    expect(not b.faults(origin), "search asks nobody else")


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def main():
    tool, fixtures, python = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
    pictures = sys.argv[4] if len(sys.argv) > 4 else None
    if not os.path.exists(python) or subprocess.run([python, "-c", "import material"], capture_output=True).returncode != 0:
        print(f"left out: the documents as a site: {python} has no mkdocs-material (dev_tools/site/requirements.txt)")
        sys.exit(77)
    check_the_checks()
    check_navigation()
    with tempfile.TemporaryDirectory() as folder:
        site = pathlib.Path(folder)
        build(tool, fixtures, python, folder)
        pages = {str(p.relative_to(site)): Page(p) for p in sorted(site.rglob("*.html"))}
        outside = check_links(site, pages)
        worst = check_weights(site, pages)
        gallery = check_gallery(site, pages, fixtures)
        print(f"{len(pages)} pages, {sum(len(p.links) for p in pages.values())} links, {len(outside)} that leave the site; the heaviest page is "
              f"{worst[1]}: {worst[0]} bytes with all that it loads")
        if not browser.find():
            print("left out: the site in a browser: chromium is not installed (apt-get install chromium)")
            sys.exit(77)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        origin = f"http://127.0.0.1:{server.server_port}"
        closely = ["index.html", "gallery/index.html", "tutorials/first-model.html", "command-line.html", "made/operators-imxrt700cm.html", *gallery[:2]]
        with browser.Browser() as b:
            check_first_load(b, origin, site, pages)
            check_search(b, origin)
            for path in pages:
                if path != "404.html":
                    windows = ((390, False), (390, True), (1920, False), (1920, True)) if path in closely else ((390, False),)
                    for width, dark in windows:
                        look(b, origin, path, width, dark, pictures)
        server.shutdown()
    print(f"{checks} checks")


if __name__ == "__main__":
    main()
