// SPDX-License-Identifier: Apache-2.0
// What the int8 parametric rectifier computes with, as TFLite's PRELU prepares it.
//   v = a - x_zero;   y = y_zero + (v >= 0 ? rq(positive, v) : rq(negative, v * (s - slope_zero)))
#pragma once
#include "kernels/integer/requantize.h"
#include "ops/common/multiplier.h"

namespace deuteron {

struct PreluMultipliers {
  Multiplier positive, negative;
};

inline Result<PreluMultipliers> prelu_multipliers(const Quant& x, const Quant& slope,
                                                  const Quant& y, const char* rule) {
  const float kept = x.scale[0] / y.scale[0];  // in float32, as in TFLite
  const auto positive = checked_multiplier(kept, Ties::away, rule);
  if (!positive) return positive.why;
  const auto negative = checked_multiplier(
      product_factor(x, slope, y, Rounding::tflite, Quotient::single), Ties::away, rule);
  if (!negative) return negative.why;
  return PreluMultipliers{*positive, *negative};
}

// One result, not yet held to the bounds of y.
inline i32 prelu_value(const PreluMultipliers& m, const Quant& x, const Quant& slope,
                       const Quant& y, i32 a, i32 s) {
  const i32 v = a - x.zero_point[0];
  const bool positive = v >= 0;
  const Multiplier& own = positive ? m.positive : m.negative;
  return y.zero_point[0] +
         requantize(positive ? v : v * (s - slope.zero_point[0]), own.value, own.shift);
}

}  // namespace deuteron
