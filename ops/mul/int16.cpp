// SPDX-License-Identifier: Apache-2.0
#include "ops/mul/int16.h"

#include <fmt/format.h>

#include "kernels/mul/s16/kernel.h"
#include "ops/common/broadcast.h"
#include "ops/common/int16.h"

namespace deuteron {

Result<Lowered> int16_form(const Mul&, const LowerContext& c) {
  const Type &a = c.in[0], &b = c.in[1], &y = c.out[0];
  if (auto why = require_int16(c)) return *why;
  if (!kernel_broadcasts(a.shape, b.shape))
    return Refusal{"shapes must be equal, or one operand has one element for each channel",
                   to_text(a.shape), to_text(b.shape), "int16.mul.shape"};
  const double factor = static_cast<double>(a.quant.scale[0]) * b.quant.scale[0] / y.quant.scale[0];
  const std::optional<Int16Factor> f = int16_product_factor(factor);
  if (!f)
    return Refusal{"the result's scale is too fine for the operands'", fmt::format("{:g}", factor),
                   "less than 1", "int16.mul.scale"};
  return int16_pair_call("deuteron::mul_s16", c, f->multiplier, f->shift);
}

}  // namespace deuteron
