# SPDX-License-Identifier: Apache-2.0
"""deuteron.sweep: its rows are those of single compilations, and the cache gives them again."""
import csv
import dataclasses
import errno
import hashlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import warnings

import numpy as np
import pytest
import torch

import deuteron
from deuteron._sweep import files, isolate
from deuteron._sweep.exact_sum import ExactSum
from deuteron._sweep.plan import Plan, option_words

FAST = {"observer": "minmax"}
TARGETS = ["cortex-m4", "cortex-m55"]


@pytest.fixture(scope="module")
def sweep(digits, images, tmp_path_factory):
    """A sweep of the digits network in threads; every argument can be another."""

    def call(cache, targets=TARGETS, **other):
        given = {"options": FAST, "data": images, "engine": "threads", "workers": 2, **other}
        return deuteron.sweep(given.pop("models", {"digits": digits}), targets, cache=cache, **given)

    return call


@pytest.fixture(scope="module")
def plain(sweep, tmp_path_factory):
    """A cache with the rows of TARGETS, and the table. Tests that change it take a copy."""
    cache = tmp_path_factory.mktemp("cache")
    return cache, sweep(cache, keep_programs=True)


@pytest.fixture
def copied(plain, tmp_path):
    return shutil.copytree(plain[0], tmp_path / "copy"), plain[1]


def unfinished(cache):
    return [path for path in pathlib.Path(cache).rglob("*.unfinished")]


def test_rows_are_those_of_compile(plain, digits, images):
    for row in plain[1]:
        program = deuteron.compile(digits, target=row.target, calibration=images, **FAST)
        report = program.report
        assert (row.ram_bytes, row.file_bytes, row.macs, row.sqnr_db) == (report.ram_bytes, report.file_bytes, report.macs, report.sqnr_db)
        assert row.cycles == report.cycles.total and row.cortex_m_operators == report.counts.cortex_m
        assert plain[1].program(row).bytes == program.bytes


def test_cached(plain, sweep):
    cache, table = plain
    assert (table.computed, table.cached) == (2, 0)
    again = sweep(cache)
    assert again.rows == table.rows and (again.computed, again.cached) == (0, 2)
    assert sweep(cache, options={**FAST, "threads": 2}).computed == 0  # never changes a result


def test_what_a_result_depends_on_is_in_its_key(copied, sweep, digits, images, tmp_path, monkeypatch):
    cache, _ = copied
    assert sweep(cache, data=images[:8]).computed == 2
    assert sweep(cache, options={**FAST, "io": "int8"}).computed == 2
    other = tmp_path / "other.pt2"
    torch.export.save(torch.export.export(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 10)).eval(), (torch.zeros(1, 1, 8, 8),)), other)
    assert sweep(cache, models={"digits": other}).computed == 2
    from deuteron._sweep import job
    monkeypatch.setattr(job, "build_id", lambda: "another build")
    assert sweep(cache).computed == 2


def test_the_same_work_is_done_once(sweep, digits, tmp_path, monkeypatch):
    log = with_fault(monkeypatch, tmp_path, "")
    table = sweep(tmp_path / "cache", ["cortex-m55"], models={"a": digits, "b": digits}, options={"one": FAST, "two": FAST})
    assert len(table) == 4 and len({dataclasses.replace(r, model="", options="") for r in table}) == 1
    assert len(log()) == 1


def test_models(sweep, digits, exported, tmp_path):
    class Net(torch.nn.Module):
        def forward(self, x):
            return torch.relu(x.flatten(1))

    models = {"path": digits, "exported": exported, "module": (Net().eval(), (torch.zeros(1, 1, 8, 8),))}
    table = sweep(tmp_path, ["cortex-m55"], models=models)
    assert [row.error for row in table] == [None] * 3
    assert table.rows[0].program == table.rows[1].program != table.rows[2].program
    assert sweep(tmp_path, ["cortex-m55"], models=models).computed == 0


def test_errors_are_rows(sweep, tmp_path):
    table = sweep(tmp_path, ["cortex-m55", "nothing"], options={"fine": FAST, "tight": {**FAST, "max_ram": 16}})
    assert [row.rule for row in table] == [None, table.rows[1].rule, "target.unknown", "target.unknown"]
    assert table.rows[1].rule and "16" in table.rows[1].error
    again = sweep(tmp_path, ["cortex-m55", "nothing"], options={"fine": FAST, "tight": {**FAST, "max_ram": 16}})
    assert again.computed == 0 and again.rows == table.rows


def test_own_target(sweep, plain, tool, tmp_path):
    shown = subprocess.run([tool, "targets", "--show", "cortex-m55"], check=True, capture_output=True, text=True).stdout
    own = tmp_path / "mine.toml"
    own.write_text(shown.replace('name = "cortex-m55"', 'name = "mine"'))
    row = sweep(tmp_path / "cache", [own]).rows[0]
    assert row == dataclasses.replace(plain[1].rows[1], target="mine")
    own.write_text(shown.replace('isa = "mve"', 'isa = "nothing"'))
    row = sweep(tmp_path / "cache", [own]).rows[0]
    assert row.rule.startswith("target.") and "mine" in row.error and tempfile.gettempdir() not in row.error


@pytest.fixture(scope="module")
def expected(exported, test_set):
    model = exported.module()
    return np.concatenate([model(torch.from_numpy(x[None])).detach().numpy() for x in test_set[0]])


@pytest.mark.parametrize("shards", [1, 2, 7, 64])
def test_shards(plain, expected, test_set, shards):
    program = plain[1].program(plain[1].rows[1])
    inputs, labels = test_set
    data = deuteron.Data(inputs=inputs, labels=labels, expected=expected)
    merged = deuteron.evaluate(program, data, shards=shards, engine="threads", workers=2)
    assert merged == deuteron.Figures.of(program.run(inputs), labels, expected)
    assert merged.right == program.evaluate(inputs, labels).program_right
    noise = program.run(inputs).astype(np.float64) - expected
    assert merged.max_abs_error == np.abs(noise).max() and sum(merged.histogram.values()) == np.count_nonzero(noise)
    assert abs(merged.noise.value / np.sum(noise ** 2) - 1) < 719 * 10 * 2 ** -53  # NumPy rounds at each addition, at most


def test_exact_sum():
    random = np.random.default_rng(7)
    values = random.standard_normal(1000) * 2.0 ** random.integers(-300, 300, 1000)
    from fractions import Fraction
    expected = sum(Fraction(v) for v in values.tolist())
    total = ExactSum.of(values)
    assert Fraction(total.integer) * Fraction(2) ** total.exponent == expected and total.value == float(expected)
    for parts in (2, 7, 64):
        merged = ExactSum()
        for part in np.array_split(random.permutation(values), parts):
            merged += ExactSum.of(part)
        assert merged == total == ExactSum.from_json(total.to_json())
    assert ExactSum.of(np.array([])) == ExactSum.of(np.array([1.5, -1.5])) == ExactSum()
    assert ExactSum.of(np.array([5e-324])).value == 5e-324


def test_evaluation_in_a_sweep(sweep, test_set, images, tmp_path, monkeypatch):
    inputs, labels = test_set
    np.save(tmp_path / "x.npy", inputs)
    data = deuteron.Data(images, tmp_path / "x.npy", labels)
    log = with_fault(monkeypatch, tmp_path, "")
    table = sweep(tmp_path / "cache", data=data, shard_samples=100)
    assert [(row.samples, row.right) for row in table] == [(719, 704)] * 2
    assert len(log()) == 2 + 2 * 8
    for shard_samples in (100, 719, 13):  # figures do not depend on shards, so the cache has them
        again = sweep(tmp_path / "cache", data=data, shard_samples=shard_samples)
        assert again.rows == table.rows and again.computed == 0
    assert sweep(tmp_path / "cache", data=deuteron.Data(images, inputs, 9 - labels)).computed == 2


def test_evaluation_that_fails(sweep, images, tmp_path):
    table = sweep(tmp_path, ["cortex-m55"], data=deuteron.Data(images, np.zeros((3, 1, 9, 9), np.float32)))
    assert table.rows[0].rule == "input.shape" and table.rows[0].ram_bytes == 2176
    with pytest.raises(deuteron.Error) as caught:
        deuteron.evaluate(table.program(table.rows[0]), deuteron.Data(inputs=np.zeros((3, 1, 9, 9), np.float32)), engine="threads")
    assert caught.value.rule == "input.shape"


def test_tables(plain, tmp_path):
    import pyarrow.parquet
    table = plain[1]
    table.write(tmp_path / "t.csv")
    table.write(tmp_path / "t.parquet")
    table.write(f"file://{tmp_path}/u.parquet")
    assert (tmp_path / "t.parquet").read_bytes() == (tmp_path / "u.parquet").read_bytes()
    assert pyarrow.parquet.read_table(tmp_path / "t.parquet").to_pylist() == table.records()
    assert [row["ram_bytes"] for row in csv.DictReader(io.StringIO((tmp_path / "t.csv").read_text()))] == [str(r.ram_bytes) for r in table]
    assert sorted(os.listdir(tmp_path)) == ["t.csv", "t.parquet", "u.parquet"]
    with pytest.raises(ValueError, match=r".csv or .html"):
        table.write(tmp_path / "t.txt")


def test_address_of_fsspec(sweep, plain, tmp_path):
    for computed in (2, 0):
        table = sweep(f"file://{tmp_path}/cache", keep_programs=True)
        assert table.rows == plain[1].rows and table.computed == computed


def with_fault(monkeypatch, folder, fault):
    """Puts sweep_child.py in the place of the jobs' process; gives what reads its log."""
    log = folder / "jobs.log"
    monkeypatch.setattr(isolate, "COMMAND", [sys.executable, str(pathlib.Path(__file__).with_name("sweep_child.py"))])
    monkeypatch.setenv("DEUTERON_TEST_LOG", str(log))
    monkeypatch.setenv("DEUTERON_TEST_FAULT", fault)
    return lambda: log.read_text().split() if log.exists() else []


@pytest.mark.parametrize("fault, rule, said", [("crash", "sweep.crashed", "SIGSEGV: the reason of the crash"), ("hang", "sweep.hangs", "more than 4 s")])
@pytest.mark.parametrize("engine", ["threads", "dask"])
def test_poisoned_job(sweep, plain, tmp_path, monkeypatch, fault, rule, said, engine):
    with_fault(monkeypatch, tmp_path, fault)
    table = sweep(tmp_path / "cache", engine=engine, job_seconds=4)
    assert table.rows[0].rule == rule and said in table.rows[0].error
    assert table.rows[1] == plain[1].rows[1]
    monkeypatch.setenv("DEUTERON_TEST_FAULT", "")
    again = sweep(tmp_path / "cache")  # a failure of the machine is tried again, and only that
    assert again.rows == plain[1].rows and (again.computed, again.cached) == (1, 1)


def test_process_that_is_killed_once(sweep, plain, tmp_path, monkeypatch):
    log = with_fault(monkeypatch, tmp_path, "crash once")
    assert sweep(tmp_path / "cache").rows == plain[1].rows
    assert len(log()) == 3


@pytest.mark.parametrize("damage", [b"", b"\0" * 100, b"0" * 64 + b"\n{}"])
def test_damaged_result(copied, sweep, damage):
    cache, table = copied
    results = [p for p in (cache / "results").rglob("*") if p.is_file() and p.name != "probe"]
    results[0].write_bytes(damage)
    with pytest.warns(deuteron.DeuteronWarning, match="made again"):
        again = sweep(cache)
    assert again.rows == table.rows and again.computed == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sweep(cache).computed == 0


def entry(key, value):
    """An entry as the cache writes it, with a right checksum: anybody who may write there can make one."""
    body = json.dumps({"key": key, "value": value}).encode()
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


FORGED = {
    "no object": lambda v: [1],
    "empty": lambda v: {},
    "an error without a text": lambda v: {"error": None, "rule": 3},
    "without figures": lambda v: {"program": v["program"]},
    "a text for a number": lambda v: {**v, "ram_bytes": "many"},
    "a truth for a number": lambda v: {**v, "macs": True},
    "a number of 400 bits": lambda v: {**v, "macs": 1 << 400},
    "a list for a program": lambda v: {**v, "program": ["x"]},
    "a path for a program": lambda v: {**v, "program": "../../../../etc/passwd"},
    "one field more": lambda v: {**v, "more": 1},
    "not a number": lambda v: {**v, "sqnr_db": float("nan")},
    "infinite": lambda v: {**v, "sqnr_db": float("inf")},
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_forged_result(copied, sweep, forge):
    cache, table = copied
    path = next(p for p in (cache / "results").rglob("*") if p.is_file() and p.name != "probe")
    value = json.loads(path.read_bytes().partition(b"\n")[2])["value"]
    path.write_bytes(entry(path.name, forge(value)))
    with pytest.warns(deuteron.DeuteronWarning, match="made again") as said:
        again = sweep(cache)
    assert sum(w.category is deuteron.DeuteronWarning for w in said) == 1 and again.rows == table.rows and again.computed == 1


@pytest.mark.parametrize("body", [b"[" * 100000, b'{"key": 1e999}', b"\xff", b"9" * 5000, b"x" * (2 << 20)], ids=["deep", "other", "no text", "long", "large"])
def test_result_that_is_no_entry(copied, sweep, body):
    cache, table = copied
    path = next(p for p in (cache / "results").rglob("*") if p.is_file() and p.name != "probe")
    path.write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
    with pytest.warns(deuteron.DeuteronWarning, match="made again"):
        assert sweep(cache).rows == table.rows


@pytest.mark.parametrize("folder", ["results", "contents"])
@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "loop"])
def test_what_is_no_regular_file(copied, sweep, images, test_set, folder, kind):
    cache, table = copied
    names = {path: path.stat().st_size for path in (cache / folder).rglob("*") if path.is_file()}
    for path in names:
        path.unlink()
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        else:
            path.symlink_to("/dev/zero" if kind == "device" else path)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        again = sweep(cache, data=deuteron.Data(images, test_set[0][:50], test_set[1][:50])) if kind != "folder" else sweep(cache)
    assert [row.ram_bytes for row in again] == [row.ram_bytes for row in table] and not any(row.error for row in again)
    assert folder == "contents" and kind == "folder" or any("sweep." in str(w.message) for w in said)


def forged_summary(value):
    return {**value, "top1": 1.0, "right": value["samples"]}


def forged_exponent(value):
    return {**value, "figures": {**value["figures"], "signal": ["0x1", 1 << 40]}}


@pytest.mark.parametrize("forge", [forged_summary, forged_exponent, lambda v: {"samples": 3}, lambda v: {**v, "figures": []}])
def test_forged_evaluation(copied, sweep, images, test_set, forge):
    cache, _ = copied
    data = deuteron.Data(images, test_set[0][:100], test_set[1][:100])
    table = sweep(cache, data=data)
    for path in (cache / "results").rglob("*"):
        if not path.is_file() or path.name == "probe":
            continue
        value = json.loads(path.read_bytes().partition(b"\n")[2])["value"]
        if "figures" in value:
            path.write_bytes(entry(path.name, forge(value)))
    with pytest.warns(deuteron.DeuteronWarning, match="made again"):
        assert sweep(cache, data=data).rows == table.rows


def test_key_of_a_shared_cache(copied, sweep, tmp_path, monkeypatch):
    cache, table = copied
    key = tmp_path / "key"
    key.write_bytes(bytes(range(32)))
    monkeypatch.setenv("DEUTERON_CACHE_KEY_FILE", str(key))
    with pytest.warns(deuteron.DeuteronWarning, match="made again"):  # they were made without the key
        assert sweep(cache).computed == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = sweep(cache)
    assert again.computed == 0 and again.rows == table.rows
    key.write_bytes(bytes(32))
    with pytest.warns(deuteron.DeuteronWarning, match="made again"):
        assert sweep(cache).rows == table.rows
    key.write_bytes(b"short")
    with pytest.raises(deuteron.Error, match="too short"):
        sweep(cache)
    monkeypatch.setenv("DEUTERON_CACHE_KEY_FILE", str(tmp_path / "none"))
    with pytest.raises(deuteron.Error, match="cannot be read"):
        sweep(cache)


def old(path, seconds=3 * 24 * 3600):
    os.utime(path, (path.stat().st_mtime - seconds,) * 2)
    return path


OURS = ".123-0123456789abcdef.unfinished"


def test_a_sweep_deletes_nothing_of_the_user(sweep, tmp_path):
    cache, outside = tmp_path / "cache", tmp_path / "outside"
    outside.mkdir()
    precious = outside / OURS
    precious.write_text("precious")
    old(precious)
    (cache / "unfinished").mkdir(parents=True)  # not made by us
    mine = cache / "unfinished" / OURS
    mine.write_text("mine")
    old(mine)
    sweep(cache)
    assert mine.exists()
    shutil.rmtree(cache / "unfinished")
    (cache / "unfinished").symlink_to(outside)
    (outside / ".deuteron").touch()
    sweep(cache)
    assert precious.exists()


def test_a_sweep_deletes_its_own_old_files(sweep, tmp_path):
    cache = tmp_path / "cache"
    sweep(cache)
    folder = cache / "unfinished"
    left = [folder / OURS, folder / ".1-00000000000000ff.unfinished"]
    kept = [folder / name for name in ("thesis.odt", ".deuteron", "x.unfinished", ".1-00000000000000FF.unfinished", OURS + ".bak")]
    for path in [*left, *kept]:
        path.touch()
        old(path)
    link = folder / ".2-0123456789abcdef.unfinished"
    link.symlink_to(tmp_path / "outside")
    os.utime(link, (0, 0), follow_symlinks=False)
    (folder / ".3-0123456789abcdef.unfinished").mkdir()
    young = folder / ".4-0123456789abcdef.unfinished"
    young.touch()
    sweep(cache)
    assert not any(path.exists() for path in left) and all(path.exists() for path in [*kept, young]) and link.is_symlink()


def test_every_option_is_hashed_or_refused(tmp_path):
    """What names a file is in the key by its content, or no option of a sweep; of the others no value is a file."""
    plain = {"KIND", "N", "N%", "X", "X,..", "NAME", "NAME=VALUE", "NAME=KIND", "NAME=1,3,96,96", "INPUT=OUTPUT", "AXIS[=FRAMES]", "KIND[,KIND]", "KIND[:LIMIT]", "BYTES", "BYTES|least", "PASS", "PASS|N", "NODE",
             "FORM", "B", ""}  # fmt: skip
    for option in deuteron.options("compile"):
        keys = []
        for content in (b"one", b"two"):
            path = tmp_path / "file"
            path.write_bytes(content)
            try:
                keys.append(option_words(Plan(), {option.name: str(path) if option.value else True}))
            except TypeError:
                keys.append(None)
        refused, hashed = keys == [None, None], keys[0] != keys[1]
        assert refused or hashed or option.value in plain, f"{option.name} {option.value}: may name a file, whose content is in no key"
        if option.name in ("emit", "board", "html", "etrecord"):
            assert refused, option.name


def test_cells_are_no_formulas():
    row = deuteron.Row("=1+1", "cortex-m4", "-x", error="@SUM(A1)", ram_bytes=-3)
    cells = next(csv.DictReader(io.StringIO(deuteron.Table([row]).to_csv())))
    assert (cells["model"], cells["options"], cells["error"], cells["ram_bytes"]) == ("'=1+1", "'-x", "'@SUM(A1)", "-3")


def test_damaged_contents(copied, sweep, images, test_set):
    cache, table = copied
    data = deuteron.Data(images, test_set[0], test_set[1])
    for path in (cache / "contents").rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[:-1])
    with pytest.warns(deuteron.DeuteronWarning, match="is damaged and is made again"):
        again = sweep(cache, data=data)
    assert [row.right for row in again] == [704, 704] and [row.program for row in again] == [row.program for row in table]


def test_lost_programs(copied, sweep, images, test_set):
    cache, table = copied
    shutil.rmtree(cache / "contents")
    with pytest.raises(KeyError, match="keep_programs"):
        dataclasses.replace(table, cache=str(cache)).program(table.rows[0])
    assert sweep(cache).computed == 0  # not needed
    assert [row.right for row in sweep(cache, data=deuteron.Data(images, *test_set))] == [704, 704]


def test_two_sweeps_at_once(sweep, plain, tmp_path):
    tables = []
    threads = [threading.Thread(target=lambda: tables.append(sweep(tmp_path))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [t.rows for t in tables] == [plain[1].rows] * 3
    assert sweep(tmp_path).computed == 0 and not unfinished(tmp_path)


def test_full_disk(sweep, plain, tmp_path, monkeypatch):
    with_fault(monkeypatch, tmp_path, "disk full")
    with pytest.warns(deuteron.DeuteronWarning, match="the disk is full") as said:
        table = sweep(tmp_path / "cache")
    assert len([w for w in said if w.category is deuteron.DeuteronWarning]) == 1  # said once
    assert table.rows == plain[1].rows and not unfinished(tmp_path)
    assert not [p for p in (tmp_path / "cache").rglob("results/*/*")]

    def disk_full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "replace", disk_full)
    with pytest.raises(deuteron.Error, match="the disk is full"):
        sweep(tmp_path / "other")
    assert not unfinished(tmp_path)


def test_bad_input(sweep, digits, images, tmp_path):
    def rule(**other):
        with pytest.raises(deuteron.Error) as caught:
            sweep(tmp_path / "cache", **other)
        return caught.value.rule

    assert rule(data=tmp_path) == "sweep.folder"
    assert rule(data={"other": images}) == "sweep.data"
    assert rule(models=[digits, digits]) == "sweep.models"
    assert rule(models={"m": tmp_path / "missing.pt2"}) in ("file.unreadable", "file.missing")
    assert rule(data=deuteron.Data(images, images, np.zeros(3, int))) == "input.samples"
    assert rule(data=deuteron.Data(images, images[:0])) == "input.samples"
    assert rule(data=deuteron.Data(images, tmp_path / "missing.npy")) == "file.unreadable"
    for wrong in ({"options": {"html": "page"}}, {"options": {"max_ran": 1}}, {"models": 3}, {"models": [torch.nn.Linear(1, 1)]}):
        with pytest.raises(TypeError):
            sweep(tmp_path / "cache", **wrong)
    with pytest.raises(ValueError, match="engine"):
        sweep(tmp_path / "cache", engine="slurm")
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("package, what", [("distributed", 'engine="dask"'), ("pyarrow", "Parquet"), ("fsspec", "address")])
def test_missing_packages(sweep, plain, tmp_path, monkeypatch, package, what):
    for name in [m for m in sys.modules if m.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    calls = {
        "distributed": lambda: sweep(tmp_path, engine="dask"),
        "pyarrow": lambda: plain[1].write(tmp_path / "t.parquet"),
        "fsspec": lambda: sweep("memory://cache"),
    }
    with pytest.raises(ImportError, match=r"pip install 'deuteron\[sweep\]'") as caught:
        calls[package]()
    assert what in str(caught.value)
