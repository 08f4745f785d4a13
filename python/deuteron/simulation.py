# SPDX-License-Identifier: Apache-2.0
"""How near a compiled program is to PT2E's simulation, layer by layer. Needs torch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch.fx import Graph, GraphModule, Interpreter, Node

from ._compile import compile
from ._data import Path

_DECOMPOSED = torch.ops.quantized_decomposed
_QUANTIZE, _DEQUANTIZE = _DECOMPOSED.quantize_per_tensor.default, _DECOMPOSED.dequantize_per_tensor.default


class Layer(NamedTuple):
    """What is between one rounding of values and the next."""

    name: str  #: of the operator whose result is rounded
    steps: float  #: largest difference of the program from the simulation, in steps of the result
    in_float: int  #: operators of the program that stay in float


def compare_layers(simulation: Any, target: Path, samples: Any) -> list[Layer]:
    """Compiles each layer of a converted model alone, gives it what the simulation reads there, and compares what it makes.

    `simulation`: torch.export.export(convert_pt2e(prepared), (one sample,)). `samples`: a tensor; its first axis counts samples.

    >>> import deuteron, torch
    >>> from deuteron.simulation import compare_layers
    >>> from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    >>> samples = torch.from_numpy(demo_images[:4])
    >>> prepared = prepare_pt2e(torch.export.load(demo_model).module(check_guards=False), deuteron.Quantizer("cortex-m55"))
    >>> _ = [prepared(x[None]) for x in samples]
    >>> layers = compare_layers(torch.export.export(convert_pt2e(prepared), (samples[:1],)), "cortex-m55", samples)
    >>> max(layer.steps for layer in layers) <= 1.001
    True
    """
    module = simulation.module(check_guards=False)
    runs = [values_of(module, x[None]) for x in samples]
    found = []
    for graph, reads, mark in layers_of(module):
        given = [torch.stack([run[node] for run in runs]) for node in reads]
        alone = compile(torch.export.export(graph, tuple(g[0] for g in given)), target=target)
        expected = torch.stack([run[mark] for run in runs])
        made = torch.as_tensor(alone.run(*[g.numpy() for g in given])).reshape(expected.shape)
        source = mark.args[0].args[0]
        found.append(Layer(source.name, float((made - expected).abs().max()) / mark.args[1], alone.report.counts.portable))
    return found


class _Values(Interpreter):  # type: ignore[misc]
    def __init__(self, module: GraphModule) -> None:
        super().__init__(module, garbage_collect_values=False)
        self.values: dict[Node, Any] = {}

    def run_node(self, n: Node) -> Any:
        self.values[n] = super().run_node(n)
        return self.values[n]


def values_of(module: GraphModule, x: Any) -> dict[Node, Any]:
    values = _Values(module)
    with torch.no_grad():
        values.run(x)
    return values.values


def layers_of(module: GraphModule) -> Iterator[tuple[GraphModule, list[Node], Any]]:
    """(one layer, the dequantized values that it reads, the one that it makes)."""
    marks = [n for n in module.graph.nodes if n.target is _DEQUANTIZE and n.args[0].target is _QUANTIZE]
    for mark in marks:
        graph, reads = layer_before(mark, {n for n in marks if n is not mark})
        yield GraphModule(module, graph), reads, mark


def layer_before(mark: Any, others: set[Any]) -> tuple[Graph, list[Node]]:
    """What computes `mark` from the nearest of `others` and of the inputs. Rounding what is rounded already changes nothing: it tells the scale."""
    graph, reads = Graph(), list[Node]()
    copies: dict[Node, Node] = {}

    def copy(node: Any) -> Node:
        if node in copies:
            return copies[node]
        if node in others or node.op == "placeholder":
            value = graph.placeholder(f"in{len(reads)}")
            reads.append(node)
            if node in others:
                value = graph.call_function(_QUANTIZE, (value, *node.args[0].args[1:]))
                value = graph.call_function(_DEQUANTIZE, (value, *node.args[1:]))
            copies[node] = value
        else:
            for operand in node.all_input_nodes:
                copy(operand)
            copies[node] = graph.node_copy(node, lambda n: copies[n])
        return copies[node]

    graph.output((copy(mark),))
    return graph, reads
