// SPDX-License-Identifier: Apache-2.0
// Outputs that an operator with fixed steps makes (softmax, sigmoid, tanh), and what it reads.
// Where such an output lies near its bound, nothing shows in it of what quantization does to the
// network: a picture that is certain comes out as 255/256 whatever its logits lost. Another one,
// which is not certain, shows it. So those who compare networks look before the operator, too. The
// same goes for a network with integers alone, such as an argmax, which have no error in dB.
#pragma once
#include <limits>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace deuteron {

// Of one output. With quantize, dequantize and reshapes on the way or not: a float graph and what
// becomes of it have the same.
struct BoundedOutput {
  ValueId read;                                         // the operand
  Shape shape;                                          // of the operand
  i64 softmax_axis;                                     // -1: another operator
  float low = -std::numeric_limits<float>::infinity();  // softmax sees nothing below
};

// In the order of the outputs; those of other operators are left out. The same value twice where
// two outputs come from it.
std::vector<BoundedOutput> bounded_outputs(const Graph& graph);

// Lowers `low`, which begins at infinity, to what softmax sees of these numbers.
void see_lowest(BoundedOutput& output, std::span<const float> x);

// Takes from x what the output cannot depend on: softmax answers the same when all numbers along
// its axis move alike, and sees nothing of those that lie far below the largest.
void forget_what_is_not_seen(const BoundedOutput& output, std::vector<float>& x);

}  // namespace deuteron
