// SPDX-License-Identifier: Apache-2.0
// Portable fully connected layer: a row of inputs is widened once, or in pieces when it is long,
// and meets every row of weights.
#include "kernels/linear/kernel.h"

#include "kernels/common/host_clones.h"

#include "kernels/dense/dot_s8.h"

namespace deuteron {
namespace {

uint32_t sum_of(const int16_t* x, int32_t count) {
  uint32_t s = 0;
  for (int32_t i = 0; i < count; ++i) s += static_cast<uint32_t>(x[i]);
  return s;
}

}  // namespace

DEUTERON_HOST_CLONES void linear_s8(const LinearArgs& a, const int8_t* x, const int8_t* weight,
                                    const int32_t* first, int8_t* y) {
  int16_t row[kWidened];
  uint32_t sums[kSums];
  for (int32_t r = 0; r < a.rows; ++r, x += a.in, y += a.out) {
    if (a.in <= kWidened) widen_s8(x, a.in, a.x_offset, row);
    for (int32_t o = 0; o < a.out; o += kSums) {
      const int32_t count = a.out - o < kSums ? a.out - o : kSums;
      for (int32_t k = 0; k < count; ++k) sums[k] = first ? static_cast<uint32_t>(first[o + k]) : 0;
      for (int32_t i = 0; i < a.in; i += kWidened) {
        const int32_t elements = a.in - i < kWidened ? a.in - i : kWidened;
        if (a.in > kWidened) widen_s8(x + i, elements, a.x_offset, row);
        add_dot_products(row, elements, weight + o * a.in + i, a.in, count, sums);
        if (a.weight_offset == 0) continue;
        const uint32_t all = static_cast<uint32_t>(a.weight_offset) * sum_of(row, elements);
        for (int32_t k = 0; k < count; ++k) sums[k] += all;
      }
      for (int32_t k = 0; k < count; ++k)
        y[o + k] = requantize_to_s8(sums[k], a.multiplier, a.shift, a.y_zero, a.y_min, a.y_max);
    }
  }
}

}  // namespace deuteron
