// SPDX-License-Identifier: Apache-2.0
// What becomes of a sum of int8, by whichever kernel that works on one at a time.
#pragma once
#include "kernels/common/one_copy.h"
#include "kernels/integer/requantize.h"
#include "kernels/reduce/kernel.h"

namespace deuteron {

DEUTERON_ONE_COPY inline int8_t sum_result(const SumArgs& a, int32_t sum) {
  return requantize_to_s8(static_cast<uint32_t>(sum - a.slice * a.x_zero), a.multiplier, a.shift,
                          a.y_zero, a.low, a.high);
}

}  // namespace deuteron
