// SPDX-License-Identifier: Apache-2.0
// int16 bilinear resizing: that of kernels/resize2d/kernel.h on int16, with sums in int64. y has
// the scale of x. Limits, tables, aliasing   as there; a sum is at most 32768 * 2^22 = 2^37
#pragma once
#include "kernels/resize2d/kernel.h"

namespace deuteron {

void resize2d_s16(const Resize2dArgs& a, const int16_t* x, const int32_t* rows,
                  const int32_t* columns, int16_t* y);

}  // namespace deuteron
