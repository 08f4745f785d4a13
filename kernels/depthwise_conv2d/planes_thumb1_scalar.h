// SPDX-License-Identifier: Apache-2.0
// Depthwise 3x3 for Cortex-M0, M0+ and M23: some rows of a channel as a plane of words, x_offset
// added. Rows of a plane are 18 elements.
#pragma once
#include "kernels/depthwise_conv2d/planes.h"
#include "kernels/depthwise_conv2d/scalar_plane.h"
#include "kernels/integer/requantize_words.h"
#include "runtime/instruction_set.h"

#if defined(DEUTERON_SCALAR) && DEUTERON_SCALAR == 1
namespace deuteron {

using PlaneElement = int32_t;
inline constexpr int32_t kScalarPlaneRow = 18;  // elements
// of a channel at once: rows of outputs by columns
inline constexpr int32_t kScalarSums = (kPlaneRows - 2) * (kScalarPlaneRow - 2);

struct Thumb1Plane {
  const int32_t* plane;
  const int32_t* weight;  // [9]
  int32_t columns, rows;  // of outputs; 1 or more
  uint32_t* sums;         // [rows][columns]
};
extern "C" void deuteron_depthwise_s1_thumb1(const Thumb1Plane* a);
extern "C" void deuteron_depthwise_s2_thumb1(const Thumb1Plane* a);

// The sums of a channel become bytes, each y_step from the one before. is_plain: see ScalarPlane.
template <bool is_plain>
void finish_plane(const ScalarPlane& a, const uint32_t* sums, int8_t* y) {
  const uint32_t first = static_cast<uint32_t>(a.first);
  const int32_t multiplier = a.multiplier, zero = a.y_zero, step = a.y_step, columns = a.columns;
  for (int32_t r = a.rows; r > 0; --r, y += a.row_step) {
    int8_t* to = y;
    for (int32_t i = columns; i > 0; --i, to += step) {
      const uint32_t sum = first + *sums++;
      *to = is_plain ? static_cast<int8_t>(saturate_s8(
                           multiply_high_rounded(static_cast<int32_t>(sum), multiplier) + zero))
                     : requantize_to_s8(sum, multiplier, a.left - a.right, zero, a.y_min, a.y_max);
    }
  }
}

template <int32_t stride>
void depthwise_rows(const int32_t* plane, int8_t* y, const ScalarPlane* a) {
  uint32_t sums[kScalarSums];
  const Thumb1Plane all = {plane, a->weight, a->columns, a->rows, sums};
  (stride == 1 ? deuteron_depthwise_s1_thumb1 : deuteron_depthwise_s2_thumb1)(&all);
  (a->is_plain ? finish_plane<true> : finish_plane<false>)(*a, sums, y);
}
inline void deuteron_depthwise_s1_scalar(const int32_t* plane, int8_t* y, const ScalarPlane* a) {
  depthwise_rows<1>(plane, y, a);
}
inline void deuteron_depthwise_s2_scalar(const int32_t* plane, int8_t* y, const ScalarPlane* a) {
  depthwise_rows<2>(plane, y, a);
}

}  // namespace deuteron
#endif
