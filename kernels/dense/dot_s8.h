// SPDX-License-Identifier: Apache-2.0
// The inner loop of convolution, linear and matrix product: int8 rows of weights against one row of
// inputs that was widened to int16 with its offset added, so that padding is zero and the loop is a
// plain dot product (pmaddwd on x86-64 with SSE2, smlabb on Arm). Sums wrap modulo 2^32, as in the
// stock kernels; the order of the terms then makes no difference.
#pragma once
#include <cstdint>

#include "kernels/integer/requantize.h"

namespace deuteron {

inline constexpr int32_t kWidened = 1024;  // elements of a widened row: 2 KB of stack
// output channels whose sums lie on the stack while a long row is read in pieces
inline constexpr int32_t kSums = 64;

// x[i] = from[i] + offset, offset in -255..255.
inline void widen_s8(const int8_t* from, int32_t count, int32_t offset, int16_t* x) {
  for (int32_t i = 0; i < count; ++i) x[i] = static_cast<int16_t>(from[i] + offset);
}

// sums[r] += sum over i of x[i] * weight[r * stride + i], r < rows, i < count <= kWidened.
inline void add_dot_products(const int16_t* x, int32_t count, const int8_t* weight, int32_t stride,
                             int32_t rows, uint32_t* sums) {
  int32_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    const int8_t *w0 = weight + r * stride, *w1 = w0 + stride, *w2 = w1 + stride, *w3 = w2 + stride;
    uint32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (int32_t i = 0; i < count; ++i) {
      const int32_t v = x[i];
      s0 += static_cast<uint32_t>(v * w0[i]);
      s1 += static_cast<uint32_t>(v * w1[i]);
      s2 += static_cast<uint32_t>(v * w2[i]);
      s3 += static_cast<uint32_t>(v * w3[i]);
    }
    sums[r] += s0;
    sums[r + 1] += s1;
    sums[r + 2] += s2;
    sums[r + 3] += s3;
  }
  for (; r < rows; ++r) {
    const int8_t* w = weight + r * stride;
    uint32_t s = 0;
    for (int32_t i = 0; i < count; ++i) s += static_cast<uint32_t>(x[i] * w[i]);
    sums[r] += s;
  }
}

}  // namespace deuteron
