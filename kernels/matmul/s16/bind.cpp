// SPDX-License-Identifier: Apache-2.0
// deuteron::matmul_s16: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/matmul/s16/kernel.h"
#include "kernels/matmul/shapes.h"

namespace deuteron {

DEUTERON_FIELDS(MatmulS16Args, batch, rows, columns, inner, first, multiplier, shift, y_min, y_max)

namespace {

using Args = MatmulS16Args;
constexpr Argument kRow[] = {input(Is::s16_batch),
                             input(Is::s16_batch),
                             number(Is::bits_30, DEUTERON_FIELD(first)),
                             number(Is::factor, DEUTERON_FIELD(multiplier)),
                             number(Is::bits_30, DEUTERON_FIELD(shift)),
                             number(Is::wide_step, DEUTERON_FIELD(y_min)),
                             number(Is::wide_step_max, DEUTERON_FIELD(y_max)),
                             output(Is::s16_batch)};

bool more(const Call& call, Args& a, Status* why) {
  constexpr int kFirst = 2;
  if (!read_product(call, 1, last_of(kRow), &a.batch, why)) return false;
  if (a.inner > int64_t{1} << a.first) return refuse(why, kFirst, "lets the sum leave int32");
  return true;
}

}  // namespace

const Kernel kMatmulS16 = kernel_and<kRow, Args, more, matmul_s16>("deuteron::matmul_s16.out");

}  // namespace deuteron
