# SPDX-License-Identifier: Apache-2.0
"""Everything that can be wrong with what is given, each with its rule."""
import gc
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
import torch

import deuteron


def rule_of(call):
    with pytest.raises(deuteron.Error) as caught:
        call()
    assert caught.value.diagnostics and str(caught.value)
    return caught.value.rule


def bad(digits, calibration, **options):
    return rule_of(lambda: deuteron.compile(digits, target="cortex-m55", calibration=calibration, **options))


class OnGpu:
    """What a tensor on a GPU looks like where there is no GPU."""
    __cuda_array_interface__ = {"shape": (1, 1, 8, 8), "typestr": "<f4", "data": (0, False), "version": 3}


def test_samples(digits, images):
    assert bad(digits, None) == "calibrate.missing"
    assert bad(digits, images[:, :, :7]) == "input.shape"
    assert bad(digits, images.reshape(32, 64)) == "input.shape"
    assert bad(digits, images.astype(complex)) == "input.dtype"
    assert bad(digits, images.astype(object)) == "input.dtype"
    assert bad(digits, ["a.png", 3]) == "input.dtype"
    assert bad(digits, [images[0], images[1].astype(np.float64)]) == "input.dtype"
    assert bad(digits, []) == "input.samples"
    assert bad(digits, iter(())) == "input.samples"
    assert bad(digits, images[:0]) == "input.samples"
    assert bad(digits, [OnGpu()]) == "input.device"
    assert bad(digits, torch.zeros(1, 1, 8, 8, device="meta")) == "input.device"
    assert bad(digits, torch.zeros(1, 1, 8, 8).to_sparse()) == "input.dtype"
    assert bad(digits, [(images[0], 3)]) == "input.count"
    assert bad(digits, [images[0]], has_labels=True) == "input.count"
    assert bad(digits, {"y": images}) == "input.count"
    assert bad(digits, {"x": images, "y": images}) == "input.count"
    assert bad(digits, images * np.nan) == "input.not_finite"
    assert bad(digits, "missing.npy") == "file.missing"
    with pytest.raises(TypeError, match="iterable"):
        deuteron.compile(digits, target="cortex-m55", calibration=3)


def test_messages_name_what_was_given(digits, images):
    with pytest.raises(deuteron.Error) as caught:
        deuteron.compile(digits, target="cortex-m55", calibration=[images[0], images[1, :, :4]])
    error = caught.value
    assert error.where == "calibration, item 1, input `x`"
    assert error.diagnostics[0].measured == "[1, 4, 8]"
    with pytest.raises(deuteron.Error, match="calibration, input `x`.*sample 0, index 0 is nan") as caught:
        deuteron.compile(digits, target="cortex-m55", calibration=images * np.nan)
    assert "/proc/" not in str(caught.value)


def test_what_the_iterable_raises_is_raised(digits, images):
    def broken():
        yield images[0]
        raise RuntimeError("the disk is gone")

    with pytest.raises(RuntimeError, match="the disk is gone"):
        deuteron.compile(digits, target="cortex-m55", calibration=broken())


def test_models(digits, images, tmp_path):
    module = torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.Dropout())
    call = lambda **o: rule_of(lambda: deuteron.compile(module, target="cortex-m55", calibration=np.zeros((3, 4), np.float32), **o))  # noqa: E731
    assert call() == "model.example_inputs"
    assert call(example_inputs=torch.zeros(1, 4)) == "model.training"
    module.eval()
    assert call(example_inputs=(torch.zeros(1, 4), torch.zeros(1))) == "model.example_inputs"  # a label, say
    module[1].train()
    with pytest.raises(deuteron.Error, match="`1`"):
        deuteron.compile(module, target="cortex-m55", example_inputs=torch.zeros(1, 4))
    with pytest.raises(TypeError, match="ExportedProgram"):
        deuteron.compile(3, target="cortex-m55")
    with pytest.raises(TypeError, match="example_inputs"):
        deuteron.compile(digits, target="cortex-m55", example_inputs=(1,))
    assert bad(tmp_path / "none.pt2", images) == "file.missing"
    (tmp_path / "text.pt2").write_text("not a model")
    with pytest.raises(deuteron.Error):
        deuteron.compile(tmp_path / "text.pt2", target="cortex-m55", calibration=images)
    with pytest.raises(deuteron.Error) as caught:
        deuteron.compile(digits, target="cortex-m56", calibration=images)
    assert "cortex-m55" in caught.value.hint + str(caught.value)


def test_options(digits, images):
    call = lambda **o: deuteron.compile(digits, target="cortex-m55", calibration=images, **o)  # noqa: E731
    with pytest.raises(TypeError, match="near it: max_ram"):
        call(maxram=3)
    with pytest.raises(TypeError, match="near it: calibration"):
        call(calibrations=3)
    with pytest.raises(TypeError, match="has no option 'timeout'"):
        call(timeout=1)
    with pytest.raises(TypeError, match="True or False"):
        call(strict="yes")
    with pytest.raises(TypeError, match="takes a value"):
        call(max_ram=True)
    with pytest.raises(TypeError, match="one value"):
        call(max_ram=[1, 2])
    for options in ({"max_ram": -1}, {"threads": 0}, {"io": "int9"}, {"stop_after": "nothing"}, {"dialect": ""}):
        with pytest.raises(deuteron.UsageError) as caught:
            call(**options)
        assert isinstance(caught.value, ValueError)
    assert rule_of(lambda: call(max_ram=16)) == "compile.max_ram"
    assert rule_of(lambda: call(stop_after="fold-constants")) == "pipeline.stopped"


def test_warnings_are_warnings(digits, images):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        deuteron.compile(digits, target="cortex-m4", calibration=images * 0)
    assert caught and all(issubclass(w.category, deuteron.DeuteronWarning) for w in caught)


def test_programs(program, images, tmp_path):
    assert rule_of(lambda: program.run(images[:, :, :7])) == "input.shape"
    assert rule_of(lambda: program.run()) == "input.count"
    assert rule_of(lambda: program.run(images, images)) == "input.count"
    assert rule_of(lambda: program.run(images * np.inf)) == "input.not_finite"
    assert rule_of(lambda: program.run(torch.zeros(1, 1, 8, 8, device="meta"))) == "input.device"
    assert rule_of(lambda: program.run(images, on="qemu:nothing")) == "board.unknown"
    assert rule_of(lambda: program.save(tmp_path / "none" / "x.pte")) == "write.file"
    assert rule_of(lambda: deuteron.load(tmp_path / "none.pte")) == "file.unreadable"
    (tmp_path / "cut.pte").write_bytes(program.bytes[:1000])
    with pytest.raises(deuteron.Error):
        deuteron.load(tmp_path / "cut.pte")
    assert rule_of(lambda: program.evaluate(images, np.full(32, 11))) == "labels"
    assert rule_of(lambda: program.evaluate(images)) == "usage"
    program.save(tmp_path / "x.pte")
    loaded = deuteron.load(tmp_path / "x.pte")
    assert rule_of(lambda: loaded.report) == "program.report"


def test_a_full_disk_leaves_nothing(program, tmp_path):
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        assert rule_of(lambda: program.save(tmp_path / "x.pte")) == "write.file"
        assert rule_of(lambda: program.evaluate(np.zeros((1, 1, 8, 8), np.float32), [0])) == "memory.file"
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, old)
    assert list(tmp_path.iterdir()) == []


def test_no_files_stay_open(digits, images):
    def count():
        gc.collect()
        return len(os.listdir("/proc/self/fd"))

    deuteron.compile(digits, target="cortex-m4", calibration=images).run(images)
    before = count()
    for _ in range(3):
        deuteron.compile(digits, target="cortex-m4", calibration=images).run(images)
        with pytest.raises(deuteron.Error):
            deuteron.compile(digits, target="cortex-m4", calibration=images * np.nan)
    assert count() == before


def test_what_progress_raises_ends_the_work(digits, images):
    def stop(what, done, total):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        deuteron.compile(digits, target="cortex-m55", calibration=images, progress=stop)


SLOW = """
import sys, time, numpy as np, deuteron
images = np.repeat(np.load("models/digits_cnn/calibrate.npy"), 1600, axis=0)
seen = []
def progress(what, done, total):
    if done >= int(sys.argv[2]) and not seen:
        seen.append(what)
        print("ready", flush=True)
try:
    deuteron.compile("models/digits_cnn/float.pt2", target="imxrt700cm", calibration=images, etrecord=sys.argv[1], progress=progress)
except KeyboardInterrupt:
    print("interrupted", time.monotonic(), flush=True)
else:
    print("done", flush=True)
"""


@pytest.mark.parametrize("passes", [0, 1, 5])  # that are done before it is ended; the sixth takes seconds, so that news of it come for certain
def test_ctrl_c(passes, tmp_path):
    path = tmp_path / "x.etrecord"
    child = subprocess.Popen([sys.executable, "-c", SLOW, path, str(passes)], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGINT)
    began = time.monotonic()  # of the system: the same clock in both
    said = child.communicate(timeout=60)[0].split()
    assert said[0] == "interrupted" and child.returncode == 0
    assert float(said[1]) - began < 10  # a second where nothing else runs; the sixth pass takes longer than this on a busy machine
    assert list(tmp_path.iterdir()) == []


def test_the_gil_is_free_meanwhile(digits, images):
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.wait(0.005):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    began = time.monotonic()
    deuteron.compile(digits, target="imxrt700cm", calibration=np.repeat(images, 20, axis=0))
    end = time.monotonic()
    stop.set()
    thread.join()
    within = [t for t in ticks if began < t < end]
    assert len(within) > (end - began) / 0.1  # a held GIL would leave none
