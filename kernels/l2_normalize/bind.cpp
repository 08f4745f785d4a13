// SPDX-License-Identifier: Apache-2.0
// deuteron::l2_normalize: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/l2_normalize/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(L2NormalizeArgs, rows, depth, x_zero, of_bytes)

namespace {

using Args = L2NormalizeArgs;
constexpr Argument kRow[] = {input(Is::s8_rows), number(Is::step, DEUTERON_FIELD(x_zero)),
                             flag(DEUTERON_FIELD(of_bytes)), output(Is::s8_like)};

bool more(const Call& call, Args& a, Status* why) {
  const Tensor& x = call.tensor(0);
  a.depth = x.sizes[x.rank - 1];
  if (a.depth > kMostL2Depth) return refuse(why, 0, "is too long for sums of squares within int32");
  a.rows = x.numel / a.depth;
  return true;
}

}  // namespace

const Kernel kL2Normalize =
    kernel_and<kRow, Args, more, l2_normalize_s8>("deuteron::l2_normalize.out", kInPlace);

}  // namespace deuteron
