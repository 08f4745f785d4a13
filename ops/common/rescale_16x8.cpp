// SPDX-License-Identifier: Apache-2.0
#include "ops/common/rescale_16x8.h"

#include <cmath>

#include "ops/common/bounds.h"
#include "ops/common/int16.h"
#include "ops/common/multiplier.h"

namespace deuteron {

Result<Lowered> lower_rescale_16x8(const LowerContext& c, double factor, double below,
                                   const Bounds& bounds) {
  static constexpr const char* kRule = "int16x8.scale";
  const Type &x = c.in[0], &y = c.out[0];
  const auto has_steps = [](const Type& t, DType dtype) {
    return t.dtype == dtype && !t.quant.empty() && !t.quant.per_channel();
  };
  if (!has_steps(x, DType::s8) && !has_steps(x, DType::s16))  // of int16 with any zero point
    if (auto why = require_int16(x)) return *why;
  if (!has_steps(y, DType::s8))
    if (auto why = require_int16(y)) return *why;
  const auto above = checked_multiplier(factor, Ties::away, kRule),
             beneath = checked_multiplier(std::abs(below), Ties::away, kRule);
  if (!above) return above.why;
  if (!beneath) return beneath.why;
  const StepRange range = step_range(bounds, y.quant, of_bounds(c.rounding));
  CallBuilder call("deuteron::rescale_16x8", c.in.size(), 1);
  call.in(0, elementwise_face(x.shape))
      .integer(x.quant.zero_point[0])
      .integer(above->value)
      .integer(above->shift);
  call.integer(below < 0 ? -beneath->value : beneath->value)
      .integer(beneath->shift)
      .integer(y.quant.zero_point[0]);
  call.integer(range.low).integer(range.high).out(0, elementwise_face(y.shape));
  if (y.bytes() <= x.bytes()) call.may_share(0, 0);
  return call.done();
}

}  // namespace deuteron
