// SPDX-License-Identifier: Apache-2.0
// deuteron::mul_s16: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/operand_pair.h"
#include "kernels/common/prepare_s16.h"
#include "kernels/mul/s16/kernel.h"
#include "runtime/instruction_set.h"

namespace deuteron {

DEUTERON_FIELDS(MulS16Args, count, period, multiplier, shift, y_min, y_max)

namespace {

enum { kX, kOther, kMultiplier, kShift, kYMin, kYMax, kOut };

Status prepare(Call& call, Prepared* prepared) {
  for (const int i : {int{kX}, int{kOther}, int{kOut}})
    if (const char* why = why_not_s16(call.tensor(i))) return bad_argument(i, why);
  OperandPair pair;
  if (Status s = meet_layouts(call, kX, kOther, kOut, &pair); !s.ok()) return s;
  if (!lies_in(call.integer(kMultiplier), 0, INT32_MAX))
    return bad_argument(kMultiplier, "is out of range");
  if (!lies_in(call.integer(kShift), 0, 30)) return bad_argument(kShift, "must be 0..30");
  MulS16Args a{pair.count,
               pair.period,
               static_cast<int32_t>(call.integer(kMultiplier)),
               static_cast<int32_t>(call.integer(kShift)),
               0,
               0};
  if (Status s = read_bounds_s16(call, kYMin, &a.y_min, &a.y_max); !s.ok()) return s;
  const auto* x = static_cast<const int16_t*>(call.tensor(pair.swapped ? kOther : kX).data);
  const auto* other = static_cast<const int16_t*>(call.tensor(pair.swapped ? kX : kOther).data);
  auto* y = static_cast<int16_t*>(call.tensor(kOut).data);
  return keep_fastest<mul_s16, mul_s16_mve>(call, prepared, a, x, other, y);
}

}  // namespace

const Kernel kMulS16 = {"deuteron::mul_s16.out", "TTIIIIO", prepare, true};

}  // namespace deuteron
