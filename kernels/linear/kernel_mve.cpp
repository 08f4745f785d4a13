// SPDX-License-Identifier: Apache-2.0
// Fully connected layer with the M-profile Vector Extension: a row of inputs meets four rows of
// weights at a time (kernels/dense/dot_mve.h).
#include <arm_mve.h>

#include "kernels/dense/dot_mve.h"
#include "kernels/linear/kernel.h"

namespace deuteron {
namespace {

// whose multipliers and shifts lie on the stack: they are one for each output there
constexpr int32_t kOutputs = 64;

uint32_t sum_of_row(const int8_t* x, int32_t count) {
  int32_t sum = 0;
  for (int32_t i = 0; i < count; i += kMveBlock)
    sum = vaddvaq_s8(sum, vld1q_z_s8(x + i, vctp8q(static_cast<uint32_t>(count - i))));
  return static_cast<uint32_t>(sum);
}

}  // namespace

void linear_s8_mve(const LinearArgs& a, const int8_t* x, const int8_t* weight, const int32_t* first,
                   int8_t* y) {
  static constexpr int32_t kNone[kOutputs] = {};
  int32_t multiplier[kOutputs], shift[kOutputs];
  for (int32_t i = 0; i < kOutputs; ++i) multiplier[i] = a.multiplier, shift[i] = a.shift;
  MveDot1x4 dot{};
  dot.length = dot.row_step = a.in;
  dot.multiplier = multiplier, dot.shift = shift;
  dot.x_offset = a.x_offset, dot.y_zero = a.y_zero, dot.y_min = a.y_min, dot.y_max = a.y_max,
  dot.is_shifted = a.shift != 0;
  const auto run = [&](int32_t o, int32_t tiles) {
    dot.weight = weight + o * a.in, dot.first = first ? first + o : kNone, dot.tiles = tiles,
    dot.y = y + o;
    deuteron_dot_1x4_mve(&dot);
  };
  for (int32_t r = 0; r < a.rows; ++r, x += a.in, y += a.out) {
    dot.x = x;
    if (a.weight_offset != 0)
      dot.more = static_cast<int32_t>(
          static_cast<uint32_t>(a.weight_offset) *
          (sum_of_row(x, a.in) + static_cast<uint32_t>(a.in) * static_cast<uint32_t>(a.x_offset)));
    const int32_t whole = a.out / kMveTile * kMveTile;
    for (int32_t o = 0; o < whole; o += kOutputs)
      run(o, (whole - o < kOutputs ? whole - o : kOutputs) / kMveTile);
    if (whole > 0 && whole < a.out) run(a.out - kMveTile, 1);  // overlaps its neighbour
    if (whole > 0) continue;
    for (int32_t o = 0; o < a.out; ++o) {  // too few: each one in all lanes
      int8_t out[kMveTile];
      const int32_t value = first ? first[o] : 0, four[] = {value, value, value, value};
      dot.row_step = 0, dot.weight = weight + o * a.in, dot.first = four, dot.tiles = 1,
      dot.y = out;
      deuteron_dot_1x4_mve(&dot);
      y[o] = out[0];
    }
  }
}

}  // namespace deuteron
