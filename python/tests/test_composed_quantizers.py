# SPDX-License-Identifier: Apache-2.0
"""DeuteronQuantizer among other quantizers of ComposableQuantizer, and what its user leaves to
them."""

import sys
from unittest import mock

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e
from torchao.quantization.pt2e.quantizer import ComposableQuantizer

import deuteron
from deuteron.executorch import DeuteronQuantizer
from deuteron.executorch.quantizer import KEY

TARGET = "cortex-m55"
QUANTIZE = torch.ops.quantized_decomposed.quantize_per_tensor.default


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.blocks = (
            nn.Conv2d(2, 6, 3),
            nn.Sequential(nn.Conv2d(6, 6, 1), nn.Hardswish(), nn.Conv2d(6, 4, 3)),
        )
        self.scores = nn.Linear(4, 3)

    def forward(self, x):
        x = F.relu(self.first(x))
        x = self.blocks(x + 0.5 * x)
        return F.softmax(self.scores(x.mean((2, 3))), -1)


@pytest.fixture(scope="module")
def samples():
    torch.manual_seed(0)
    return torch.rand(8, 2, 9, 7)


@pytest.fixture(scope="module")
def exported(samples):
    torch.manual_seed(0)
    return torch.export.export(Network().eval(), (samples[:1],))


def xnnpack(qat=False):
    quantizers = pytest.importorskip("executorch.backends.xnnpack.quantizer.xnnpack_quantizer")
    return quantizers.XNNPACKQuantizer().set_global(
        quantizers.get_symmetric_quantization_config(is_per_channel=True, is_qat=qat)
    )


def cortex_m(qat=False):
    sys.modules.setdefault("tosa_serializer", mock.MagicMock())  # its passes import it, no more
    from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer

    return CortexMQuantizer()


def converted(prepared, samples):
    for x in samples:
        prepared(x[None])
    return torch.export.export(convert_pt2e(prepared), (samples[:1],))


def quantized(exported, quantizer, samples):
    return converted(prepare_pt2e(exported.module(check_guards=False), quantizer), samples)


def annotated(exported, quantizer):
    return {
        n.name
        for n in quantizer.annotate(exported.module(check_guards=False)).graph.nodes
        if KEY in n.meta
    }


@pytest.fixture(scope="module")
def everything(exported):
    return annotated(exported, DeuteronQuantizer(TARGET))


def rounded(model):
    """The operators whose results are rounded."""
    return {n.args[0].name for n in model.graph.nodes if n.target is QUANTIZE}


@pytest.mark.parametrize("other", [xnnpack, cortex_m])
@pytest.mark.parametrize("ours_first", [True, False])
def test_any_place_among_others(exported, samples, other, ours_first):
    both = [DeuteronQuantizer(TARGET), other()]
    model = quantized(exported, ComposableQuantizer(both if ours_first else both[::-1]), samples)
    assert {"hardswish", "conv2d_2", "linear", "softmax"} <= rounded(model)
    assert deuteron.compile(model, target=TARGET).report.counts.portable == 0


def test_training_behind_another_quantizer(exported, samples):
    prepared = prepare_qat_pt2e(
        exported.module(check_guards=False),
        ComposableQuantizer([xnnpack(True), DeuteronQuantizer(TARGET, qat=True)]),
    )
    assert deuteron.compile(converted(prepared, samples), target=TARGET).report.counts.portable == 0


def test_what_is_annotated_stays(exported):
    model = exported.module(check_guards=False)
    first = (
        DeuteronQuantizer(TARGET, allow_float=True)
        .set_global("float")
        .set_module_name("first", "int8")
    )
    first.annotate(first.transform_for_annotation(model))
    before = {n.name: n.meta[KEY] for n in model.graph.nodes if KEY in n.meta}
    assert set(before) == {"conv2d"}
    DeuteronQuantizer(TARGET).annotate(model)
    after = {n.name: n.meta[KEY] for n in model.graph.nodes if KEY in n.meta}
    assert all(after[name] is annotation for name, annotation in before.items())
    assert {"hardswish", "linear"} <= set(after)


CHOICES = {  # what is said, and what is then not rounded
    "a module": (lambda q: q.set_module_name("blocks.2", "float"), {"conv2d_2"}),
    "the longest name": (
        lambda q: q.set_module_name("blocks", "float").set_module_name("blocks.0", "int8"),
        {"hardswish", "conv2d_2"},
    ),
    "a class": (lambda q: q.set_module_type(nn.Hardswish, None), {"hardswish"}),
    "an operator": (lambda q: q.set_operator_type(torch.ops.aten.softmax, "float"), {"softmax"}),
    "a name before a class": (
        lambda q: q.set_module_type(nn.Conv2d, "float").set_module_name("first", "int8"),
        {"conv2d_1", "conv2d_2"},
    ),
    "nodes": (lambda q: q.set_filter(lambda node: node.name != "hardswish"), {"hardswish"}),
    "all but one": (
        lambda q: q.set_global("float").set_operator_type(torch.ops.aten.linear.default, "int8"),
        None,
    ),
}


@pytest.mark.parametrize("choice", CHOICES)
def test_choices(exported, everything, choice):
    choose, expected = CHOICES[choice]
    chosen = annotated(exported, choose(DeuteronQuantizer(TARGET)))
    assert everything - chosen == (everything - {"linear"} if expected is None else expected)


def test_bad_choices(exported):
    with pytest.raises(ValueError, match='"int8" or "float", not \'int4\''):
        DeuteronQuantizer(TARGET).set_global("int4")
    with pytest.raises(deuteron.Error) as e:
        prepare_pt2e(
            exported.module(check_guards=False),
            DeuteronQuantizer(TARGET).set_module_name("block", "float"),
        )
    assert e.value.rule == "quantizer.module" and "blocks.0" in e.value.hint


class Unread(nn.Module):
    def forward(self, x):
        return torch.relu(x.chunk(2, 1)[0]) * 2


def test_a_result_that_nobody_reads(samples):
    model = torch.export.export(Unread(), (samples[:1],))
    model = quantized(model, DeuteronQuantizer(TARGET), samples)
    assert deuteron.compile(model, target=TARGET).report.counts.portable == 0


def test_an_open_length():
    """Only the example's length fits the window."""
    x = torch.rand(1, 4, 10)
    lengths = ({2: torch.export.Dim("length", min=4, max=32)},)
    model = torch.export.export(nn.Conv1d(4, 4, 3).eval(), (x,), dynamic_shapes=lengths)
    assert "conv1d" in annotated(model, DeuteronQuantizer(TARGET))
