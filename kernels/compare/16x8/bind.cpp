// SPDX-License-Identifier: Apache-2.0
// deuteron::compared_16x8: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_s16.h"
#include "kernels/compare/16x8/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(Compared16x8Args, count, multiplier, shift)

namespace {

enum { kX, kMultiplier, kShift, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut);
  if (const char* why = why_not_s16(x)) return bad_argument(kX, why);
  if (y.type != ScalarType::s32) return bad_argument(kOut, "must be int32");
  if (!is_aligned(y, 4)) return bad_argument(kOut, "must be 4-aligned");
  if (!same_layout(x, y))
    return bad_argument(kOut, "must have the sizes and the order of the operand");
  if (!lies_in(call.integer(kMultiplier), 0, INT32_MAX))
    return bad_argument(kMultiplier, "is out of range");
  if (!lies_in(call.integer(kShift), -31, 0)) return bad_argument(kShift, "must be -31..0");
  const Compared16x8Args a{x.numel, static_cast<int32_t>(call.integer(kMultiplier)),
                           static_cast<int32_t>(call.integer(kShift))};
  return keep<compared_16x8>(call, prepared, a, static_cast<const int16_t*>(x.data),
                             static_cast<int32_t*>(y.data));
}

}  // namespace

const Kernel kCompared16x8 = {"deuteron::compared_16x8.out", "TIIO", prepare, true};

}  // namespace deuteron
