// SPDX-License-Identifier: Apache-2.0
// x op number as integers compute it, as a table: what an NPU's ADD, SUB and MUL give for every
// step of x. Where an NPU stands beside the CPU, the CPU's tables of these functions are the same,
// so that a result does not depend on the side.
#pragma once
#include <optional>
#include <vector>

#include "ops/common/pair.h"

namespace deuteron {

// One side of the pair: x itself, or one step of a constant.
struct PairSide {
  const Quant* quant;
  std::optional<i32> step;  // none: x
};

// An int8 constant of one element that stands for `value` to the last bit that a scale has.
struct NumberInSteps {
  float scale;
  i32 step;  // zero point 0
};
NumberInSteps number_in_steps(float value);

// Entry q + 128. Nothing when the scales fit no multipliers.
[[nodiscard]] std::optional<std::vector<int8_t>> pair_table(PairFn fn, const PairSide& a,
                                                            const PairSide& b, const Quant& y);

}  // namespace deuteron
