# SPDX-License-Identifier: Apache-2.0
"""deuteron.search, its page, and the commands."""
import csv
import html.parser
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
import torch

import deuteron

GOALS = {"cycles": "minimize", "ram_bytes": "minimize", "sqnr_db": "maximize"}


class Net(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        torch.manual_seed(width)
        self.layers = torch.nn.Sequential(torch.nn.Conv2d(1, width, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(10))

    def forward(self, x):
        return self.layers(x)


def factory(width, resolution):
    if width == 7:
        raise ValueError("no <network> of seven channels")
    x = np.random.default_rng(0).standard_normal((8, 1, resolution, resolution)).astype(np.float32)
    net = Net(width).eval()
    net(torch.from_numpy(x))
    return deuteron.Candidate((net.eval(), (torch.from_numpy(x[:1]),)), x)


def run(cache, **other):
    given = {"trials": 9, "batch": 3, "targets": ["cortex-m4", "cortex-m55"], "options": {"max_ram": [2000, 1 << 16], "observer": ["minmax"]},
             "objectives": GOALS, "engine": "threads", **other}
    return deuteron.search(factory, {"width": [4, 7, 8], "resolution": range(6, 13, 2)}, cache=cache, **given)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    cache = tmp_path_factory.mktemp("cache")
    return cache, run(cache)


def better(a, b):
    signed = [(x, y) if goal == "minimize" else (-x, -y) for x, y, goal in zip(a, b, GOALS.values())]
    return all(x <= y for x, y in signed) and any(x < y for x, y in signed)


def test_front(found):
    trials = found[1].trials
    whole = [t for t in trials if t.values]
    assert len(trials) == 9 and len(whole) > 3
    assert [t.number for t in found[1].best] == [t.number for t in whole if not any(better(o.values, t.values) for o in whole)]
    for t in whole:
        assert t.values == [getattr(t.row, name) for name in GOALS] and 6 <= t.parameters["resolution"] <= 12
        assert t.row.ram_bytes <= t.parameters["max_ram"]


def test_search_is_the_same_for_any_workers(found, tmp_path):
    cache, first = found
    assert run(cache, workers=1).trials == first.trials
    assert run(tmp_path, workers=3, engine="dask").trials == first.trials


def test_failed_trials(tmp_path):
    trials = run(tmp_path, trials=4, objectives={"milliseconds": "minimize"}).trials
    assert {t.row.rule for t in trials} >= {"search.objective"} and not any(t.is_best for t in trials)
    with pytest.raises(ValueError, match="objective"):
        run(tmp_path, objectives={"size": "minimize"})
    with pytest.raises(ValueError, match="'width'"):
        run(tmp_path, options={"width": [1]})


def test_page(found):
    page = found[1].page
    open_tags = []

    class Parser(html.parser.HTMLParser):
        def handle_starttag(self, tag, attrs):
            if tag not in ("meta", "line", "circle", "polyline"):
                open_tags.append(tag)

        def handle_endtag(self, tag):
            if tag not in ("line", "circle", "polyline"):
                assert open_tags.pop() == tag

    Parser().feed(page)
    assert not open_tags and "<network>" not in page and not re.search(r"(src|href)=(?!\"#point)", page)
    assert set(re.findall(r'href="#(point\d+)"', page)) <= set(re.findall(r'<tr id="(point\d+)"', page))
    assert page.count('class="best"') == len(found[1].best) and page.count("<circle") == sum(t.values is not None for t in found[1].trials)


def command(*words, cwd=None):
    return subprocess.run([sys.executable, "-m", "deuteron", *map(str, words)], capture_output=True, text=True, cwd=cwd)


def blocks(page, kind):
    return re.findall(rf"^```{kind}\n(.*?)^```", (pathlib.Path(__file__).resolve().parents[2] / "docs" / page).read_text(), re.S | re.M)


def test_sweep_command(digits, tmp_path):
    (tmp_path / "models").symlink_to(digits.parents[1])
    (tmp_path / "sweep.toml").write_text(blocks("python.md", "toml")[0])
    for cached in (0, 4):
        done = command("sweep", tmp_path / "sweep.toml", "--workers", 2, cwd="/")
        assert done.returncode == 0 and done.stdout == f"4 rows, {cached} of them from the cache, 0 with errors\n", done.stderr
    table = (tmp_path / "sweep.toml").read_text()
    (tmp_path / "sweep.toml").write_text(table.replace('"rows.csv"', '"rows.html"'))
    assert command("sweep", tmp_path / "sweep.toml").returncode == 0
    page = (tmp_path / "rows.html").read_text()
    assert page.count("<circle") == page.count('<tr id="point') == 4 and "cycles (minimize), top1 (maximize)" in page
    lines = (tmp_path / "rows.csv").read_text().splitlines()
    assert len(lines) == 5 and all(",719,704," in line for line in lines[1:])


SEARCH = """
cache = "cache"
factory = "networks.py:make"
targets = ["cortex-m55"]
engine = "threads"
trials = 3
page = "front.html"
table = "trials.csv"
[space]
samples = [4, 8]
noise = { between = [0.0, 0.5] }
[options]
observer = ["minmax"]
[objectives]
cycles = "minimize"
sqnr_db = "maximize"
"""
NETWORKS = """
import deuteron, numpy
def make(samples, noise):
    x = numpy.load("MODELS/calibrate.npy")[:samples]
    return deuteron.Candidate("MODELS/float.pt2", (x + noise * numpy.cos(numpy.arange(x.size)).reshape(x.shape)).astype("f"))
"""


def test_search_command(digits, tmp_path):
    (tmp_path / "search.toml").write_text(SEARCH)
    (tmp_path / "networks.py").write_text(NETWORKS.replace("MODELS", str(digits.parent)))
    done = command("search", tmp_path / "search.toml", cwd="/")
    assert done.returncode == 0, done.stderr
    trials = list(csv.DictReader((tmp_path / "trials.csv").open()))
    front = [int(cycles) for cycles in re.findall(r"^cycles (\d+), sqnr_db", done.stdout, re.M)]
    assert len(trials) == 3 and front[0] == min(int(t["cycles"]) for t in trials) and 40_000 < front[0] < 80_000
    assert (tmp_path / "front.html").read_text().startswith("<!DOCTYPE html>")
    assert {"cache", "front.html", "networks.py", "search.toml", "trials.csv"} == set(os.listdir(tmp_path)) - {"__pycache__"}


@pytest.mark.parametrize("text, said", [
    ("cache = 3", "`cache` is 3"), ('cahce = "c"', "has `cahce`"), ("cache = ", "is no TOML"), ('cache = "c"', "has no `targets`"),
    ('cache = "c"\ntargets = ["cortex-m4"]\n[models.m]\n', "has no `path`"),
    ('cache = "c"\ntargets = ["cortex-m4"]\n[models.m]\npath = "missing.pt2"\n', "missing.pt2"),
    ('cache = "c"\ntargets = ["cortex-m4"]\nengine = "dusk"\n[models]\n', "dusk"),
])  # fmt: skip
def test_bad_files(tmp_path, text, said):
    (tmp_path / "sweep.toml").write_text(text)
    done = command("sweep", tmp_path / "sweep.toml")
    assert done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "c").exists()
