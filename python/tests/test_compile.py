# SPDX-License-Identifier: Apache-2.0
"""What deuteron.compile takes: models and samples in every form give the bytes of the command line."""
import subprocess

import numpy as np
import pytest
import torch

import deuteron


class Small(torch.nn.Module):
    """Two inputs, and a part that differs in training."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)
        self.dropout = torch.nn.Dropout(0.5)

    def forward(self, a, b):
        return self.dropout(self.linear(a)) + b


@pytest.fixture(scope="module")
def reference(tool, digits, tmp_path_factory):
    path = tmp_path_factory.mktemp("command") / "model.pte"
    subprocess.run([tool, "compile", digits, "--target", "cortex-m55", "--calibrate", digits.parent / "calibrate.npy", "-o", path],
                   check=True, stdout=subprocess.DEVNULL)
    return path.read_bytes()


@pytest.fixture(scope="module")
def small():
    torch.manual_seed(1)
    return Small().eval()


@pytest.fixture(scope="module")
def small_data():
    random = np.random.default_rng(3)
    return random.normal(size=(6, 2, 4)).astype(np.float32), random.normal(size=(6, 2, 3)).astype(np.float32)


def loader(images, batch_size, labels=False):
    tensors = [torch.from_numpy(images)] + ([torch.arange(len(images))] if labels else [])
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*tensors), batch_size=batch_size)


FORMS = {
    "array": lambda x: x,
    "tensor": torch.from_numpy,
    "list of arrays": list,
    "list of batches": lambda x: [x[:5], x[5:]],
    "samples with their batch axis": lambda x: [one[None] for one in x],
    "generator of tensors": lambda x: (torch.from_numpy(one) for one in x),
    "tuples": lambda x: [(one,) for one in x],
    "dict": lambda x: {"x": x},
    "dicts": lambda x: [{"x": one} for one in x],
    "loader": lambda x: loader(x, 7),
    "float64": lambda x: x.astype(np.float64),
    "big endian": lambda x: x.astype(">f4"),
    "fortran order": np.asfortranarray,
    "strided": lambda x: np.repeat(x, 2, axis=3)[..., ::2],
    "channels last": lambda x: torch.from_numpy(x).contiguous(memory_format=torch.channels_last),
    "needs a gradient": lambda x: torch.from_numpy(x).requires_grad_(),
    "read only": lambda x: np.frombuffer(x.tobytes(), x.dtype).reshape(x.shape),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_samples_gives_the_same_bytes(form, digits, images, reference):
    assert deuteron.compile(digits, target="cortex-m55", calibration=FORMS[form](images)).bytes == reference


def test_labels_are_left_out_where_that_is_said(digits, images, reference):
    data = loader(images, 8, labels=True)
    assert deuteron.compile(digits, target="cortex-m55", calibration=data, has_labels=True).bytes == reference


def test_paths_of_samples(digits, reference):
    path = digits.parent / "calibrate.npy"
    for given in (path, str(path), [path]):
        assert deuteron.compile(str(digits), target="cortex-m55", calibration=given).bytes == reference


def test_exported_program(exported, images, reference):
    program = deuteron.compile(exported, target="cortex-m55", calibration=images)
    assert program.bytes == reference
    assert program.report.model == "<ExportedProgram>"


def test_module(small, small_data):
    example = (torch.zeros(2, 4), torch.zeros(2, 3))
    samples = list(zip(*small_data))
    program = deuteron.compile(small, target="cortex-m4", example_inputs=example, calibration=samples)
    by_export = deuteron.compile(torch.export.export(small, example), target="cortex-m4", calibration=samples)
    named = [{"a": a, "b": b} for a, b in samples]
    assert program.bytes == by_export.bytes == deuteron.compile(
        small, target="cortex-m4", example_inputs={"a": example[0], "b": example[1]}, calibration=named).bytes
    assert program.bytes == deuteron.compile(small, target="cortex-m4", example_inputs=example, calibration=[small_data]).bytes
    with torch.no_grad():
        expected = small(torch.from_numpy(small_data[0][0]), torch.from_numpy(small_data[1][0])).numpy()
    given = program.run(small_data[0][0], small_data[1][0])
    scale = [q.scale for q in program.report.quantization if q.name == program.report.outputs[0].name]
    # int8 of inputs, result and weights: a few steps of the result, whose scale the report gives.
    assert scale and np.abs(given - expected).max() <= 4 * max(scale)


def test_fixed_batch_is_taken_apart(small, small_data):
    example = (torch.zeros(2, 4), torch.zeros(2, 3))
    flat = (small_data[0].reshape(-1, 4), small_data[1].reshape(-1, 3))
    programs = {deuteron.compile(small, target="cortex-m4", example_inputs=example, calibration=[d]).bytes for d in (flat, small_data)}
    assert len(programs) == 1
    with pytest.raises(deuteron.Error) as caught:
        deuteron.compile(small, target="cortex-m4", example_inputs=example, calibration=[(flat[0][:3], flat[1][:3])])
    assert caught.value.rule == "input.shape" and "drop_last" in caught.value.hint


def test_tflite(digits):
    path = digits.parents[2] / "tests" / "carried" / "fixtures" / "models" / "hello_sine" / "original_int8.tflite"
    program = deuteron.compile(path, target="cortex-m0")
    assert program.report.model_was_quantized


def test_options_are_those_of_the_command(digits, images, tool, tmp_path):
    path = tmp_path / "model.pte"
    subprocess.run([tool, "compile", digits, "--target", "cortex-m4", "--calibrate", digits.parent / "calibrate.npy", "-o", path, "--io", "int8",
                    "--dialect", "stock", "--observer", "minmax", "--skip-pass", "npu-forms", "--threads", "1"],
                   check=True, stdout=subprocess.DEVNULL)
    program = deuteron.compile(digits, target="cortex-m4", calibration=images, io="int8", dialect="stock", observer="minmax",
                               skip_pass=["npu-forms"], threads=1)
    assert program.bytes == path.read_bytes()
    assert program.inputs[0].dtype == "int8"
    listed = {o.name for o in deuteron.options("compile")}
    help_text = subprocess.run([tool, "compile", "--help"], check=True, capture_output=True, text=True).stdout
    for name in listed:
        assert "--" + name.replace("_", "-") in help_text
    assert {"max_ram", "strict", "explain", "layer", "html"} <= listed


def test_files_that_are_asked_for(digits, images, tmp_path):
    program = deuteron.compile(digits, target="cortex-m4", calibration=images, html=tmp_path / "page.html", etrecord=tmp_path / "a.etrecord")
    assert (tmp_path / "page.html").read_text() == program.report.page
    assert (tmp_path / "a.etrecord").stat().st_size > 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.etrecord", "page.html"]


def test_report_has_a_member_for_all_of_the_json(program):
    from dataclasses import fields

    known = {f.name for f in fields(deuteron.Report)}
    assert set(program.report.json) - known == {"program", "diagnostics", "exit_code"}
    npu = deuteron.compile(program_of := "models/digits_cnn/float.pt2", target="imxrt700cm", calibration="models/digits_cnn/calibrate.npy")
    assert npu.report.model == program_of and npu.report.counts.npu == 11 and npu.report.crossings[0].to == "npu"
    assert "srcdoc" in npu._repr_html_() and "&lt;html" in npu.report._repr_html_().lower()


def test_progress(digits, images):
    said = []
    deuteron.compile(digits, target="cortex-m55", calibration=images, progress=lambda *p: said.append(p))
    assert said and all(0 <= done <= total for _, done, total in said)
    assert [done for _, done, _ in said] == sorted(done for _, done, _ in said)
    deuteron.compile(digits, target="cortex-m55", calibration=images, progress=True)


def test_threads_compile_at_once(digits, images, reference):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        programs = list(pool.map(lambda _: deuteron.compile(digits, target="cortex-m55", calibration=images).bytes, range(6)))
    assert set(programs) == {reference}
