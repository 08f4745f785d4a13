// SPDX-License-Identifier: Apache-2.0
// int16 minimum and maximum of two tensors that share their scale, each broadcast to the result:
// those of kernels/minimum/kernel.h on int16. Shapes, limits, aliasing   as there   Source
// docs/precision.md
#pragma once
#include "kernels/minimum/kernel.h"

namespace deuteron {

void minimum_s16(const ExtremumArgs& a, const int16_t* x, const int16_t* other, int16_t* y);
void maximum_s16(const ExtremumArgs& a, const int16_t* x, const int16_t* other, int16_t* y);

}  // namespace deuteron
