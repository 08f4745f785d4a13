// SPDX-License-Identifier: Apache-2.0
// A quotient on int16 as TFLite computes it.
#include <fmt/format.h>

#include "ops/common/int16.h"
#include "ops/common/multiplier.h"
#include "ops/div/int16.h"

namespace deuteron {

Result<Lowered> tflite_int16_form(const Div&, const LowerContext& c) {
  constexpr i32 kMostShift =
      15;  // of the kernel: beyond it, quotients of the smallest steps pass int16 by far
  const Type &a = c.in[0], &b = c.in[1], &y = c.out[0];
  for (const Type* t : {&a, &b, &y})
    if (auto why = require_int16(*t)) return *why;
  if (a.shape != b.shape)
    return Refusal{"the operands' shapes must be equal", to_text(a.shape), to_text(b.shape),
                   "int16x8.shape"};
  const double factor =
      static_cast<double>(a.quant.scale[0] / (b.quant.scale[0] * y.quant.scale[0]));
  const auto m = checked_multiplier(factor, Ties::away, "int16x8.scale");
  if (!m) return m.why;
  if (m->shift > kMostShift)
    return Refusal{"the result's scale is too fine for the operands'", fmt::format("{:g}", factor),
                   fmt::format("{}", 1 << kMostShift), "int16x8.scale"};
  CallBuilder call("deuteron::div_16x8", c.in.size(), 1);
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
