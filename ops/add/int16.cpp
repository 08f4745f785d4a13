// Addition on int16: both factors share a shift, the largest with which no sum leaves int32.
#include "ops/add/int16.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/add_s16/kernel.h"
#include "ops/integer/bounds.h"
#include "ops/integer/int16.h"

namespace deuteron {

Result<Lowered> int16_form(const Add& op, const LowerContext& c) {
  const Type &a = c.in[0], &b = c.in[1], &y = c.out[0];
  for (const Type* t : {&a, &b, &y})
    if (auto why = require_int16(*t)) return *why;
  if (a.shape != b.shape) return Refusal{"the operands' shapes must be equal", to_text(a.shape), to_text(b.shape), "int16.add.shape"};
  const double x = static_cast<double>(a.quant.scale[0]) / y.quant.scale[0];
  const double other = static_cast<double>(b.quant.scale[0]) * op.alpha / y.quant.scale[0];
  for (i64 shift = 30; shift >= 1; --shift) {
    const double scale = std::exp2(static_cast<double>(shift)), fx = std::nearbyint(x * scale), fo = std::nearbyint(other * scale);
    if (std::abs(fx) > 65535 || std::abs(fo) > 65535 || why_not_add_s16(static_cast<i64>(fx), static_cast<i64>(fo), shift)) continue;
    const StepRange range = step_range(op.bounds, y.quant);
    CallBuilder call("deuteron::add_s16", c.in.size(), 1);
    call.in(0, elementwise_face(a.shape)).in(1, elementwise_face(b.shape));
    call.integer(static_cast<i64>(fx)).integer(static_cast<i64>(fo)).integer(shift).integer(range.low).integer(range.high);
    call.out(0, elementwise_face(y.shape)).may_share(0, 0).may_share(0, 1);
    return call.done();
  }
  return Refusal{"the result's scale is too fine for the operands'", fmt::format("{:g}", std::max(std::abs(x), std::abs(other))),
                 "less than 16384", "int16.add.scale"};
}

}  // namespace deuteron
