// SPDX-License-Identifier: Apache-2.0
// What becomes of each operator of torch on a target: every example (frontends/pt2/examples/) goes
// the whole way that a model goes.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

namespace deuteron {

struct Target;

struct OperatorFate {
  std::string target, form, call;    // "aten.pad.default", "mode=reflect" where it has several, and
                                     // how the example calls it
  std::vector<std::string> kernels;  // "cortex_m::quantized_batch_matmul"; of the NPU:
                                     // "neutron::MatMul"; empty: none is its own
  std::vector<std::string> types;    // of what they compute, each once: "int8", "float"
  std::string why;          // without a kernel: what it is instead; beside an NPU, or in float: why
  bool is_refused = false;  // then `why` is the refusal
  bool is_on_npu = false;   // all of its kernels are
};

// In the order of the examples. An example stands for its operator alone: in a model, neighbours
// may be fused with it.
std::vector<OperatorFate> operator_fates(const Target& target);

}  // namespace deuteron
