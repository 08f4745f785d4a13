# SPDX-License-Identifier: Apache-2.0
"""What our kernels make beside what the model says, in ExecuTorch's Inspector. Needs torch and
executorch."""

from __future__ import annotations

from typing import Any

import torch
from executorch.devtools.inspector.numerical_comparator import (
    L1Comparator,
    MSEComparator,
    NumericalComparatorBase,
    SNRComparator,
)

from .partitioner import name_of

_METRICS = {"L1": L1Comparator, "MSE": MSEComparator, "SNR": SNRComparator}


class DeuteronComparator(NumericalComparatorBase):  # type: ignore[misc]
    """For `Inspector.calculate_numeric_gap`: the integers of our kernels become what they stand
    for, and are then compared as ExecuTorch does it: "L1", "MSE" or "SNR".

    >>> from deuteron.executorch import DeuteronComparator
    >>> DeuteronComparator("dB")
    Traceback (most recent call last):
        ...
    ValueError: the metric is "L1", "MSE" or "SNR", not 'dB'
    """

    def __init__(self, metric: str = "SNR") -> None:
        super().__init__()
        if metric not in _METRICS:
            raise ValueError(f'the metric is "L1", "MSE" or "SNR", not {metric!r}')
        self._metric = _METRICS[metric]()

    def preprocessing(self, mapping: Any) -> Any:
        graph, _ = self.inspector._resolve_reference_graph(None, False)
        steps = {  # of each operator: scale and zero point of its result
            node.meta.get("debug_handle"): node.args[1:3]
            for node in graph.graph.nodes
            if name_of(node) == "quantized_decomposed::dequantize_per_tensor"
        }
        found = {}
        for (handles, expected), (ours, value) in mapping.items():
            tensors = isinstance(value, torch.Tensor) and isinstance(expected, torch.Tensor)
            if not tensors or without_ones(value) != without_ones(expected):
                continue  # some of its rows, or its axes taken for others
            if not value.is_floating_point():
                if handles[-1] not in steps:
                    continue
                scale, zero = steps[handles[-1]]
                value = (value.double() - zero) * scale
            found[handles, expected] = ours, value.reshape(expected.shape)
        return found

    def element_compare(self, a: Any, b: Any) -> float:
        return float(self._metric.element_compare(a, b))


def without_ones(tensor: torch.Tensor) -> list[int]:
    """The sizes up to the last one that is not 1."""
    sizes = list(tensor.shape)
    while sizes and sizes[-1] == 1:
        sizes.pop()
    return sizes
