// SPDX-License-Identifier: Apache-2.0
// deuteron::minimum_s16 and deuteron::maximum_s16: their arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/minimum/prepare.h"
#include "kernels/minimum/s16/kernel.h"

namespace deuteron {

const Kernel kMinimumS16 = kernel_by<kExtremumRowS16>(
    "deuteron::minimum_s16.out", prepare_extremum<kExtremumRowS16, minimum_s16>, kInPlace);
const Kernel kMaximumS16 = kernel_by<kExtremumRowS16>(
    "deuteron::maximum_s16.out", prepare_extremum<kExtremumRowS16, maximum_s16>, kInPlace);

}  // namespace deuteron
