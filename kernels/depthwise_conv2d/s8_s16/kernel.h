// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution of int8 with int16 weights and results: each channel by itself, sums in
// int32.
//   y[n,oh,ow,c] = clamp(rq(first[c] + sum over kh,kw of (x[n,ih,iw,c] - x_zero) *
//   weight[kh,kw,c]), y_min, y_max)
//     the rest as in kernels/depthwise_conv2d/s16/kernel.h
// Units    x_zero -128..127; y has zero point 0; the rest as there
// Limits, scratch, errors, aliasing and source as there
#pragma once
#include "kernels/depthwise_conv2d/s16/kernel.h"

namespace deuteron {

struct DepthwiseS8S16Args {
  DepthwiseS16Args layer;
  int32_t x_zero;
};

void depthwise_conv2d_s8_s16(const DepthwiseS8S16Args& a, const int8_t* x, const int16_t* weight,
                             const int32_t* first, const int32_t* multiplier, int16_t* y);

// The same with the M-profile Vector Extension.
void depthwise_conv2d_s8_s16_mve(const DepthwiseS8S16Args& a, const int8_t* x,
                                 const int16_t* weight, const int32_t* first,
                                 const int32_t* multiplier, int16_t* y);

}  // namespace deuteron
