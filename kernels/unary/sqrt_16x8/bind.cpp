// SPDX-License-Identifier: Apache-2.0
// deuteron::sqrt_16x8: its arguments checked once, at load.
#include "kernels/common/float_argument.h"
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_s16.h"
#include "kernels/unary/sqrt_16x8/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(Sqrt16x8Args, count, x_scale, y_scale)

namespace {

enum { kX, kXScale, kYScale, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut);
  for (const int i : {int{kX}, int{kOut}})
    if (const char* why = why_not_s16(call.tensor(i))) return bad_argument(i, why);
  if (!same_layout(x, y))
    return bad_argument(kOut, "must have the sizes and the order of the operand");
  for (const int scale : {int{kXScale}, int{kYScale}})
    if (const float v = float_argument(call, scale); !(v > 0 && v <= 3.4028234e38f))
      return bad_argument(scale, "must be positive and finite");
  const Sqrt16x8Args a{x.numel, float_argument(call, kXScale), float_argument(call, kYScale)};
  return keep<sqrt_16x8>(call, prepared, a, static_cast<const int16_t*>(x.data),
                         static_cast<int16_t*>(y.data));
}

}  // namespace

const Kernel kSqrt16x8 = {"deuteron::sqrt_16x8.out", "TFFO", prepare, true};

}  // namespace deuteron
