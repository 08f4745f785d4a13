// SPDX-License-Identifier: Apache-2.0
#include "ops/add/int16.h"

#include "ops/add/lower_s16.h"
#include "ops/common/int16.h"

namespace deuteron {

Result<Lowered> int16_form(const Add& op, const LowerContext& c) {
  const Type &a = c.in[0], &b = c.in[1], &y = c.out[0];
  if (auto why = require_int16(c)) return *why;
  if (a.shape != b.shape)
    return Refusal{"the operands' shapes must be equal", to_text(a.shape), to_text(b.shape),
                   "int16.add.shape"};
  const double y_scale = y.quant.scale[0];
  return lower_sum_s16(0, a.quant.scale[0] / y_scale, 1,
                       static_cast<double>(b.quant.scale[0]) * op.alpha / y_scale, op.bounds, c);
}

}  // namespace deuteron
