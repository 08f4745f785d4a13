// SPDX-License-Identifier: Apache-2.0
// deuteron::sum_16x8: its arguments checked once, at load. Both tensors are met in the order in
// which they lie in memory.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/reduce/slices.h"
#include "kernels/reduce/sum_16x8/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(Sum16x8Args, outer, slice, inner, multiplier, shift)

namespace {

using Args = Sum16x8Args;
constexpr Argument kRow[] = {input(Is::s16), number(Is::any),
                             number(Is::factor, DEUTERON_FIELD(multiplier)),
                             number(Is::shift, DEUTERON_FIELD(shift)), output(Is::s16)};

bool more(const Call& call, Args& a, Status* why) {
  if (!read_slices(call, last_of(kRow), a, why)) return false;
  if (a.slice > kMostSummed16x8) return refuse(why, 0, "has slices too long for sums within int32");
  return true;
}

}  // namespace

const Kernel kSum16x8 = kernel_and<kRow, Args, more, sum_16x8>("deuteron::sum_16x8.out");

}  // namespace deuteron
