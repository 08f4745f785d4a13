// SPDX-License-Identifier: Apache-2.0
// x seen as [outer,slice,inner], y as [outer,inner], both in the order in which they lie in memory:
// arguments 0 and `out`. Argument 1 is `inner`.
#pragma once
#include "kernels/common/row.h"

namespace deuteron {

// outer, slice and inner go to the first three fields of the kernel's struct.
bool read_slices(const Call& call, int out, int32_t* fields, Status* why);

template <class Args>
bool read_slices(const Call& call, int out, Args& a, Status* why) {
  static_assert(offsetof(Args, slice) == 4 && offsetof(Args, inner) == 8);
  return read_slices(call, out, &a.outer, why);
}

}  // namespace deuteron
