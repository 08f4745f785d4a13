# SPDX-License-Identifier: Apache-2.0
"""Programs of ExecuTorch for its own Cortex-M kernels, as its passes make them."""

import copy
import sys
import unittest.mock

# What the passes import and, for Cortex-M, never call.
sys.modules.setdefault("tosa_serializer", unittest.mock.MagicMock())
from executorch.backends.cortex_m.edge_compile_config import cortex_m_edge_compile_config
from executorch.backends.cortex_m.passes.cortex_m_pass_manager import CortexMPassManager
from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer
from executorch.exir import EdgeProgramManager, to_edge

from delegated import quantize

CONFIG = cortex_m_edge_compile_config()


def passed(network, x, is_explicit=False):
    quantizer = CortexMQuantizer(use_explicit_layout=is_explicit)
    edge = to_edge(quantize(network, (x,), quantizer), compile_config=CONFIG).exported_program()
    return CortexMPassManager(edge, use_explicit_layout=is_explicit).transform()


def lowered(programs):
    """Of one program, or of each method's."""
    methods = programs if isinstance(programs, dict) else {"forward": programs}
    kept = copy.deepcopy(methods)  # to_executorch() changes what it is given
    return EdgeProgramManager(kept, compile_config=CONFIG)
