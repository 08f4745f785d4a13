// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_div: its arguments checked once, at load. output_scale is the whole factor
// from quotients of steps to steps.
#include "kernels/common/float_argument.h"
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/div/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(DivArgs, count, x_zero, other_zero, y_zero, scale)

namespace {

using Args = DivArgs;
constexpr Argument kRow[] = {input(Is::s8, DEUTERON_FIELD(count)),
                             number(Is::step, DEUTERON_FIELD(x_zero)),
                             input(Is::s8_like),
                             number(Is::step, DEUTERON_FIELD(other_zero)),
                             number(Is::step, DEUTERON_FIELD(y_zero)),
                             real(),
                             output(Is::s8_like)};
constexpr Argument kWideRow[] = {input(Is::s16, DEUTERON_FIELD(count)),
                                 number(Is::wide_step, DEUTERON_FIELD(x_zero)),
                                 input(Is::s16_like),
                                 number(Is::wide_step, DEUTERON_FIELD(other_zero)),
                                 number(Is::wide_step, DEUTERON_FIELD(y_zero)),
                                 real(),
                                 output(Is::s16_like)};

Status prepare(Call& call, Prepared* prepared) {
  constexpr int kScale = 5;
  bool wide = false;
  if (Status s = read_width(call, last_of(kRow), &wide); !s.ok()) return s;
  Args a{};
  if (Status s = read_row(call, wide ? kWideRow : kRow, &a); !s.ok()) return s;
  a.scale = float_argument(call, kScale);
  if (!is_finite(a.scale)) return bad_argument(kScale, "must be finite");
  return wide ? keep_row<kRow, div_s16>(call, prepared, a)
              : keep_row<kRow, div_s8>(call, prepared, a);
}

}  // namespace

const Kernel kQuantizedDiv = kernel_by<kRow>("cortex_m::quantized_div.out", prepare, kInPlace);

}  // namespace deuteron
