// SPDX-License-Identifier: Apache-2.0
// deuteron::sum: its arguments checked once, at load. Both tensors are met in the order in which
// they lie in memory.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/reduce/kernel.h"
#include "kernels/reduce/slices.h"
#include "runtime/instruction_set.h"

namespace deuteron {

DEUTERON_FIELDS(SumArgs, outer, slice, inner, x_zero, y_zero, multiplier, shift, low, high)

namespace {

using Args = SumArgs;
constexpr Argument kRow[] = {input(Is::s8),
                             number(Is::any),
                             number(Is::step, DEUTERON_FIELD(x_zero)),
                             number(Is::step, DEUTERON_FIELD(y_zero)),
                             number(Is::multiplier, DEUTERON_FIELD(multiplier)),
                             number(Is::shift, DEUTERON_FIELD(shift)),
                             number(Is::step, DEUTERON_FIELD(low)),
                             number(Is::step_max, DEUTERON_FIELD(high)),
                             output(Is::s8)};

Status prepare(Call& call, Prepared* prepared) {
  SumArgs a{};
  Status s = read_row(call, kRow, &a);
  if (s.ok() && call.tensor(last_of(kRow)).numel == 0) return keep_nothing(prepared);
  if (!s.ok() || !read_slices(call, last_of(kRow), a, &s)) return s;
  if (a.slice > most_summed(a.shift))
    return bad_argument(0, "has slices too long for sums within int32");
  if (serves<Feature::mve, why_not_sum_mve>(call, a))
    return keep_row<kRow, sum_s8, sum_s8_mve>(call, prepared, a);
  return keep_row<kRow, sum_s8, sum_s8, sum_s8_dsp, sum_s8_scalar>(call, prepared, a);
}

}  // namespace

const Kernel kSum = kernel_by<kRow>("deuteron::sum.out", prepare);

}  // namespace deuteron
