// SPDX-License-Identifier: Apache-2.0
// A product on int16 as TFLite computes it.
#include "ops/common/int16.h"
#include "ops/common/multiplier.h"
#include "ops/mul/int16.h"

namespace deuteron {

Result<Lowered> tflite_int16_form(const Mul&, const LowerContext& c) {
  const Type &a = c.in[0], &b = c.in[1], &y = c.out[0];
  for (const Type* t : {&a, &b, &y})
    if (auto why = require_int16(*t)) return *why;
  if (a.shape != b.shape)
    return Refusal{"the operands' shapes must be equal", to_text(a.shape), to_text(b.shape),
                   "int16x8.shape"};
  const auto m =
      checked_multiplier(product_factor(a.quant, b.quant, y.quant, c.rounding, Quotient::single),
                         Ties::away, "int16x8.scale");
  if (!m) return m.why;
  CallBuilder call("deuteron::mul_16x8", c.in.size(), 1);
  call.in(0, elementwise_face(a.shape))
      .in(1, elementwise_face(b.shape))
      .integer(m->value)
      .integer(m->shift);
  call.integer(y.quant.low)
      .integer(y.quant.high)
      .out(0, elementwise_face(y.shape))
      .may_share(0, 0)
      .may_share(0, 1);
  return call.done();
}

}  // namespace deuteron
