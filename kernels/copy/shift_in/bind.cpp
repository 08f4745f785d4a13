// SPDX-License-Identifier: Apache-2.0
// deuteron::shift_in: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/copy/shift_in/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(ShiftInArgs, rows, row, fresh)

namespace {

enum { kX, kFresh, kDim, kY };
using Args = ShiftInArgs;
constexpr Argument kRow[] = {input(Is::any), input(Is::any), number(Is::axis), output(Is::any)};

bool more(const Call& call, Args& a, Status* why) {
  const Tensor &x = call.tensor(kX), &fresh = call.tensor(kFresh), &y = call.tensor(kY);
  if (!is_dense(x)) return refuse(why, kX, "must be stored in the order of its dimensions");
  if (y.type != x.type || !same_layout(x, y))
    return refuse(why, kY, "must have the type, sizes and order of the input");
  const auto dim = static_cast<int>(call.integer(kDim));
  bool fits = fresh.type == x.type && fresh.rank == x.rank && is_dense(fresh) &&
              fresh.sizes[dim] <= x.sizes[dim];
  a.rows = 1;
  for (int k = 0; k < x.rank && fits; ++k) {
    if (k < dim) a.rows *= x.sizes[k];
    fits = k == dim || fresh.sizes[k] == x.sizes[k];
  }
  if (!fits) return refuse(why, kFresh, "must be a part of the input along the dimension");
  const auto bytes = static_cast<int32_t>(element_bytes(x.type));
  a.row = x.numel / a.rows * bytes;
  a.fresh = fresh.numel / a.rows * bytes;
  return true;
}

}  // namespace

const Kernel kShiftIn = kernel_and<kRow, Args, more, shift_in>("deuteron::shift_in.out", kInPlace);

}  // namespace deuteron
