# SPDX-License-Identifier: Apache-2.0
"""What a Program does: the figures of the command line, from objects in memory."""
import copy
import json
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import threading
import warnings

import numpy as np
import pytest
import torch

import deuteron


def test_run_gives_the_bits_of_the_command(program, images, tool, tmp_path):
    program.save(tmp_path / "m.pte")
    assert (tmp_path / "m.pte").read_bytes() == program.bytes
    np.save(tmp_path / "x.npy", images)
    subprocess.run([tool, "run", tmp_path / "m.pte", "--input", tmp_path / "x.npy", "--output-dir", tmp_path / "out"], check=True,
                   stdout=subprocess.DEVNULL)
    expected = np.load(tmp_path / "out" / "output0.npy")
    for given in (images, torch.from_numpy(images), {"x": images}, {"input0": images}, images.astype(np.float64)):
        result = program.run(given)
        assert result.shape == (len(images), 10) and result.dtype == np.float32 and result.tobytes() == expected.tobytes()
    one = program.run(images[0])
    assert one.shape == (1, 10) and one.tobytes() == expected[0].tobytes()
    assert deuteron.load(tmp_path / "m.pte").run(images).tobytes() == expected.tobytes()


def test_names_of_inputs(program, images, tmp_path):
    assert [s.name for s in program.inputs] == ["x"]
    program.save(tmp_path / "m.pte")
    assert [s.name for s in deuteron.load(tmp_path / "m.pte").inputs] == ["input0"]
    with pytest.raises(deuteron.Error, match="has no input `x`"):
        program.run({"y": images})


@pytest.mark.parametrize("on", ["host", "qemu:mps3-an547"])
def test_a_number_is_no_sample(program, on):
    with pytest.raises(deuteron.Error) as e:
        program.run(3.0, on=on)
    assert e.value.rule == "input.shape"


def test_int8(digits, images):
    program = deuteron.compile(digits, target="cortex-m55", calibration=images, io="int8")
    assert program.inputs[0].dtype == program.outputs[0].dtype == "int8"
    assert program.run(np.zeros((3, 1, 8, 8), np.int8)).dtype == np.int8


def test_board(program, images):
    shutil = pytest.importorskip("shutil")
    if not shutil.which("qemu-system-arm"):
        pytest.skip("no qemu-system-arm")
    for given, shape in ((images[:2], (2, 10)), (images[:1], (1, 10)), (images[0], (1, 10))):
        on_board, on_host = program.run(given, on="qemu:mps3-an547"), program.run(given)
        assert on_board.shape == on_host.shape == shape and on_board.tobytes() == on_host.tobytes()
    rows = program.profile(images[:1], on="qemu:mps3-an547")
    assert {r.clock for r in rows} == {"cpu"} and sum(r.total for r in rows) > 0


def test_evaluate(program, digits, test_set, tool, tmp_path):
    inputs, labels = test_set
    program.save(tmp_path / "m.pte")
    subprocess.run([tool, "evaluate", tmp_path / "m.pte", "--inputs", digits.parent / "test_inputs.npy", "--labels",
                    digits.parent / "test_labels.npy", "--model", digits, "--json", tmp_path / "e.json"], check=True, stdout=subprocess.DEVNULL)
    expected = json.loads((tmp_path / "e.json").read_text())
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.from_numpy(inputs), torch.from_numpy(labels)), batch_size=100)
    for result in (program.evaluate(inputs, labels, model=digits), program.evaluate(loader, has_labels=True, model=torch.export.load(digits))):
        for key in ("samples", "program_top1", "program_right", "model_top1", "model_right", "agreement", "sqnr_db", "max_abs_error"):
            assert getattr(result, key) == expected[key]


def test_compare(program, digits, images, exported):
    for model in (digits, exported):
        result = program.compare(model, images)
        assert result.outputs[0].sqnr_db > 20 and result.samples == 32
        assert len(result.operators) > 5
        assert [o.sqnr_db for o in result.operators] == sorted(o.sqnr_db for o in result.operators)
    other = deuteron.compile(digits, target="cortex-m55", calibration=images, observer="minmax")
    assert other.compare(digits, images).operators  # it knows its own options
    none = other.compare(digits, images[:5])
    assert not none.operators and "give calibration" in none.why_no_operators


def test_profile(program, images):
    rows = program.profile(images)
    assert abs(sum(r.share for r in rows) - 1) < 1e-6
    assert any("conv2d" in r.operators_text for r in rows) and all(r.calls == 32 for r in rows)
    assert program.profile()


def test_targets_and_operators():
    names = [t.name for t in deuteron.targets()]
    assert {"cortex-m55", "imxrt700cm"} <= set(names)
    assert any(o.builtin for o in deuteron.ops("imxrt700"))
    with pytest.raises(deuteron.Error):
        deuteron.ops("nothing")


def test_demo(capsys):
    from deuteron._demo import demo

    assert demo([]) == 0
    text = capsys.readouterr().out
    assert "top-1 program   97.91 %  (704 of 719)" in text and "bytes planned" in text and "deuteron::packed_conv2d" in text


def test_command():
    import os
    import sys

    run = lambda *words: subprocess.run([sys.executable, "-m", "deuteron", *words], capture_output=True, text=True)  # noqa: E731
    assert run("--version").stdout == f"deuteron {deuteron.__version__}\n"
    assert run("nothing").returncode == 2
    assert all(verb in run("--help").stdout for verb in ("compile", "demo", "sweep", "search"))
    assert "torch" not in subprocess.run([sys.executable, "-X", "importtime", "-c", "import deuteron"], capture_output=True, text=True,
                                         env=dict(os.environ)).stderr


def test_a_program_is_copied_and_pickled(program, images):
    expected = program.run(images)
    for other in (pickle.loads(pickle.dumps(program)), copy.copy(program), copy.deepcopy(program)):
        assert other.bytes == program.bytes and other.report == program.report and other.run(images).tobytes() == expected.tobytes()


def test_fork_while_another_thread_runs(program, images):
    many = np.concatenate([images] * 20)
    stop = threading.Event()

    def run():
        while not stop.is_set():
            program.run(many)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            for _ in range(5):
                child = os.fork()
                if child == 0:
                    signal.alarm(60)
                    os._exit(0 if program.run(images[0]).shape == (1, 10) else 1)
                assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join()


def test_paths(program, digits, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(digits, "--help.pt2")
    assert deuteron.compile("--help.pt2", target="cortex-m4", calibration=np.zeros((2, 1, 8, 8), np.float32)).report.target == "cortex-m4"
    with pytest.raises(ValueError, match="null byte"):
        program.save("m.pte\0.txt")
    with pytest.raises(ValueError, match="null byte"):
        deuteron.compile("a\0b.pt2", target="cortex-m4")
    assert not (tmp_path / "m.pte").exists()


def test_verify_key(program, tool, tmp_path):
    key, public, other = tmp_path / "key.pem", tmp_path / "key.pub", tmp_path / "other.pem"
    for private in (key, other):
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", private], check=True)
    subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-out", public], check=True)
    program.save(tmp_path / "m.pte")
    for name, by in (("ours", key), ("theirs", other)):
        subprocess.run([tool, "sign", tmp_path / "m.pte", "--key", by, "-o", tmp_path / f"{name}.pte"], check=True, stdout=subprocess.DEVNULL)
    assert deuteron.load(tmp_path / "ours.pte", verify_key=public).outputs
    for name, rule in (("m", "signature.none"), ("theirs", "signature.other_key")):
        with pytest.raises(deuteron.Error) as caught:
            deuteron.load(tmp_path / f"{name}.pte", verify_key=public)
        assert caught.value.rule == rule
    (tmp_path / "cut.pte").write_bytes((tmp_path / "ours.pte").read_bytes()[:-1])
    with pytest.raises(deuteron.Error, match="it was cut"):
        deuteron.load(tmp_path / "cut.pte")


def test_what_else_a_program_gives(program, digits, images, tmp_path):
    assert program.etrecord[:2] == b"PK"
    program.save_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == program.report.page
    program.firmware(tmp_path / "fw", board="mps3-an547", name="digits")
    assert (tmp_path / "fw" / "models" / "digits.pte").read_bytes() == program.bytes
    program.emit_c(tmp_path / "c", name="digits")
    program.emit_c(tmp_path / "digits.hpp", name="digits")
    assert (tmp_path / "c" / "digits.c").exists() and "digits" in (tmp_path / "digits.hpp").read_text()
    program.save(tmp_path / "m.pte")
    loaded = deuteron.load(tmp_path / "m.pte")
    assert not hasattr(loaded, "report") and not hasattr(loaded, "etrecord")
    loaded.emit_c(tmp_path / "again", target="cortex-m55", name="digits")
    assert (tmp_path / "again" / "digits.c").read_text() == (tmp_path / "c" / "digits.c").read_text()
    for call, rule in ((lambda: loaded.etrecord, "program.etrecord"), (lambda: loaded.emit_c(tmp_path / "d"), "program.target"),
                       (lambda: program.firmware(tmp_path / "fw", board="mps3-an547"), "firmware.folder"),
                       (lambda: program.firmware(tmp_path / "other", board="none"), "board.unknown")):
        with pytest.raises(deuteron.Error) as e:
            call()
        assert e.value.rule == rule, e.value


def test_without_a_program(program, digits, images):
    report = deuteron.analyze(digits, target="cortex-m55", calibration=images)
    assert report.ram_bytes == program.report.ram_bytes and report.counts == program.report.counts and "cortex-m55" in str(report)
    assert str(program.report).count("\n") < 40
    findings = deuteron.doctor(digits, target="cortex-m3", calibration=images)
    assert findings[0].rule == "doctor.float_ports" and findings.to_pandas().loc[0, "unit"] == "cycles"
    assert "[doctor.float_ports]\n    costs " in str(findings)
    assert "doctor.float_ports" in findings._repr_html_() and deuteron.ops("cortex-m55").to_pandas().shape[0] > 20
    assert [port["name"] for port in deuteron.inspect(digits)["inputs"]] == ["x"]
    assert set(dir(deuteron)) == set(deuteron.__all__) and all(hasattr(deuteron, name) for name in dir(deuteron))


def test_a_dataloader_has_an_example(exported, images, program):
    labels = torch.zeros(len(images), dtype=torch.long)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.from_numpy(images), labels), batch_size=8)
    module = exported.module()
    again = deuteron.compile(module, target="cortex-m55", example_inputs=loader, calibration=loader, has_labels=True)
    assert again.bytes == deuteron.compile(module, target="cortex-m55", calibration=loader, has_labels=True).bytes
    assert again.evaluate(loader, has_labels=True, model=module).samples == len(images)  # examples are of the program's shapes
    assert again.compare(module, loader, has_labels=True).operators
    assert "wrote" not in str(again.report)  # nothing was
    assert "/proc/self/fd" not in again.report.page and "/proc/self/fd" not in str(again.report)
    assert again.inputs[0].shape == (1, 1, 8, 8) and again.run(images).shape == (len(images), 10)
