// SPDX-License-Identifier: Apache-2.0
// A quotient on int16 as TFLite computes it.
#include <fmt/format.h>

#include "ops/common/int16.h"
#include "ops/common/multiplier.h"
#include "ops/div/int16.h"

namespace deuteron {

Result<Lowered> tflite_int16_form(const Div&, const LowerContext& c) {
  // of the kernel: beyond it, quotients of the smallest steps pass int16 by far
  constexpr i32 kMostShift = 15;
  const Type &a = c.in[0], &b = c.in[1], &y = c.out[0];
  if (auto why = require_int16_pair(c)) return *why;
  const double factor =
      static_cast<double>(a.quant.scale[0] / (b.quant.scale[0] * y.quant.scale[0]));
  const auto m = checked_multiplier(factor, Ties::away, "int16x8.scale");
  if (!m) return m.why;
  if (m->shift > kMostShift)
    return Refusal{"the result's scale is too fine for the operands'", fmt::format("{:g}", factor),
                   fmt::format("{}", 1 << kMostShift), "int16x8.scale"};
  return int16_pair_call("deuteron::div_16x8", c, m->value, m->shift);
}

}  // namespace deuteron
