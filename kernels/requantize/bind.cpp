// SPDX-License-Identifier: Apache-2.0
// deuteron::requantize_s8 and deuteron::requantize_s16: their arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/requantize/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(RequantizeArgs, count, x_zero, factor, shift, y_zero, y_min, y_max)

namespace {

using Args = RequantizeArgs;
constexpr Argument kToS8[] = {
    input(Is::s16, DEUTERON_FIELD(count)),         number(Is::zero, DEUTERON_FIELD(x_zero)),
    number(Is::half_word, DEUTERON_FIELD(factor)), number(Is::shift_15, DEUTERON_FIELD(shift)),
    number(Is::step, DEUTERON_FIELD(y_zero)),      number(Is::step, DEUTERON_FIELD(y_min)),
    number(Is::step_max, DEUTERON_FIELD(y_max)),   output(Is::s8_like)};
constexpr Argument kToS16[] = {input(Is::s8, DEUTERON_FIELD(count)),
                               number(Is::step, DEUTERON_FIELD(x_zero)),
                               number(Is::half_word, DEUTERON_FIELD(factor)),
                               number(Is::shift_15, DEUTERON_FIELD(shift)),
                               number(Is::zero, DEUTERON_FIELD(y_zero)),
                               number(Is::wide_step, DEUTERON_FIELD(y_min)),
                               number(Is::wide_step_max, DEUTERON_FIELD(y_max)),
                               output(Is::s16_like)};

}  // namespace

const Kernel kRequantizeS8 = kernel_of<kToS8, Args, requantize_s8, requantize_s8_mve>(
    "deuteron::requantize_s8.out", kInPlace);
const Kernel kRequantizeS16 =
    kernel_of<kToS16, Args, requantize_s16, requantize_s16_mve>("deuteron::requantize_s16.out");

}  // namespace deuteron
