// SPDX-License-Identifier: Apache-2.0
// deuteron::div_16x8: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/div/16x8/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(Div16x8Args, count, multiplier, shift, y_min, y_max)

namespace {

using Args = Div16x8Args;
constexpr Argument kRow[] = {input(Is::s16, DEUTERON_FIELD(count)),
                             input(Is::s16_like),
                             number(Is::factor, DEUTERON_FIELD(multiplier)),
                             number(Is::shift_to_15, DEUTERON_FIELD(shift)),
                             number(Is::wide_step, DEUTERON_FIELD(y_min)),
                             number(Is::wide_step_max, DEUTERON_FIELD(y_max)),
                             output(Is::s16_like)};

}  // namespace

const Kernel kDiv16x8 = kernel_of<kRow, Args, div_16x8>("deuteron::div_16x8.out", kInPlace);

}  // namespace deuteron
