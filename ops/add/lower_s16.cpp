// SPDX-License-Identifier: Apache-2.0
// Both factors share a shift, the largest with which no sum leaves int32.
#include "ops/add/lower_s16.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/add/s16/kernel.h"
#include "ops/common/bounds.h"

namespace deuteron {

Result<Lowered> lower_sum_s16(size_t a, double a_factor, size_t b, double b_factor,
                              const Bounds& bounds, const LowerContext& c) {
  const Type& y = c.out[0];
  for (i64 shift = 30; shift >= 1; --shift) {
    const double scale = std::exp2(static_cast<double>(shift)),
                 fa = std::nearbyint(a_factor * scale), fb = std::nearbyint(b_factor * scale);
    if (std::abs(fa) > 65535 || std::abs(fb) > 65535 ||
        why_not_add_s16(static_cast<i64>(fa), static_cast<i64>(fb), shift))
      continue;
    const StepRange range = step_range(bounds, y.quant);
    CallBuilder call("deuteron::add_s16", c.in.size(), 1);
    call.in(a, elementwise_face(c.in[a].shape)).in(b, elementwise_face(c.in[b].shape));
    call.integer(static_cast<i64>(fa))
        .integer(static_cast<i64>(fb))
        .integer(shift)
        .integer(range.low)
        .integer(range.high);
    call.out(0, elementwise_face(y.shape)).may_share(0, a);
    if (a != b) call.may_share(0, b);
    return call.done();
  }
  return Refusal{"the result's scale is too fine for the operands'",
                 fmt::format("{:g}", std::max(std::abs(a_factor), std::abs(b_factor))),
                 "less than 16384", "int16.add.scale"};
}

}  // namespace deuteron
