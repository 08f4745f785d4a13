// SPDX-License-Identifier: Apache-2.0
// deuteron::add_s16: its arguments checked once, at load.
#include "kernels/add/s16/kernel.h"
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_s16.h"
#include "runtime/instruction_set.h"

namespace deuteron {

DEUTERON_FIELDS(AddS16Args, count, x_factor, other_factor, shift, y_min, y_max)

namespace {

enum { kX, kOther, kXFactor, kOtherFactor, kShift, kYMin, kYMax, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &other = call.tensor(kOther), &y = call.tensor(kOut);
  for (const int i : {int{kX}, int{kOther}, int{kOut}})
    if (const char* why = why_not_s16(call.tensor(i))) return bad_argument(i, why);
  if (!same_layout(x, other))
    return bad_argument(kOther, "must have the sizes and the order of the first");
  if (!same_layout(x, y))
    return bad_argument(kOut, "must have the sizes and the order of the operands");
  const int64_t x_factor = call.integer(kXFactor), other_factor = call.integer(kOtherFactor),
                shift = call.integer(kShift);
  if (const char* why = why_not_add_s16(x_factor, other_factor, shift))
    return bad_argument(kShift, why);
  AddS16Args a{x.numel,
               static_cast<int32_t>(x_factor),
               static_cast<int32_t>(other_factor),
               static_cast<int32_t>(shift),
               0,
               0};
  if (Status s = read_bounds_s16(call, kYMin, &a.y_min, &a.y_max); !s.ok()) return s;
  const auto* from = static_cast<const int16_t*>(x.data);
  const auto* more = static_cast<const int16_t*>(other.data);
  auto* to = static_cast<int16_t*>(y.data);
  return keep_fastest<add_s16, add_s16_mve>(call, prepared, a, from, more, to);
}

}  // namespace

const Kernel kAddS16 = {"deuteron::add_s16.out", "TTIIIIIO", prepare, true};

}  // namespace deuteron
