// SPDX-License-Identifier: Apache-2.0
// deuteron::mul_16x8: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/mul/16x8/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(Mul16x8Args, count, multiplier, shift, y_min, y_max)

namespace {

using Args = Mul16x8Args;
constexpr Argument kRow[] = {input(Is::s16, DEUTERON_FIELD(count)),
                             input(Is::s16_like),
                             number(Is::factor, DEUTERON_FIELD(multiplier)),
                             number(Is::shift, DEUTERON_FIELD(shift)),
                             number(Is::wide_step, DEUTERON_FIELD(y_min)),
                             number(Is::wide_step_max, DEUTERON_FIELD(y_max)),
                             output(Is::s16_like)};

}  // namespace

const Kernel kMul16x8 = kernel_of<kRow, Args, mul_16x8>("deuteron::mul_16x8.out", kInPlace);

}  // namespace deuteron
