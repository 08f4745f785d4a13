// Depthwise 3x3 for Cortex-M3: some rows of a channel as a plane of int16, x_offset added. Rows of a plane are 32 elements.
#pragma once
#include <cstdint>

namespace deuteron {

inline constexpr int32_t kScalarPlaneRow = 32;  // elements

struct ScalarPlane {
  int32_t weight[9], first;
  int32_t multiplier;   // doubled where is_plain
  int32_t left, right;  // the shift to either side, 0 or more
  int32_t y_zero, y_min, y_max;
  int32_t y_step, row_step;  // bytes of y from an output to the next, and from row to row
  int32_t rows, columns;     // of outputs; 1 or more
  int32_t is_plain;          // the shift is 0, the multiplier 0..2^30-1 before it was doubled, the bounds are those of int8
};
extern "C" void deuteron_depthwise_s1_scalar(const int16_t* plane, int8_t* y, const ScalarPlane* a);
extern "C" void deuteron_depthwise_s2_scalar(const int16_t* plane, int8_t* y, const ScalarPlane* a);

}  // namespace deuteron
