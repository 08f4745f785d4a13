// SPDX-License-Identifier: Apache-2.0
// deuteron::sum: its arguments checked once, at load. Both tensors are met in the order in which
// they lie in memory.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare.h"
#include "kernels/reduce/kernel.h"
#include "runtime/instruction_set.h"

namespace deuteron {

DEUTERON_FIELDS(SumArgs, outer, slice, inner, x_zero, y_zero, multiplier, shift, low, high)

namespace {

enum { kX, kInner, kXZero, kYZero, kMultiplier, kShift, kLow, kHigh, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut);
  if (x.type != ScalarType::s8) return bad_argument(kX, "must be int8");
  if (y.type != ScalarType::s8) return bad_argument(kOut, "must be int8");
  for (const int zero : {kXZero, kYZero})
    if (!is_s8(call.integer(zero))) return bad_argument(zero, "must be int8");
  if (!is_multiplier(call.integer(kMultiplier)))
    return bad_argument(kMultiplier, "is out of range");
  if (!is_shift(call.integer(kShift))) return bad_argument(kShift, "must be -31..30");
  const int64_t low = call.integer(kLow), high = call.integer(kHigh);
  if (!is_s8(low) || !is_s8(high) || low > high)
    return bad_argument(kLow, "must be int8, and not above the other bound");
  if (y.numel == 0) return keep_nothing(prepared);
  const int64_t inner = call.integer(kInner);
  if (inner < 1 || y.numel % inner != 0)
    return bad_argument(kInner, "must divide the elements of the result");
  if (x.numel == 0 || x.numel % y.numel != 0)
    return bad_argument(kX, "must have as many elements for each of the result");
  const int32_t slice = x.numel / y.numel;
  if (slice > most_summed(call.integer(kShift)))
    return bad_argument(kX, "has slices too long for sums within int32");
  const SumArgs a{static_cast<int32_t>(y.numel / inner),
                  slice,
                  static_cast<int32_t>(inner),
                  static_cast<int32_t>(call.integer(kXZero)),
                  static_cast<int32_t>(call.integer(kYZero)),
                  static_cast<int32_t>(call.integer(kMultiplier)),
                  static_cast<int32_t>(call.integer(kShift)),
                  static_cast<int32_t>(low),
                  static_cast<int32_t>(high)};
  const auto* from = static_cast<const int8_t*>(x.data);
  auto* to = static_cast<int8_t*>(y.data);
  if (serves<Feature::mve, why_not_sum_mve>(call, a))
    return keep_for<Feature::mve, sum_s8_mve>(call, prepared, a, from, to);
  return keep_fastest<sum_s8, sum_s8, sum_s8_dsp, sum_s8_scalar>(call, prepared, a, from, to);
}

}  // namespace

const Kernel kSum = {"deuteron::sum.out", "TIIIIIIIO", prepare};

}  // namespace deuteron
