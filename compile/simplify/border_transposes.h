// SPDX-License-Identifier: Apache-2.0
// Transposes where tensors cross the border of the NPU: a kernel of the NPU does them, or the CPU
// inside the delegate's call, at a flag of the payload. Facts: the compile spec
// `use_neutron_for_format_conversion` of ExecuTorch's NXP backend, which chooses for all at once.
#pragma once
#include <vector>

#include "compile/pass.h"

namespace deuteron {

// For each operand and result of a partition: the sizes n, c, h, w under which the CPU's side has
// it in plain order, where the NPU's side is channels-last. Empty: both sides have the same order.
struct BorderTransposes {
  std::vector<Shape> inputs, outputs;
};

// Takes those out of `body` that cost less on the CPU by the models of both sides, or all that a
// flag can say, or none, as the options want.
BorderTransposes move_transposes_to_border(PassContext& pass, Graph& body);

}  // namespace deuteron
