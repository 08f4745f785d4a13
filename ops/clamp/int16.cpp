// SPDX-License-Identifier: Apache-2.0
// A sum of the operand and nothing of it.
#include "ops/clamp/int16.h"

#include "ops/add/lower_s16.h"
#include "ops/common/int16.h"
#include "ops/common/rescale_16x8.h"

namespace deuteron {

Result<Lowered> int16_form(const Clamp& a, const LowerContext& c) {
  const Type &x = c.in[0], &y = c.out[0];
  if (auto why = require_int16(c)) return *why;
  return lower_sum_s16(0, static_cast<double>(x.quant.scale[0]) / y.quant.scale[0], 0, 0, a.bounds,
                       c);
}

// TFLite's RELU and its like divide scales in float32, its QUANTIZE in double.
Result<Lowered> tflite_int16_form(const Clamp& a, const LowerContext& c) {
  const float x = c.in[0].quant.scale[0], y = c.out[0].quant.scale[0];
  const double factor = a.bounds.none() ? static_cast<double>(x) / y : static_cast<double>(x / y);
  return lower_rescale_16x8(c, factor, factor, a.bounds);
}

}  // namespace deuteron
