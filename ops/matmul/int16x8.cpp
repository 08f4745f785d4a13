// SPDX-License-Identifier: Apache-2.0
// A matrix product on int16 as TFLite computes it.
#include "ops/common/int16.h"
#include "ops/common/layer_16x8.h"
#include "ops/common/multiplier.h"
#include "ops/matmul/int16.h"

namespace deuteron {

Result<Lowered> tflite_int16_form(const Matmul& a, const LowerContext& c) {
  const Type &x = c.in[0], &other = c.in[1], &y = c.out[0];
  if (auto why = require_int16(c)) return *why;
  const auto m = wide_multiplier(
      product_factor(x.quant, other.quant, y.quant, c.rounding, Quotient::wide, a.scale),
      "int16x8.scale");
  if (!m) return m.why;
  CallBuilder call("deuteron::matmul_16x8", c.in.size(), 1);
  call.in(0, plain_face(x.shape))
      .in(1, plain_face(other.shape))
      .integer(m->value)
      .integer(m->shift);
  call.integer(y.quant.low).integer(y.quant.high).out(0, plain_face(y.shape));
  return call.done();
}

}  // namespace deuteron
