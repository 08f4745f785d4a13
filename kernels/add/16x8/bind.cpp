// SPDX-License-Identifier: Apache-2.0
// deuteron::add_16x8 and deuteron::shifted_add_16x8: their arguments checked once, at load.
#include "kernels/add/16x8/kernel.h"
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_s16.h"

namespace deuteron {

DEUTERON_FIELDS(Add16x8Args, count, x_multiplier, x_shift, other_multiplier, other_shift,
                y_multiplier, y_shift, y_min, y_max)
DEUTERON_FIELDS(ShiftedAdd16x8Args, count, x_shift, other_shift, sign, y_min, y_max)

namespace {

Status why_not_tensors(const Call& call, int out) {
  const Tensor &x = call.tensor(0), &other = call.tensor(1), &y = call.tensor(out);
  for (const int i : {0, 1, out})
    if (const char* why = why_not_s16(call.tensor(i))) return bad_argument(i, why);
  if (!same_layout(x, other))
    return bad_argument(1, "must have the sizes and the order of the first");
  if (!same_layout(x, y))
    return bad_argument(out, "must have the sizes and the order of the operands");
  return Status{};
}

enum {
  kX,
  kOther,
  kXMultiplier,
  kXShift,
  kOtherMultiplier,
  kOtherShift,
  kYMultiplier,
  kYShift,
  kYMin,
  kYMax,
  kOut
};

Status prepare_add(Call& call, Prepared* prepared) {
  if (Status s = why_not_tensors(call, kOut); !s.ok()) return s;
  for (const int multiplier : {int{kXMultiplier}, int{kOtherMultiplier}, int{kYMultiplier}}) {
    if (!is_multiplier(call.integer(multiplier)))
      return bad_argument(multiplier, "is out of range");
    if (!is_shift(call.integer(multiplier + 1)))
      return bad_argument(multiplier + 1, "must be -31..30");
  }
  const auto number = [&](int i) { return static_cast<int32_t>(call.integer(i)); };
  Add16x8Args a{call.tensor(kX).numel,
                number(kXMultiplier),
                number(kXShift),
                number(kOtherMultiplier),
                number(kOtherShift),
                number(kYMultiplier),
                number(kYShift),
                0,
                0};
  if (Status s = read_bounds_s16(call, kYMin, &a.y_min, &a.y_max); !s.ok()) return s;
  return keep<add_16x8>(call, prepared, a, static_cast<const int16_t*>(call.tensor(kX).data),
                        static_cast<const int16_t*>(call.tensor(kOther).data),
                        static_cast<int16_t*>(call.tensor(kOut).data));
}

enum { kShiftOfX = 2, kShiftOfOther, kSign, kShiftedMin, kShiftedMax, kShiftedOut };

Status prepare_shifted(Call& call, Prepared* prepared) {
  if (Status s = why_not_tensors(call, kShiftedOut); !s.ok()) return s;
  for (const int shift : {int{kShiftOfX}, int{kShiftOfOther}})
    if (!lies_in(call.integer(shift), 0, 15)) return bad_argument(shift, "must be 0..15");
  const int64_t sign = call.integer(kSign);
  if (sign != 1 && sign != -1) return bad_argument(kSign, "must be 1 or -1");
  ShiftedAdd16x8Args a{call.tensor(kX).numel,
                       static_cast<int32_t>(call.integer(kShiftOfX)),
                       static_cast<int32_t>(call.integer(kShiftOfOther)),
                       static_cast<int32_t>(sign),
                       0,
                       0};
  if (Status s = read_bounds_s16(call, kShiftedMin, &a.y_min, &a.y_max); !s.ok()) return s;
  return keep<shifted_add_16x8>(call, prepared, a,
                                static_cast<const int16_t*>(call.tensor(kX).data),
                                static_cast<const int16_t*>(call.tensor(kOther).data),
                                static_cast<int16_t*>(call.tensor(kShiftedOut).data));
}

}  // namespace

const Kernel kAdd16x8 = {"deuteron::add_16x8.out", "TTIIIIIIIIO", prepare_add, true};
const Kernel kShiftedAdd16x8 = {"deuteron::shifted_add_16x8.out", "TTIIIIIO", prepare_shifted,
                                true};

}  // namespace deuteron
