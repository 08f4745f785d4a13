# SPDX-License-Identifier: Apache-2.0
"""Lets torchvision and torchaudio be imported without their C parts: PyPI has those only for CUDA.

torchvision gives shape rules to operators of its C part, which fails where nobody has declared them. torchaudio loads its C part because the
file is there, unless it says that it has none. No architecture of the zoo calls either.
"""
import sys
import types

import torch

library = torch.library.Library("torchvision", "DEF")
for name in ["nms", "qnms"]:
    library.define(f"{name}(Tensor x) -> Tensor")

sys.modules["torchaudio._extension"] = types.SimpleNamespace(
    _IS_TORCHAUDIO_EXT_AVAILABLE=False, _IS_ALIGN_AVAILABLE=False, fail_if_no_align=lambda function: function,
    _check_cuda_version=lambda: None)  # fmt: skip
