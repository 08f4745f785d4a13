// SPDX-License-Identifier: Apache-2.0
// Square root of int16 steps with TFLite's arithmetic (16x8): in float32, and cut off.
//   y[i] = min(floor(sqrt(x_scale * x[i]) / y_scale), 32767), 0 where x[i] < 0; every operation
//   rounded to float32
// Shapes   x, y [count]
// Units    both have zero point 0; x_scale, y_scale positive, finite
// Limits   none   Scratch  none   Errors  none   Aliasing  y may be x
// Source   TFLite's reference kernel SqrtEvalQuantized of int16, which stops at an x[i] below 0
#pragma once
#include <cstdint>

namespace deuteron {

struct Sqrt16x8Args {
  int32_t count;
  float x_scale, y_scale;
};

void sqrt_16x8(const Sqrt16x8Args& a, const int16_t* x, int16_t* y);

}  // namespace deuteron
