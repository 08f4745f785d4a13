// SPDX-License-Identifier: Apache-2.0
// The average of kernel.h, slow and obvious: that of int8, on int16. Host only, for tests.
#pragma once
#include "kernels/avg_pool2d/reference.h"
#include "kernels/avg_pool2d/s16/kernel.h"

namespace deuteron {

inline void avg_pool2d_s16_reference(const AvgPool2dS16Args& a, const int16_t* x, int16_t* y) {
  average_reference(a, x, y);
}

}  // namespace deuteron
