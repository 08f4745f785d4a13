// SPDX-License-Identifier: Apache-2.0
// deuteron::add_16x8 and deuteron::shifted_add_16x8: their arguments checked once, at load.
#include "kernels/add/16x8/kernel.h"
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"

namespace deuteron {

DEUTERON_FIELDS(Add16x8Args, count, x_multiplier, x_shift, other_multiplier, other_shift,
                y_multiplier, y_shift, y_min, y_max)

DEUTERON_FIELDS(ShiftedAdd16x8Args, count, x_shift, other_shift, sign, y_min, y_max)

namespace {

using Args = Add16x8Args;
constexpr Argument kRow[] = {input(Is::s16, DEUTERON_FIELD(count)),
                             input(Is::s16_like),
                             number(Is::multiplier, DEUTERON_FIELD(x_multiplier)),
                             number(Is::shift, DEUTERON_FIELD(x_shift)),
                             number(Is::multiplier, DEUTERON_FIELD(other_multiplier)),
                             number(Is::shift, DEUTERON_FIELD(other_shift)),
                             number(Is::multiplier, DEUTERON_FIELD(y_multiplier)),
                             number(Is::shift, DEUTERON_FIELD(y_shift)),
                             number(Is::wide_step, DEUTERON_FIELD(y_min)),
                             number(Is::wide_step_max, DEUTERON_FIELD(y_max)),
                             output(Is::s16_like)};

}  // namespace

const Kernel kAdd16x8 = kernel_of<kRow, Args, add_16x8>("deuteron::add_16x8.out", kInPlace);

namespace shifted {
namespace {

using Args = ShiftedAdd16x8Args;
constexpr Argument kRow[] = {input(Is::s16, DEUTERON_FIELD(count)),
                             input(Is::s16_like),
                             number(Is::bits_15, DEUTERON_FIELD(x_shift)),
                             number(Is::bits_15, DEUTERON_FIELD(other_shift)),
                             number(Is::any),
                             number(Is::wide_step, DEUTERON_FIELD(y_min)),
                             number(Is::wide_step_max, DEUTERON_FIELD(y_max)),
                             output(Is::s16_like)};

bool more(const Call& call, Args& a, Status* why) {
  constexpr int kSign = 4;
  if (call.integer(kSign) != 1 && call.integer(kSign) != -1)
    return refuse(why, kSign, "must be 1 or -1");
  a.sign = static_cast<int32_t>(call.integer(kSign));
  return true;
}

}  // namespace
}  // namespace shifted

const Kernel kShiftedAdd16x8 =
    kernel_and<shifted::kRow, shifted::Args, shifted::more, shifted_add_16x8>(
        "deuteron::shifted_add_16x8.out", kInPlace);

}  // namespace deuteron
