// SPDX-License-Identifier: Apache-2.0
// Reorders the dimensions of an int8 tensor of up to four dimensions.
//   y[i0,i1,i2,i3] = x[i0*step[0] + i1*step[1] + i2*step[2] + i3*step[3]]
// Shapes   y [extent[0],extent[1],extent[2],extent[3]]   storage order, no gaps; absent dimensions
// are 1 Scratch  none   Errors  none   Aliasing  y overlaps nothing   Source  ExecuTorch 1.5,
// cortex_m::transpose
#pragma once
#include <cstdint>

namespace deuteron {

struct PermuteArgs {
  int32_t extent[4], step[4];
};

void permute_s8(const PermuteArgs& a, const int8_t* x, int8_t* y);
void permute_s8_mve(const PermuteArgs& a, const int8_t* x, int8_t* y);

}  // namespace deuteron
