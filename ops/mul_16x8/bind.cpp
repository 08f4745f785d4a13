// deuteron::mul_16x8: its arguments checked once, at load.
#include "ops/device/kernels.h"
#include "ops/device/prepare_s16.h"
#include "ops/mul_16x8/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(Mul16x8Args, count, multiplier, shift, y_min, y_max)

namespace {

enum { kX, kOther, kMultiplier, kShift, kYMin, kYMax, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &other = call.tensor(kOther), &y = call.tensor(kOut);
  for (const int i : {int{kX}, int{kOther}, int{kOut}})
    if (const char* why = why_not_s16(call.tensor(i))) return bad_argument(i, why);
  if (!same_layout(x, other)) return bad_argument(kOther, "must have the sizes and the order of the first");
  if (!same_layout(x, y)) return bad_argument(kOut, "must have the sizes and the order of the operands");
  if (!lies_in(call.integer(kMultiplier), 0, INT32_MAX)) return bad_argument(kMultiplier, "is out of range");
  if (!is_shift(call.integer(kShift))) return bad_argument(kShift, "must be -31..30");
  Mul16x8Args a{x.numel, static_cast<int32_t>(call.integer(kMultiplier)), static_cast<int32_t>(call.integer(kShift)), 0, 0};
  if (Status s = read_bounds_s16(call, kYMin, &a.y_min, &a.y_max); !s.ok()) return s;
  return keep<mul_16x8>(call, prepared, a, static_cast<const int16_t*>(x.data), static_cast<const int16_t*>(other.data),
                        static_cast<int16_t*>(y.data));
}

}  // namespace

const Kernel kMul16x8 = {"deuteron::mul_16x8.out", "TTIIIIO", prepare, true};

}  // namespace deuteron
