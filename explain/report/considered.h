// SPDX-License-Identifier: Apache-2.0
// Every operator as the partition met it, in words: what was asked about it and where it went.
#pragma once
#include <string>
#include <vector>

#include "compile/decisions.h"

namespace deuteron {

struct Considered {
  Origin origin;
  std::string what;  // "conv2d `backbone.7.conv` (source op 41)"
  std::vector<std::string>
      quantization;  // a line for each operand that is no bias, and each result
  SideDecision sides;
  std::string why_not;  // with an NPU: why it stays on the CPU
  struct Neighbour {
    std::string tensor, what;   // `what`: the operator, "input" or "output"
    bool is_before, is_across;  // across: on the other side of the border
    i64 bytes;
  };
  std::vector<Neighbour> neighbours;
};

// In execution order, without the quantize and dequantize at the edges.
std::vector<Considered> considered_operators(const PartitionDecisions& partition);

}  // namespace deuteron
