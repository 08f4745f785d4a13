# SPDX-License-Identifier: Apache-2.0
"""Recipes of ExecuTorch for our targets, and what is said where one cannot be followed."""
import contextlib
import sys
import unittest.mock
import warnings

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torchao.quantization.pt2e import qat_utils
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

import deuteron

sys.modules.setdefault("tosa_serializer", unittest.mock.MagicMock())  # imported, and not called
export_module = pytest.importorskip("executorch.export")
export, ExportRecipe = export_module.export, export_module.ExportRecipe
# noqa: E402
from executorch.exir import to_edge_transform_and_lower  # noqa: E402

from deuteron.executorch import (  # noqa: E402
    DeuteronPartitioner,
    DeuteronQuantizer,
    DeuteronRecipeType,
    get_imxrt700cm_recipe,
)
from deuteron.executorch import compile as compile_whole  # noqa: E402
from deuteron.executorch import version  # noqa: E402


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.scores = nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Linear(4, 3)

    def forward(self, x):
        return self.scores(F.hardswish(self.norm(self.conv(x))).mean((2, 3)))


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    return Network().eval()


@pytest.fixture(scope="module")
def samples():
    torch.manual_seed(1)
    return torch.rand(4, 1, 6, 5)


def parts_of(session):
    module = session.get_edge_program_manager().exported_program().graph_module
    calls = [n for n in module.graph.nodes if "call_delegate" in str(n.target)]
    return [getattr(module, n.args[0].target).backend_id for n in calls]


@contextlib.contextmanager
def patterns_of_conv2d_alone():
    """torchao looks for batch norms behind four kinds of convolutions and exports each pattern."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_fuse_conv_bn_qat_helper", "_fold_conv_bn_qat_helper"):
            whole = getattr(qat_utils, name)

            def helper(m, conv, *more, whole=whole, **named):
                return whole(m, conv, *more, **named) if conv is F.conv2d else m

            patch.setattr(qat_utils, name, helper)
        yield


def test_a_recipe_for_each_target():
    assert len(DeuteronRecipeType) == len(deuteron.targets())
    names = {r.name for r in DeuteronRecipeType}
    assert {"CORTEX_M55_INT8", "CORTEX_M0PLUS_INT8", "CORTEX_M33_NODSP_INT8"} <= names
    with pytest.raises(ValueError, match="imxrt700cm-neutron-then-cortex-m"):
        get_imxrt700cm_recipe("imxrt701")


def test_calibrated_by_a_recipe(network, samples):
    seen = []

    def calibration():
        for x in samples:
            seen.append(x)
            yield (x[None],)

    recipe = ExportRecipe.get_recipe(
        DeuteronRecipeType.CORTEX_M55_INT8, calibration_inputs_fn=calibration
    )
    session = export(network, [(samples[:1],)], recipe)
    assert parts_of(session) == ["DeuteronBackend"]
    assert len(seen) == len(samples)
    assert str(recipe.lowering_recipe.partitioners[0].report) == "nothing is left"


def test_parts_of_the_npu_then_of_the_cpu(network, samples):
    """The recipe of a chip from those of its two backends; what one takes the other leaves
    alone."""
    session = export(
        network, [(samples[:1],)], get_imxrt700cm_recipe("imxrt700cm-neutron-then-cortex-m")
    )
    assert set(parts_of(session)) == {"DeuteronBackend"}
    assert len(session.get_pte_buffer()) > 0


def test_trained_by_a_recipe(network, samples):
    trained = []

    def train(model):
        optimizer = torch.optim.SGD(model.parameters(), 1e-3)
        for _ in range(2):
            model(samples).square().mean().backward()
            optimizer.step()
        trained.append(model)

    recipe = get_imxrt700cm_recipe(is_qat=True, train_fn=train)
    with patterns_of_conv2d_alone():
        session = export(network, [(samples[:2],)], recipe)
    network.eval()
    assert trained and parts_of(session) == ["DeuteronBackend"]


def test_kernels_for_firmware_by_a_recipe(network, samples, tmp_path):
    """A step of the recipe selects the kernels that its parts call, and writes what registers
    them."""
    folder = tmp_path / "backend"
    for _ in range(2):  # once more replaces it
        recipe = ExportRecipe.get_recipe(DeuteronRecipeType.CORTEX_M4_INT8, firmware=folder)
        session = export(network, [(samples[:1],)], recipe)
    program = session.get_edge_program_manager().exported_program().graph_module
    (part,) = [getattr(program, n.target) for n in program.graph.nodes if n.op == "get_attr"]
    (tmp_path / "part.pte").write_bytes(part.processed_bytes)
    inside = deuteron.load(tmp_path / "part.pte")
    listed = (folder / "firmware.sel").read_text().splitlines()
    selected = {line.split()[0] for line in listed if "::" in line}
    assert inside.outputs and "deuteron::packed_conv2d.dsp_4x4" in selected
    table = (folder / "src" / "deuteron_backend.cpp").read_text()
    assert table.count("\n    &k") == len(selected) and "register_deuteron_backend" in table


def test_one_call(network, samples, tmp_path):
    made = compile_whole(network, (samples[:1],), target="cortex-m4", calibration=samples)
    made.save(tmp_path / "network.pte")
    assert (tmp_path / "network.pte").read_bytes()[4:8] == b"ET12"
    assert str(made.report) == "nothing is left" and made.etrecord is not None


class Nearest(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)
        self.register_buffer("places", torch.randn(64, 8))

    def forward(self, x):
        return torch.cdist(self.layer(x), self.places).topk(3, largest=False).indices


def test_what_is_left_may_quantize():
    x = torch.randn(32, 4, 8)
    made = compile_whole(Nearest().eval(), (x[0],), target="cortex-m55", calibration=list(x))
    assert "aten.sqrt" in str(made.report)
    (plan,) = made.program.executorch_program.execution_plan
    names = {f"{o.name}.{o.overload}" for o in plan.operators}
    assert "quantized_decomposed::dequantize_per_tensor.out" in names, names


class Angles(nn.Module):
    def forward(self, x):
        return torch.atan2(x, x)


class Centred(nn.Module):
    def forward(self, x):
        return torch.relu(x - x.mean(0, keepdim=True))


def open_batch(model, x):
    """Lowered for as many samples as there are."""
    batch = ({0: torch.export.Dim("batch", min=1, max=8)},)
    graph = torch.export.export(model.eval(), (x,), dynamic_shapes=batch).module(check_guards=False)
    prepared = prepare_pt2e(graph, DeuteronQuantizer("cortex-m55"))
    prepared(x)
    program = torch.export.export(convert_pt2e(prepared), (x,), dynamic_shapes=batch)
    return to_edge_transform_and_lower(program, partitioner=[DeuteronPartitioner("cortex-m55")])


class Keeping(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 8)
        self.register_buffer("h", torch.zeros(1, 8))

    def forward(self, x):  # a part keeps what it moves
        y = torch.tanh(self.layer(torch.cat([self.h, x], 1)))
        self.h.copy_(x)
        return y


def in_dialect(model, x):
    x = x.contiguous(memory_format=torch.channels_last) if x.dim() == 4 else x
    return compile_whole(model.eval(), (x,), target="cortex-m55", dialect="stock")


def test_one_call_in_the_dialect(network, samples):
    x = samples[:1].contiguous(memory_format=torch.channels_last)
    made = compile_whole(network, (x,), target="cortex-m55", calibration=samples, dialect="stock")
    plan = made.program.executorch_program.execution_plan[0]
    called = {op.name for op in plan.operators}
    assert not plan.delegates and "cortex_m::quantized_conv2d_nhwc" in called


BAD = {  # what is given, and the rule of what is said
    "in training": (lambda n, x: compile_whole(n.train(), (x,), target="cortex-m55"), "model.training"),
    "no samples": (lambda n, x: compile_whole(n, (x,), target="cortex-m55", calibration=[]), "calibration.empty"),
    "no inputs": (lambda n, x: compile_whole(n, target="cortex-m55"), "model.example_inputs"),
    "no int8": (lambda n, x: compile_whole(Angles().eval(), (x,), target="cortex-m55"), "executorch.nothing"),
    "no training": (lambda n, x: get_imxrt700cm_recipe(is_qat=True), "recipe.train_fn"),
    "mixed samples": (lambda n, x: open_batch(Centred(), torch.rand(2, 8)), "executorch.dynamic"),
    "image in the dialect": (lambda n, x: in_dialect(nn.Conv2d(2, 4, 3), torch.rand(1, 2, 5, 5)), "executorch.dialect"),
    "state in the dialect": (lambda n, x: in_dialect(Keeping(), torch.rand(1, 8)), "executorch.dialect"),
    "no parts for firmware": (lambda n, x: compile_whole(n, (x,), target="cortex-m55", dialect="stock", firmware="f"), "backend.parts"),
    "no target": (lambda n, x: DeuteronPartitioner("cortex-m56"), "target.unknown"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input(network, samples, case):
    ask, rule = BAD[case]
    try:
        with pytest.raises(deuteron.Error) as e:
            ask(network, samples[:1])
    finally:
        network.eval()
    assert e.value.rule == rule
    assert len(e.value.diagnostics) == 1


def test_an_unquantized_program_is_named(network, samples):
    program = torch.export.export(network, (samples[:1],))
    with pytest.warns(deuteron.DeuteronWarning, match=r"no value is quantized.*executorch.unquantized"):
        to_edge_transform_and_lower(program, partitioner=[DeuteronPartitioner("cortex-m55")])


def test_bad_options():
    with pytest.raises(ValueError, match="portable"):
        DeuteronPartitioner("cortex-m55", float="fast")
    with pytest.raises(TypeError, match="max_ram"):
        DeuteronPartitioner("cortex-m55", max_ran=1)


def test_another_version_is_named(monkeypatch):
    monkeypatch.setattr(version.importlib.metadata, "version", lambda name: "1.4.0")
    with pytest.warns(deuteron.DeuteronWarning, match=r"1\.4\.0 is not known here.*1\.5"):
        version.check_version.__wrapped__()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        monkeypatch.setattr(version.importlib.metadata, "version", lambda name: "1.5.7")
        version.check_version.__wrapped__()


class Part(nn.Module):
    """What lies between two delegates: int8 comes in and goes out, and a float does too."""

    def forward(self, a, b):
        q = torch.ops.quantized_decomposed
        b = q.quantize_per_tensor(b, 0.2, 0, -128, 127, torch.int8)
        b = q.dequantize_per_tensor(b, 0.2, 0, -128, 127, torch.int8)
        y = q.dequantize_per_tensor(a, 0.1, 3, -128, 127, torch.int8) + b
        y = q.quantize_per_tensor(y, 0.3, 1, -128, 127, torch.int8)
        return y, q.dequantize_per_tensor(y, 0.3, 1, -128, 127, torch.int8)


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_int8_at_the_border_of_a_part(layout):
    torch.manual_seed(0)
    a = torch.randint(-128, 128, (1, 4, 3, 5)).to(torch.int8).contiguous(memory_format=layout)
    b = (torch.randn(1, 4, 3, 5) * 5).contiguous(memory_format=layout)
    program = deuteron.compile(torch.export.export(Part(), (a, b)), target="cortex-m55")
    assert [i.dtype for i in program.inputs] == ["int8", "float32"]
    for ours, theirs in zip(program.run(a.numpy(), b.numpy()), Part()(a, b)):
        assert torch.equal(torch.as_tensor(ours), theirs)
