// SPDX-License-Identifier: Apache-2.0
// int16 multiplication of two tensors with their own scales.
//   y[i] = clamp((rq(x[i] * other[i mod period]) + 2^(shift-1)) >> shift, y_min, y_max), the middle
//   sum only where shift > 0
//     rq(v) = (v * multiplier + 2^30) >> 31: multiply_high()
// Shapes   x, y [count]   other [period], repeated; period = count is a multiplication element for
// element Units    all have zero point 0; multiplier 0..2^31-1; shift 0..30; y_min, y_max
// -32768..32767 Limits   count divides by period Scratch  none   Errors  none   Aliasing  y may be
// x, and other when period = count   Source  docs/precision.md
#pragma once
#include <cstdint>

namespace deuteron {

struct MulS16Args {
  int32_t count, period, multiplier, shift, y_min, y_max;
};

void mul_s16(const MulS16Args& a, const int16_t* x, const int16_t* other, int16_t* y);

// The same with the M-profile Vector Extension.
void mul_s16_mve(const MulS16Args& a, const int16_t* x, const int16_t* other, int16_t* y);

}  // namespace deuteron
