// SPDX-License-Identifier: Apache-2.0
#include "ops/common/int16.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace deuteron {

std::optional<Refusal> require_int16(const Type& t) {
  if (t.dtype == DType::s16 && !t.quant.empty() && !t.quant.per_channel() &&
      t.quant.zero_point[0] == 0)
    return std::nullopt;
  return Refusal{"an operand or the result is not int16 with one scale and zero point 0",
                 to_text(t), "s16 with scale and zero point 0", "int16.steps"};
}

std::optional<Refusal> require_int16(const LowerContext& c) {
  for (const TypeView types : {c.in, c.out})
    for (size_t k = 0; k < types.size(); ++k)
      if (auto why = require_int16(types[k])) return why;
  return std::nullopt;
}

std::optional<Refusal> require_int16_pair(const LowerContext& c) {
  if (auto why = require_int16(c)) return why;
  if (c.in[0].shape == c.in[1].shape) return std::nullopt;
  return Refusal{"the operands' shapes must be equal", to_text(c.in[0].shape),
                 to_text(c.in[1].shape), "int16x8.shape"};
}

Lowered int16_pair_call(std::string kernel, const LowerContext& c, i32 multiplier, i32 shift) {
  const Type& y = c.out[0];
  CallBuilder call(std::move(kernel), c.in.size(), 1);
  for (i64 k = 0; k < 2; ++k) call.in(k, elementwise_face(c.in[static_cast<size_t>(k)].shape));
  call.integer(multiplier).integer(shift).integer(y.quant.low).integer(y.quant.high);
  call.out(0, elementwise_face(y.shape));
  for (i64 k = 0; k < 2; ++k)
    if (c.in[static_cast<size_t>(k)].shape == y.shape) call.may_share(0, k);
  return call.done();
}

std::optional<Int16Factor> int16_product_factor(double factor) {
  int exponent = 0;
  i64 value = std::llround(std::ldexp(std::frexp(factor, &exponent), 31));
  if (value > std::numeric_limits<i32>::max()) value /= 2, ++exponent;
  if (!(factor > 0) || exponent > 0 || exponent < -30) return std::nullopt;
  return Int16Factor{static_cast<i32>(value), -exponent};
}

}  // namespace deuteron
