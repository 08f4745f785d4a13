// SPDX-License-Identifier: Apache-2.0
#include "ops/unary/pair_table.h"

#include <algorithm>
#include <cmath>

namespace deuteron {

NumberInSteps number_in_steps(float value) {
  return {value == 0 ? 1.0f : std::fabs(value) / 127, value == 0 ? 0 : value > 0 ? 127 : -127};
}

std::optional<std::vector<int8_t>> pair_table(PairFn fn, const PairSide& a, const PairSide& b,
                                              const Quant& y) {
  const auto m = pair_multipliers(fn, *a.quant, *b.quant, y, Rounding::tflite, "");
  if (!m) return std::nullopt;
  std::vector<int8_t> table(256);
  for (i32 q = -128; q <= 127; ++q)
    table[static_cast<size_t>(q + 128)] = static_cast<int8_t>(std::clamp(
        pair_value(fn, *m, *a.quant, *b.quant, y, a.step.value_or(q), b.step.value_or(q)), y.low,
        y.high));
  return table;
}

}  // namespace deuteron
