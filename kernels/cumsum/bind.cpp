// SPDX-License-Identifier: Apache-2.0
// deuteron::cumsum: its arguments checked once, at load. Input and output may be stored in any
// order, the same for both.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/cumsum/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(CumsumArgs, outer, length, inner, x_zero, y_zero, multiplier, shift)

namespace {

enum { kX, kDim };
using Args = CumsumArgs;
constexpr Argument kRow[] = {input(Is::s8_axes),
                             number(Is::axis),
                             number(Is::step, DEUTERON_FIELD(x_zero)),
                             number(Is::step, DEUTERON_FIELD(y_zero)),
                             number(Is::multiplier, DEUTERON_FIELD(multiplier)),
                             number(Is::shift, DEUTERON_FIELD(shift)),
                             output(Is::s8_like)};

bool more(const Call& call, Args& a, Status* why) {
  const Tensor& x = call.tensor(kX);
  const auto dim = static_cast<int32_t>(call.integer(kDim));
  a.length = x.sizes[dim];
  if (a.length > most_cumsum_length(a.shift))
    return refuse(why, kX, "is too long for sums within int32");
  a.inner = 1;
  for (int k = x.rank - 1; x.dim_order[k] != dim; --k) a.inner *= x.sizes[x.dim_order[k]];
  a.outer = x.numel / (a.length * a.inner);
  return true;
}

}  // namespace

const Kernel kCumsum = kernel_and<kRow, Args, more, cumsum_s8>("deuteron::cumsum.out", kInPlace);

}  // namespace deuteron
