// SPDX-License-Identifier: Apache-2.0
// deuteron::rescale_s32: its arguments checked once, at load. The tensors' types say which kernel
// it is.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_s16.h"
#include "kernels/requantize/s32/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(RescaleS32Args, count, x_zero, multiplier, shift, y_zero)

namespace {

enum { kX, kXZero, kMultiplier, kShift, kYZero, kOut };

int32_t bytes_of_steps(const Tensor& t) {
  return t.type == ScalarType::s8    ? 1
         : t.type == ScalarType::s16 ? 2
         : t.type == ScalarType::s32 ? 4
                                     : 0;
}

template <auto kernel, class X, class Y>
Status run_by(Call& call, Prepared* prepared, const RescaleS32Args& a) {
  return keep<kernel>(call, prepared, a, static_cast<const X*>(call.tensor(kX).data),
                      static_cast<Y*>(call.tensor(kOut).data));
}

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut);
  for (const int i : {int{kX}, int{kOut}}) {
    const int32_t bytes = bytes_of_steps(call.tensor(i));
    if (bytes == 0) return bad_argument(i, "must be int8, int16 or int32");
    if (!is_aligned(call.tensor(i), bytes)) return bad_argument(i, "must be aligned");
  }
  const bool from_s32 = x.type == ScalarType::s32, to_s32 = y.type == ScalarType::s32;
  if (from_s32 == to_s32)
    return bad_argument(kOut, "must be int32 where the operand is not, and only there");
  if (!same_layout(x, y))
    return bad_argument(kOut, "must have the sizes and the order of the operand");
  const int64_t x_zero = call.integer(kXZero), y_zero = call.integer(kYZero);
  if (from_s32 ? x_zero != 0 : x.type == ScalarType::s8 ? !is_s8(x_zero) : !is_s16(x_zero))
    return bad_argument(kXZero, "must be a step of the operand, and 0 of int32");
  if (y.type == ScalarType::s8 ? !is_s8(y_zero) : y_zero != 0)
    return bad_argument(kYZero, "must be int8, and 0 of wider steps");
  if (!lies_in(call.integer(kMultiplier), 0, INT32_MAX))
    return bad_argument(kMultiplier, "is out of range");
  if (!is_shift(call.integer(kShift))) return bad_argument(kShift, "must be -31..30");
  const auto number = [&](int i) { return static_cast<int32_t>(call.integer(i)); };
  const RescaleS32Args a{x.numel, number(kXZero), number(kMultiplier), number(kShift),
                         number(kYZero)};
  if (x.type == ScalarType::s8)
    return run_by<rescale_s8_to_s32, int8_t, int32_t>(call, prepared, a);
  if (x.type == ScalarType::s16)
    return run_by<rescale_s16_to_s32, int16_t, int32_t>(call, prepared, a);
  if (y.type == ScalarType::s8)
    return run_by<rescale_s32_to_s8, int32_t, int8_t>(call, prepared, a);
  return run_by<rescale_s32_to_s16, int32_t, int16_t>(call, prepared, a);
}

}  // namespace

const Kernel kRescaleS32 = {"deuteron::rescale_s32.out", "TIIIIO", prepare, false};

}  // namespace deuteron
