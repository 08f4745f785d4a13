// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_div: its arguments checked once, at load. output_scale is the whole factor
// from quotients of steps to steps.
#include "kernels/common/float_argument.h"
#include "kernels/common/kernels.h"
#include "kernels/common/prepare.h"
#include "kernels/div/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(DivArgs, count, x_zero, other_zero, y_zero, scale)

namespace {

enum { kX, kXZero, kOther, kOtherZero, kYZero, kScale, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &other = call.tensor(kOther), &y = call.tensor(kOut);
  const bool wide = y.type == ScalarType::s16;
  const int64_t least = wide ? INT16_MIN : INT8_MIN, most = wide ? INT16_MAX : INT8_MAX;
  if (y.type != ScalarType::s8 && !wide) return bad_argument(kOut, "must be int8 or int16");
  constexpr int kTensors[] = {kX, kOther, kOut};
  for (const int t : kTensors) {
    if (call.tensor(t).type != y.type) return bad_argument(t, "must have the dtype of the output");
    if (!is_aligned(call.tensor(t), wide ? 2 : 1)) return bad_argument(t, "must be 2-aligned");
  }
  if (!same_layout(x, other))
    return bad_argument(kOther, "must have the sizes and the order of the first");
  if (!same_layout(x, y))
    return bad_argument(kOut, "must have the sizes and the order of the input");
  constexpr int kZeros[] = {kXZero, kOtherZero, kYZero};
  for (const int zero : kZeros)
    if (!lies_in(call.integer(zero), least, most))
      return bad_argument(zero, "must be within the dtype");
  const float scale = float_argument(call, kScale);
  if (!(scale >= -3.4028234e38f && scale <= 3.4028234e38f))
    return bad_argument(kScale, "must be finite");
  const DivArgs a{x.numel, static_cast<int32_t>(call.integer(kXZero)),
                  static_cast<int32_t>(call.integer(kOtherZero)),
                  static_cast<int32_t>(call.integer(kYZero)), scale};
  if (wide)
    return keep<div_s16>(call, prepared, a, static_cast<const int16_t*>(x.data),
                         static_cast<const int16_t*>(other.data), static_cast<int16_t*>(y.data));
  return keep<div_s8>(call, prepared, a, static_cast<const int8_t*>(x.data),
                      static_cast<const int8_t*>(other.data), static_cast<int8_t*>(y.data));
}

}  // namespace

const Kernel kQuantizedDiv = {"cortex_m::quantized_div.out", "TITIIFO", prepare, true};

}  // namespace deuteron
