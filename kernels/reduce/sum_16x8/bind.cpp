// SPDX-License-Identifier: Apache-2.0
// deuteron::sum_16x8: its arguments checked once, at load. Both tensors are met in the order in
// which they lie in memory.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_s16.h"
#include "kernels/reduce/sum_16x8/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(Sum16x8Args, outer, slice, inner, multiplier, shift)

namespace {

Status prepare(Call& call, Prepared* prepared) {
  Sum16x8Args a;
  if (Status s = read_slices_s16(call, 30, "must be -31..30", &a); !s.ok()) return s;
  if (a.outer == 0) return keep_nothing(prepared);
  if (a.slice > kMostSummed16x8)
    return bad_argument(kSlicesX, "has slices too long for sums within int32");
  return keep_slices_s16<sum_16x8>(call, prepared, a);
}

}  // namespace

const Kernel kSum16x8 = {"deuteron::sum_16x8.out", "TIIIO", prepare};

}  // namespace deuteron
