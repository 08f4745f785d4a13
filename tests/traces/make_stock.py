# SPDX-License-Identifier: Apache-2.0
"""Writes stock.etdp and stock.etrecord into the current folder, with the executorch package 1.5.1."""
import copy

import torch
from executorch.devtools import generate_etrecord
from executorch.exir import to_edge
from executorch.extension.pybindings.portable_lib import _load_for_executorch_from_buffer


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.block = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.ReLU())
        self.out = torch.nn.Linear(7, 3)

    def forward(self, x):
        return torch.sigmoid(self.out(self.block(x))) + 1


torch.manual_seed(1)
x = torch.randn(2, 5)
edge = to_edge(torch.export.export(Net().eval(), (x,)))
before = copy.deepcopy(edge)
program = edge.to_executorch()
generate_etrecord("stock.etrecord", before, program)
loaded = _load_for_executorch_from_buffer(program.buffer, enable_etdump=True)
for _ in range(3):
    loaded.forward([x])
loaded.write_etdump_result_to_file("stock.etdp")
