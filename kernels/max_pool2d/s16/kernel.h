// SPDX-License-Identifier: Apache-2.0
// int16 maximum pooling with a clamp; padding is never the maximum.
//   y[n,oh,ow,c] = clamp(max over the window's taps inside x, y_min, y_max); a window with no tap
//   inside gives y_min
// Shapes   x [n,in_h,in_w,channels]   y [n,out_h,out_w,channels]   storage order, no gaps
// Units    raw int16 steps: input and output share the scale; y_min, y_max -32768..32767
// Padding, limits   as kernels/max_pool2d/kernel.h
// Scratch  none   Errors  none   Aliasing  y overlaps nothing   Source  TFLite's 16x8 MAX_POOL_2D
#pragma once
#include "kernels/max_pool2d/kernel.h"

namespace deuteron {

void max_pool2d_s16(const MaxPool2dArgs& a, const int16_t* x, int16_t* y);

// The same with the M-profile Vector Extension.
void max_pool2d_s16_mve(const MaxPool2dArgs& a, const int16_t* x, int16_t* y);

}  // namespace deuteron
