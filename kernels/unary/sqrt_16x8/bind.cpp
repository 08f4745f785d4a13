// SPDX-License-Identifier: Apache-2.0
// deuteron::sqrt_16x8: its arguments checked once, at load.
#include "kernels/common/float_argument.h"
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/unary/sqrt_16x8/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(Sqrt16x8Args, count, x_scale, y_scale)

namespace {

enum { kX, kXScale, kYScale };
using Args = Sqrt16x8Args;
constexpr Argument kRow[] = {input(Is::s16, DEUTERON_FIELD(count)), real(), real(),
                             output(Is::s16_like)};

bool more(const Call& call, Args& a, Status* why) {
  a.x_scale = float_argument(call, kXScale), a.y_scale = float_argument(call, kYScale);
  if (!is_positive_finite(a.x_scale)) return refuse(why, kXScale, "must be positive and finite");
  return is_positive_finite(a.y_scale) || refuse(why, kYScale, "must be positive and finite");
}

}  // namespace

const Kernel kSqrt16x8 =
    kernel_and<kRow, Args, more, sqrt_16x8>("deuteron::sqrt_16x8.out", kInPlace);

}  // namespace deuteron
