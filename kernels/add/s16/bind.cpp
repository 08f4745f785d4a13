// SPDX-License-Identifier: Apache-2.0
// deuteron::add_s16: its arguments checked once, at load.
#include "kernels/add/s16/kernel.h"
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"

namespace deuteron {

DEUTERON_FIELDS(AddS16Args, count, x_factor, other_factor, shift, y_min, y_max)

namespace {

enum { kX, kOther, kXFactor, kOtherFactor, kShift };
using Args = AddS16Args;
constexpr Argument kRow[] = {input(Is::s16, DEUTERON_FIELD(count)),
                             input(Is::s16_like),
                             number(Is::any),
                             number(Is::any),
                             number(Is::any),
                             number(Is::wide_step, DEUTERON_FIELD(y_min)),
                             number(Is::wide_step_max, DEUTERON_FIELD(y_max)),
                             output(Is::s16_like)};

bool more(const Call& call, Args& a, Status* why) {
  const int64_t x_factor = call.integer(kXFactor), other_factor = call.integer(kOtherFactor),
                shift = call.integer(kShift);
  if (const char* words = why_not_add_s16(x_factor, other_factor, shift))
    return refuse(why, kShift, words);
  a.x_factor = static_cast<int32_t>(x_factor), a.other_factor = static_cast<int32_t>(other_factor);
  a.shift = static_cast<int32_t>(shift);
  return true;
}

}  // namespace

const Kernel kAddS16 =
    kernel_and<kRow, Args, more, add_s16, add_s16_mve>("deuteron::add_s16.out", kInPlace);

}  // namespace deuteron
