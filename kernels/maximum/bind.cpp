// SPDX-License-Identifier: Apache-2.0
// cortex_m::maximum: the other half of ops/minimum.
#include "kernels/common/kernels.h"
#include "kernels/minimum/prepare.h"

namespace deuteron {
namespace {

Status prepare_maximum(Call& call, Prepared* prepared) {
  return prepare_extremum<maximum_s8, maximum_s8_scalar, maximum_s8_dsp, maximum_s8_mve>(call,
                                                                                         prepared);
}

}  // namespace

const Kernel kMaximum = {"cortex_m::maximum.out", "TTO", prepare_maximum, true};

}  // namespace deuteron
