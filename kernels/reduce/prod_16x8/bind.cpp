// SPDX-License-Identifier: Apache-2.0
// deuteron::prod_16x8: its arguments checked once, at load. Both tensors are met in the order in
// which they lie in memory.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_s16.h"
#include "kernels/reduce/prod_16x8/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(Prod16x8Args, outer, slice, inner, multiplier, shift)

namespace {

Status prepare(Call& call, Prepared* prepared) {
  Prod16x8Args a;
  if (Status s = read_slices_s16(call, 14, "must be -31..14", &a); !s.ok()) return s;
  if (a.outer == 0) return keep_nothing(prepared);
  return keep_slices_s16<prod_16x8>(call, prepared, a);
}

}  // namespace

const Kernel kProd16x8 = {"deuteron::prod_16x8.out", "TIIIO", prepare};

}  // namespace deuteron
