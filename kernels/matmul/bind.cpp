// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_batch_matmul: its arguments checked once, at load. Its lhs_zero_point and
// rhs_zero_point are offsets, the negated zero points; output_zero_point is one.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/matmul/by_linear.h"
#include "kernels/matmul/kernel.h"
#include "kernels/matmul/shapes.h"
#include "runtime/instruction_set.h"

namespace deuteron {

DEUTERON_FIELDS(MatmulArgs, batch, rows, columns, inner, x_offset, other_offset, y_zero, multiplier,
                shift)

namespace {

using Args = MatmulArgs;
constexpr Argument kRow[] = {input(Is::s8_batch),
                             number(Is::offset, DEUTERON_FIELD(x_offset)),
                             input(Is::s8_batch),
                             number(Is::offset, DEUTERON_FIELD(other_offset)),
                             number(Is::step, DEUTERON_FIELD(y_zero)),
                             number(Is::multiplier, DEUTERON_FIELD(multiplier)),
                             number(Is::shift, DEUTERON_FIELD(shift)),
                             scratch(),
                             output(Is::s8_batch)};

Status prepare(Call& call, Prepared* prepared) {
  constexpr int kOther = tensor_of(kRow, 1), kOut = last_of(kRow);
  MatmulArgs a{};
  Status s = read_row(call, kRow, &a);
  if (!s.ok() || !read_product(call, kOther, kOut, &a.batch, &s)) return s;
  if (call.tensor(kOut).numel == 0) return keep_nothing(prepared);
  if (serves<Feature::mve, why_not_linear_mve>(call, linear_of(a)))
    return keep_row<kRow, matmul_s8, matmul_s8_mve>(call, prepared, a);
  if (serves<Feature::dsp, why_not_linear_dsp>(call, linear_of(a)))
    return keep_row<kRow, matmul_s8, matmul_s8, matmul_s8_dsp>(call, prepared, a);
  return keep_row<kRow, matmul_s8, matmul_s8, matmul_s8, matmul_s8_scalar>(call, prepared, a);
}

}  // namespace

const Kernel kQuantizedBatchMatmul =
    kernel_by<kRow>("cortex_m::quantized_batch_matmul.out", prepare);

}  // namespace deuteron
