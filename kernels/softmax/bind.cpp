// SPDX-License-Identifier: Apache-2.0
// cortex_m::softmax and deuteron::softmax_s8_wide: their arguments checked once, at load. `dim` may
// be any dimension whose elements lie side by side in memory; the stock kernel takes the last one
// only.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/softmax/differences.h"
#include "kernels/softmax/rows.h"

namespace deuteron {

namespace {

using Args = SoftmaxArgs;
enum { kX, kDim, kXZero, kYZero, kMultiplier, kShift, kDiffMin, kOut };
constexpr Argument kRow[] = {input(Is::s8_axes),
                             number(Is::any),
                             number(Is::any),
                             number(Is::minus_128),
                             number(Is::factor, DEUTERON_FIELD(multiplier)),
                             number(Is::bits_31, DEUTERON_FIELD(shift)),
                             number(Is::not_positive, DEUTERON_FIELD(diff_min)),
                             output(Is::s8_like)};

bool is_innermost(const Tensor& t, int64_t dim) {
  if (t.sizes[dim] == 1) return true;
  int k = t.rank - 1;
  while (t.sizes[t.dim_order[k]] == 1) --k;
  return t.dim_order[k] == dim;
}

Status prepare(Call& call, Prepared* prepared) {
  const Tensor& x = call.tensor(kX);
  SoftmaxArgs a{};
  Status s = read_row(call, kRow, &a);
  if (!s.ok() || !keeps_differences(a, 255, kDiffMin, &s)) return s;
  if (!lies_in(call.integer(kDim), -x.rank, x.rank - 1))
    return bad_argument(kDim, "is no dimension of the input");
  const int64_t dim = call.integer(kDim) < 0 ? call.integer(kDim) + x.rank : call.integer(kDim);
  if (!is_innermost(x, dim))
    return bad_argument(kDim, "must be the dimension whose elements lie side by side");
  a.columns = x.sizes[dim];
  if (a.columns < 1) return bad_argument(kX, "must have elements along the dimension");
  a.rows = x.numel / a.columns;
  return keep_row<kRow, softmax_s8, softmax_s8_mve>(call, prepared, a);
}

constexpr Argument kWideRow[] = {input(Is::s8_rows), number(Is::factor, DEUTERON_FIELD(multiplier)),
                                 number(Is::bits_31, DEUTERON_FIELD(shift)),
                                 number(Is::not_positive, DEUTERON_FIELD(diff_min)),
                                 output(Is::s16_like)};

// Over the last dimension.
bool more_of_wide(const Call& call, Args& a, Status* why) {
  constexpr int kWideDiffMin = 3;
  return keeps_differences(a, 255, kWideDiffMin, why) &&
         read_rows(call.tensor(kX), kMostSoftmaxWideColumns, "must have 1..4095 elements in a row",
                   &a.rows, &a.columns, why);
}

}  // namespace

const Kernel kSoftmaxS8Wide =
    kernel_and<kWideRow, Args, more_of_wide, softmax_s8_wide>("deuteron::softmax_s8_wide.out");
const Kernel kSoftmax = kernel_by<kRow>("cortex_m::softmax.out", prepare, kInPlace);

}  // namespace deuteron
