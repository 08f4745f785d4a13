// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_mul: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/operand_pair.h"
#include "kernels/common/prepare.h"
#include "kernels/mul/kernel.h"
#include "runtime/instruction_set.h"

namespace deuteron {

DEUTERON_FIELDS(MulArgs, count, period, x_zero, other_zero, y_zero, multiplier, shift)

namespace {

enum { kX, kXZero, kOther, kOtherZero, kYZero, kMultiplier, kShift, kOut };

Status prepare(Call& call, Prepared* prepared) {
  OperandPair pair;
  if (Status s = meet(call, kX, kOther, kOut, &pair); !s.ok()) return s;
  constexpr int kZeros[] = {kXZero, kOtherZero, kYZero};
  for (const int zero : kZeros)
    if (!lies_in(call.integer(zero), INT16_MIN, INT16_MAX))
      return bad_argument(zero, "must be -32768..32767");
  if (!is_multiplier(call.integer(kMultiplier)))
    return bad_argument(kMultiplier, "is out of range");
  if (!is_shift(call.integer(kShift))) return bad_argument(kShift, "must be -31..30");
  const MulArgs a{pair.count,
                  pair.period,
                  static_cast<int32_t>(call.integer(pair.swapped ? kOtherZero : kXZero)),
                  static_cast<int32_t>(call.integer(pair.swapped ? kXZero : kOtherZero)),
                  static_cast<int32_t>(call.integer(kYZero)),
                  static_cast<int32_t>(call.integer(kMultiplier)),
                  static_cast<int32_t>(call.integer(kShift))};
  const auto* x = static_cast<const int8_t*>(call.tensor(pair.swapped ? kOther : kX).data);
  const auto* other = static_cast<const int8_t*>(call.tensor(pair.swapped ? kX : kOther).data);
  auto* y = static_cast<int8_t*>(call.tensor(kOut).data);
  if (serves<Feature::mve, why_not_mul_mve>(call, a))
    return keep_for<Feature::mve, mul_s8_mve>(call, prepared, a, x, other, y);
  if (serves<Feature::dsp, why_not_mul_words>(call, a))
    return keep_for<Feature::dsp, mul_s8_dsp>(call, prepared, a, x, other, y);
  if (serves<Feature::scalar, why_not_mul_words>(call, a))
    return keep_for<Feature::scalar, mul_s8_scalar>(call, prepared, a, x, other, y);
  return keep<mul_s8>(call, prepared, a, x, other, y);
}

}  // namespace

const Kernel kQuantizedMul = {"cortex_m::quantized_mul.out", "TITIIIIO", prepare, true};

}  // namespace deuteron
