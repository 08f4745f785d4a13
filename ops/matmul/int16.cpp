// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul/int16.h"

#include <fmt/format.h>

#include <cmath>

#include "ops/common/int16.h"

namespace deuteron {

Result<Lowered> int16_form(const Matmul& a, const LowerContext& c) {
  const Type &x = c.in[0], &other = c.in[1], &y = c.out[0];
  if (auto why = require_int16(c)) return *why;
  i32 first = 0;  // brings a sum to 31 bits
  while (first < 30 && x.shape[2] > i64{1} << first) ++first;
  const double factor =
      static_cast<double>(x.quant.scale[0]) * other.quant.scale[0] * a.scale / y.quant.scale[0];
  const std::optional<Int16Factor> f = int16_product_factor(std::ldexp(factor, first));
  if (!f)
    return Refusal{"the result's scale is too fine for the operands'", fmt::format("{:g}", factor),
                   fmt::format("less than {:g}", std::ldexp(1.0, -first)), "int16.matmul.scale"};
  CallBuilder call("deuteron::matmul_s16", c.in.size(), 1);
  call.in(0, plain_face(x.shape))
      .in(1, plain_face(other.shape))
      .integer(first)
      .integer(f->multiplier)
      .integer(f->shift);
  call.integer(y.quant.low).integer(y.quant.high).out(0, plain_face(y.shape));
  return call.done();
}

}  // namespace deuteron
