// SPDX-License-Identifier: Apache-2.0
// float32 to int8, with a shift and a factor for each channel.
//   y[i] = clamp(zero + round((x[i] + shift[c]) * factor[c]), low, high)     c = i % channels
//     sum and product in float32, each rounded; then to nearest, ties to even; beyond the range y
//     saturates on its side; NaN gives clamp(zero)
// Shapes   x, y [count]   shift, factor [channels]; channels divides count
// Units    shift in x's; factor in steps of y for one of x; zero, low, high in steps, -128..127;
// low <= high Scratch  none   Errors  none   Aliasing  y may begin where x begins: element i is
// read before it is written
#pragma once
#include <cstdint>

namespace deuteron {

struct QuantizeChannelsArgs {
  int32_t count, channels;
  int32_t zero, low, high;
};

void quantize_channels_s8(const QuantizeChannelsArgs& a, const float* x, const float* shift,
                          const float* factor, int8_t* y);

}  // namespace deuteron
