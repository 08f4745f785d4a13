// SPDX-License-Identifier: Apache-2.0
// deuteron::matmul_16x8: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/matmul/16x8/kernel.h"
#include "kernels/matmul/shapes.h"

namespace deuteron {

DEUTERON_FIELDS(Matmul16x8Args, batch, rows, columns, inner, multiplier, shift, y_min, y_max)

namespace {

using Args = Matmul16x8Args;
constexpr Argument kRow[] = {input(Is::s16_batch),
                             input(Is::s16_batch),
                             number(Is::half_word, DEUTERON_FIELD(multiplier)),
                             number(Is::shift_16x8, DEUTERON_FIELD(shift)),
                             number(Is::wide_step, DEUTERON_FIELD(y_min)),
                             number(Is::wide_step_max, DEUTERON_FIELD(y_max)),
                             output(Is::s16_batch)};

bool more(const Call& call, Args& a, Status* why) {
  return read_product(call, 1, last_of(kRow), &a.batch, why);
}

}  // namespace

const Kernel kMatmul16x8 =
    kernel_and<kRow, Args, more, matmul_16x8, matmul_16x8_mve, matmul_16x8_dsp>(
        "deuteron::matmul_16x8.out");

}  // namespace deuteron
