// SPDX-License-Identifier: Apache-2.0
// What the int8 softmax computes with, from the scale of x: for the CPU's kernel and for the NPU's.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/common/multiplier.h"

namespace deuteron {

struct SoftmaxMultiplier {
  Multiplier input;  // a difference of steps becomes Q5.26
  i32 diff_min = 0;  // smaller differences count as nothing
};

// Source: TFLite's softmax, 5 integer bits. `beta` multiplies x.
inline Result<SoftmaxMultiplier> softmax_multiplier(const Quant& x, double beta, Ties ties,
                                                    const char* rule) {
  constexpr int kIntegerBits = 5, kFractionBits = 31 - kIntegerBits;
  const double factor =
      std::min(static_cast<double>(x.scale[0]) * beta * (1 << kFractionBits), 1073741823.0);
  const auto m = checked_multiplier(factor, ties, rule);
  if (!m) return m.why;
  if (m->value == 0 || m->shift < 0)
    return Refusal{"the scale of x is too small", fmt::format("{:g}", x.scale[0]), "2^-26", rule};
  const double radius =
      std::floor(((1 << kIntegerBits) - 1) * std::ldexp(1.0, kFractionBits - m->shift));
  return SoftmaxMultiplier{*m, static_cast<i32>(-std::min(radius, 2147483647.0))};
}

}  // namespace deuteron
