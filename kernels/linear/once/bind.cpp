// SPDX-License-Identifier: Apache-2.0
// deuteron::linear_once: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare.h"
#include "kernels/linear/once/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(LinearOnceArgs, rows, inputs, outputs, y_zero, y_min, y_max)

namespace {

enum { kX, kWeight, kFirst, kMultiplier, kShift, kYZero, kYMin, kYMax, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &weight = call.tensor(kWeight), &first = call.tensor(kFirst),
               &y = call.tensor(kOut);
  const Tensor &multiplier = call.tensor(kMultiplier), &shift = call.tensor(kShift);
  for (const int i : {int{kX}, int{kWeight}, int{kOut}})
    if (const char* why = why_not_dense(call.tensor(i), ScalarType::s8, 2))
      return bad_argument(i, why);
  LinearOnceArgs a{};
  a.rows = x.sizes[0], a.inputs = x.sizes[1], a.outputs = y.sizes[1];
  if (a.inputs > kMostOnceInputs) return bad_argument(kX, "must have at most 131071 columns");
  if (weight.sizes[1] != a.inputs)
    return bad_argument(kWeight, "must have a column for each input");
  if (weight.sizes[0] != a.outputs) return bad_argument(kWeight, "must have a row for each output");
  if (y.sizes[0] != a.rows) return bad_argument(kOut, "must have the rows of the input");
  if (const char* why = why_not_channel_sums(first, a.outputs)) return bad_argument(kFirst, why);
  if (const char* why = why_not_multipliers(multiplier, a.outputs))
    return bad_argument(kMultiplier, why);
  if (const char* why = why_not_shifts(shift, a.outputs)) return bad_argument(kShift, why);
  if (!is_s8(call.integer(kYZero))) return bad_argument(kYZero, "must be -128..127");
  if (!is_s8(call.integer(kYMin))) return bad_argument(kYMin, "must be -128..127");
  if (!lies_in(call.integer(kYMax), call.integer(kYMin), 127))
    return bad_argument(kYMax, "must be low..127");
  a.y_zero = static_cast<int32_t>(call.integer(kYZero));
  a.y_min = static_cast<int32_t>(call.integer(kYMin));
  a.y_max = static_cast<int32_t>(call.integer(kYMax));
  if (y.numel == 0) return keep_nothing(prepared);
  constexpr auto numbers = [](const Tensor& t) { return static_cast<const int32_t*>(t.data); };
  return keep_fastest<linear_once_s8, linear_once_s8_mve, linear_once_s8_dsp>(
      call, prepared, a, static_cast<const int8_t*>(x.data),
      static_cast<const int8_t*>(weight.data), numbers(first), numbers(multiplier), numbers(shift),
      static_cast<int8_t*>(y.data));
}

}  // namespace

const Kernel kLinearOnce = {"deuteron::linear_once.out", "TTTTTIIIO", prepare};

}  // namespace deuteron
