// SPDX-License-Identifier: Apache-2.0
// int8 slices brought to the length 1, as TFLite's L2_NORMALIZATION does.
//   y[r,i] = clamp(rq(x[r,i] - x_zero), -128, 127), in steps of 1/128
//     rq(v) = requantize(v, m, s + 7), of bytes requantize(128 * v, m, s); m, s: inverse_root(sum
//     over i of (x[r,i] - x_zero)^2)
//             (kernels/integer/inverse_root.h, kernels/integer/requantize.h)
// Shapes   x, y [rows, depth], in storage order without gaps
// Units    x_zero in steps, -128..127
// Limits   depth <= kMostL2Depth, so that a sum of squares fits int32
// Scratch  none   Errors  none   Aliasing  y may be x   Source  TFLite's reference kernels
// L2Normalization of int8 and of uint8
#pragma once
#include <cstdint>

namespace deuteron {

inline constexpr int32_t kMostL2Depth = INT32_MAX / (255 * 255);

struct L2NormalizeArgs {
  int32_t rows, depth;
  int32_t x_zero;
  bool of_bytes;
};

void l2_normalize_s8(const L2NormalizeArgs& a, const int8_t* x, int8_t* y);

}  // namespace deuteron
