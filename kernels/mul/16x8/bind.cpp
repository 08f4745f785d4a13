// SPDX-License-Identifier: Apache-2.0
// deuteron::mul_16x8: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_s16.h"
#include "kernels/mul/16x8/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(Mul16x8Args, count, multiplier, shift, y_min, y_max)

namespace {

Status prepare(Call& call, Prepared* prepared) {
  Mul16x8Args a;
  if (Status s = read_pair_s16(call, 30, "must be -31..30", &a); !s.ok()) return s;
  return keep_pair_s16<mul_16x8>(call, prepared, a);
}

}  // namespace

const Kernel kMul16x8 = {"deuteron::mul_16x8.out", "TTIIIIO", prepare, true};

}  // namespace deuteron
