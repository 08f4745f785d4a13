// SPDX-License-Identifier: Apache-2.0
// The formula of kernel.h with wider integers, number by number. Host only, for tests.
#pragma once
#include <algorithm>

#include "kernels/layer_norm/kernel.h"

namespace deuteron {

inline void layer_norm_reference(const LayerNormArgs& a, const int8_t* x, const int32_t* weight,
                                 const int32_t* bias, int8_t* y) {
  using Wide = __int128;
  const auto rounded = [](Wide v, int shift) {  // to the nearest, halves up
    const Wide unit = Wide{1} << shift, down = v >= 0 ? v / unit : -((-v + unit - 1) / unit);
    return 2 * (v - down * unit) >= unit ? down + 1 : down;
  };
  for (int64_t first = 0; first < int64_t{a.rows} * a.columns; first += a.columns) {
    Wide sum = 0, squares = 0;
    for (int64_t i = 0; i < a.columns; ++i) {
      const Wide q = Wide{x[first + i]} - a.x_zero;
      sum += a.centered ? q : 0;
      squares += q * q;
    }
    Wide variance = (a.columns * squares - sum * sum) * (Wide{1} << a.epsilon_bits) + a.epsilon;
    Wide factor = 0;
    int s = 0;
    if (variance != 0) {
      for (; variance < (Wide{1} << 60); s += 2) variance *= 4;
      Wide low = 0, high = Wide{1} << 31;  // the root lies in low..high-1
      while (high - low > 1) {
        const Wide middle = (low + high) / 2;
        (middle * middle <= variance ? low : high) = middle;
      }
      factor = std::min((Wide{1} << 61) / low, (Wide{1} << 31) - 1);
    }
    for (int64_t i = 0; i < a.columns; ++i) {
      const Wide q = Wide{x[first + i]} - a.x_zero;
      const Wide d = rounded((a.columns * q - sum) * factor, 41 - (a.epsilon_bits + s) / 2);
      const Wide v = a.y_zero + rounded(d * weight[i] + Wide{bias[i]} * (1 << 20), 20 + a.shift);
      y[first + i] = static_cast<int8_t>(std::clamp<Wide>(v, -128, 127));
    }
  }
}

}  // namespace deuteron
