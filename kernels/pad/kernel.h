// SPDX-License-Identifier: Apache-2.0
// Surrounds an int8 tensor of up to four dimensions with a constant.
//   y[i0,i1,i2,i3] = x[i0-before[0],..] where that lies inside x, else value
// Shapes   x [in[0],in[1],in[2],in[3]]   y [before[k] + in[k] + after[k]]   storage order, no gaps;
// absent dimensions are 1 Units    value in steps, -128..127; before, after >= 0 Scratch  none
// Errors  none   Aliasing  y overlaps nothing   Source  ExecuTorch 1.5, cortex_m::pad
#pragma once
#include <cstdint>

namespace deuteron {

struct PadArgs {
  int32_t in[4], before[4], after[4];
  int8_t value;
};

void pad_s8(const PadArgs& a, const int8_t* x, int8_t* y);

// The same with the M-profile Vector Extension.
void pad_s8_mve(const PadArgs& a, const int8_t* x, int8_t* y);

}  // namespace deuteron
