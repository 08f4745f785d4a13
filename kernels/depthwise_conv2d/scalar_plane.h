// SPDX-License-Identifier: Apache-2.0
// A channel of depthwise 3x3 without vectors, and what becomes of its sums (planes_scalar.h,
// planes_thumb1_scalar.h).
#pragma once
#include <cstdint>

namespace deuteron {

struct ScalarPlane {
  int32_t weight[9], first;
  int32_t multiplier;   // doubled where is_plain
  int32_t left, right;  // the shift to either side, 0 or more
  int32_t y_zero, y_min, y_max;
  int32_t y_step, row_step;  // bytes of y from an output to the next, and from row to row
  int32_t rows, columns;     // of outputs; 1 or more
  int32_t is_plain;  // the shift is 0, the multiplier 0..2^30-1 before it was doubled, the bounds
                     // are those of int8
};

}  // namespace deuteron
