// SPDX-License-Identifier: Apache-2.0
// The numbers that TFLite compares where EQUAL and NOT_EQUAL have int16 operands (16x8): of fine
// steps, several are one number.
//   y[i] = requantize(x[i] * 256, multiplier, shift)
// Shapes   x, y [count]
// Units    x int16 with zero point 0, y int32; multiplier * 2^(shift - 31) is the scale of x:
// kernels/integer/requantize.h, rounded twice Limits   shift -31..0, so that no bit is lost Scratch
// none   Errors  none   Aliasing  y overlaps nothing Source   TFLite's reference kernel
// ComparisonWithScaling of int16
#pragma once
#include <cstdint>

namespace deuteron {

struct Compared16x8Args {
  int32_t count, multiplier, shift;
};

void compared_16x8(const Compared16x8Args& a, const int16_t* x, int32_t* y);

}  // namespace deuteron
