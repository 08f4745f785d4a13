// SPDX-License-Identifier: Apache-2.0
// A fully connected layer as a convolution of one tap, for an instruction set's kernel of conv2d.
// The rows are the image where they may be: where the outputs are few, and the weights have no
// offset or the kernel adds it. Else each row is one.
#pragma once
#include "kernels/conv2d/kernel.h"
#include "kernels/linear/kernel.h"

namespace deuteron {

inline constexpr int32_t kOutputsOfRow = 64;  // whose multipliers and shifts lie on the stack

// What the offset of the weights adds to each sum of a row.
inline uint32_t sum_of_weight_offset(const LinearArgs& a, const int8_t* x) {
  uint32_t sum = static_cast<uint32_t>(a.in) * static_cast<uint32_t>(a.x_offset);
  for (int32_t i = 0; i < a.in; ++i) sum += static_cast<uint32_t>(x[i]);
  return static_cast<uint32_t>(a.weight_offset) * sum;
}

// add_offset: conv2d_s8_dsp_rows() of kernels/conv2d/kernel.h; null: none.
template <void (*conv2d)(const Conv2dArgs&, const int8_t*, const int8_t*, const int32_t*, void*,
                         int32_t, int8_t*),
          void (*add_offset)(const Conv2dArgs&, const int8_t*, const int8_t*, const int32_t*,
                             int32_t, int8_t*) = nullptr>
void run_as_conv(const LinearArgs& a, const int8_t* x, const int8_t* weight, const int32_t* first,
                 int8_t* y) {
  int32_t multiplier[kOutputsOfRow], shift[kOutputsOfRow], sums[kOutputsOfRow];
  for (int32_t i = 0; i < kOutputsOfRow; ++i) multiplier[i] = a.multiplier, shift[i] = a.shift;
  const bool has_rows =
      add_offset != nullptr && a.rows > 1 && a.out > 1 && a.in >= 4 && a.in <= 512;
  const bool together = (a.weight_offset == 0 || has_rows) && a.out <= kOutputsOfRow;
  Conv2dArgs row{};
  row.n = row.in_w = row.out_w = row.kernel_h = row.kernel_w = 1;
  row.in_h = row.out_h = together ? a.rows : 1;
  row.in_c = row.kernel_c = a.in;
  row.stride_h = row.stride_w = row.dilation_h = row.dilation_w = 1;
  row.x_offset = a.x_offset, row.y_zero = a.y_zero, row.y_min = a.y_min, row.y_max = a.y_max;
  row.multiplier = multiplier, row.shift = shift, row.has_shifts = a.shift != 0;
  row.has_large_multipliers = a.multiplier < 0 || a.multiplier >= 1 << 30;
  if constexpr (add_offset != nullptr)
    if (together && has_rows) {
      row.out_c = a.out;
      return add_offset(row, x, weight, first, a.weight_offset, y);
    }
  for (int32_t r = 0; r < a.rows; r += row.in_h, x += row.in_h * a.in, y += row.in_h * a.out) {
    const uint32_t more = a.weight_offset != 0 ? sum_of_weight_offset(a, x) : 0;
    for (int32_t o = 0; o < a.out; o += kOutputsOfRow) {
      row.out_c = a.out - o < kOutputsOfRow ? a.out - o : kOutputsOfRow;
      const int32_t* from = first ? first + o : nullptr;
      if (a.weight_offset != 0) {
        for (int32_t i = 0; i < row.out_c; ++i)
          sums[i] = static_cast<int32_t>((from ? static_cast<uint32_t>(from[i]) : 0) + more);
        from = sums;
      }
      conv2d(row, x, weight + o * a.in, from, nullptr, 0, y + o);
    }
  }
}

}  // namespace deuteron
