// SPDX-License-Identifier: Apache-2.0
// deuteron::rescale_16x8: its arguments checked once, at load. The tensors' types say which kernel
// it is.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_s16.h"
#include "kernels/requantize/16x8/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(Rescale16x8Args, count, x_zero, multiplier, shift, below_multiplier, below_shift,
                y_zero, y_min, y_max)

namespace {

enum { kX, kXZero, kMultiplier, kShift, kBelowMultiplier, kBelowShift, kYZero, kYMin, kYMax, kOut };

const char* why_not_steps_of(const Tensor& t) {
  return t.type == ScalarType::s8 ? nullptr : why_not_s16(t);
}

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut);
  for (const int i : {int{kX}, int{kOut}})
    if (const char* why = why_not_steps_of(call.tensor(i))) return bad_argument(i, why);
  const bool from_s8 = x.type == ScalarType::s8, to_s8 = y.type == ScalarType::s8;
  if (from_s8 && to_s8) return bad_argument(kOut, "must be int16 where the operand is int8");
  if (!same_layout(x, y))
    return bad_argument(kOut, "must have the sizes and the order of the operand");
  if (from_s8 ? !is_s8(call.integer(kXZero)) : !is_s16(call.integer(kXZero)))
    return bad_argument(kXZero, "must be a step of the operand");
  if (to_s8 ? !is_s8(call.integer(kYZero)) : call.integer(kYZero) != 0)
    return bad_argument(kYZero, "must be int8, and 0 beside int16");
  for (const int multiplier : {int{kMultiplier}, int{kBelowMultiplier}}) {
    if (!is_multiplier(call.integer(multiplier)))
      return bad_argument(multiplier, "is out of range");
    if (!is_shift(call.integer(multiplier + 1)))
      return bad_argument(multiplier + 1, "must be -31..30");
  }
  const auto number = [&](int i) { return static_cast<int32_t>(call.integer(i)); };
  Rescale16x8Args a{x.numel,
                    number(kXZero),
                    number(kMultiplier),
                    number(kShift),
                    number(kBelowMultiplier),
                    number(kBelowShift),
                    number(kYZero),
                    0,
                    0};
  if (Status s = read_bounds_s16(call, kYMin, &a.y_min, &a.y_max); !s.ok()) return s;
  if (to_s8 && !is_s8(a.y_min)) return bad_argument(kYMin, "must be int8");
  if (to_s8 && !is_s8(a.y_max)) return bad_argument(kYMax, "must be int8");
  if (to_s8)
    return keep<rescale_16x8_to_s8>(call, prepared, a, static_cast<const int16_t*>(x.data),
                                    static_cast<int8_t*>(y.data));
  auto* to = static_cast<int16_t*>(y.data);
  if (from_s8)
    return keep<rescale_s8_to_16x8>(call, prepared, a, static_cast<const int8_t*>(x.data), to);
  return keep<rescale_16x8>(call, prepared, a, static_cast<const int16_t*>(x.data), to);
}

}  // namespace

const Kernel kRescale16x8 = {"deuteron::rescale_16x8.out", "TIIIIIIIIO", prepare, true};

}  // namespace deuteron
