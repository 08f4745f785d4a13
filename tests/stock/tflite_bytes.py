# SPDX-License-Identifier: Apache-2.0
"""The random models of int8 with bytes instead: uint8 tensors, 128 more, as the first converters wrote them. What tflite_import.py compares as `bytes.NAME`."""
import numpy as np
from tflite_models import schema

kShift = 128


def as_bytes(r):
    """Every int8 tensor of a model becomes uint8: the same real numbers, but for weights, which have one scale."""
    kinds, moved = schema.TensorType, set()  # tensors may share their parameters
    for graph in [r.b.graph, *r.b.others]:
        for t in graph.tensors:
            if t.quantization and len(t.quantization.scale) > 1:  # and the bias beside them
                t.quantization.scale, t.quantization.zeroPoint = t.quantization.scale[:1], t.quantization.zeroPoint[:1]
            if t.type != kinds.INT8:
                continue
            t.type = kinds.UINT8
            if id(t.quantization) not in moved:
                moved.add(id(t.quantization))
                t.quantization.zeroPoint = [z + kShift for z in t.quantization.zeroPoint]
            if t.buffer:
                buffer = r.b.buffers[t.buffer]
                buffer.data = np.asarray(buffer.data, np.uint8) ^ kShift
    return r


def as_steps(x):
    """The int8 of a program's input or output, of what the file has."""
    return (x ^ kShift).view(np.int8) if x.dtype == np.uint8 else x
