// SPDX-License-Identifier: Apache-2.0
// A product on int16 as TFLite computes it.
#include "ops/common/int16.h"
#include "ops/common/multiplier.h"
#include "ops/mul/int16.h"

namespace deuteron {

Result<Lowered> tflite_int16_form(const Mul&, const LowerContext& c) {
  const Type &a = c.in[0], &b = c.in[1], &y = c.out[0];
  if (auto why = require_int16_pair(c)) return *why;
  const auto m =
      checked_multiplier(product_factor(a.quant, b.quant, y.quant, c.rounding, Quotient::single),
                         Ties::away, "int16x8.scale");
  if (!m) return m.why;
  return int16_pair_call("deuteron::mul_16x8", c, m->value, m->shift);
}

}  // namespace deuteron
