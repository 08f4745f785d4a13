// SPDX-License-Identifier: Apache-2.0
// cortex_m::maximum: the other half of ops/minimum.
#include "kernels/common/kernels.h"
#include "kernels/minimum/prepare.h"

namespace deuteron {

const Kernel kMaximum = kernel_by<kExtremumRow>(
    "cortex_m::maximum.out",
    prepare_extremum<kExtremumRow, maximum_s8, maximum_s8_mve, maximum_s8_dsp, maximum_s8_scalar>,
    kInPlace);

}  // namespace deuteron
