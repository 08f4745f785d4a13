// SPDX-License-Identifier: Apache-2.0
// The inner loops of convolution and linear for cores with Thumb-2's multiplications and no DSP
// extension (Cortex-M3): windows are widened to int16, with the offset of the input added, and meet
// the weights as they lie in the file. Sums wrap modulo 2^32. Nothing is read beyond the operands.
// Schedules: kernels/dense/dot_scalar.S.
#pragma once
#include <cstdint>

namespace deuteron {

struct ScalarDot {
  const int16_t* x;      // four windows, element by element in turns; or one
  const int8_t* weight;  // rows of `length` each
  int32_t length;
  const int32_t *first, *multiplier, *shift;  // of each filter
  int8_t* y[4];                               // of each window; may be the same
  int32_t filters, y_zero, y_min, y_max;
  int32_t has_bounds;  // 0: y_min and y_max are those of int8
};
extern "C" void deuteron_dot_4x2_scalar(const ScalarDot* a);  // four windows; filters is even
extern "C" void deuteron_dot_1x4_scalar(const ScalarDot* a);  // one; filters divides by four

}  // namespace deuteron
