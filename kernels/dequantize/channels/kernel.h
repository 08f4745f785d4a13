// SPDX-License-Identifier: Apache-2.0
// int8 to float32, with a shift and a factor for each channel.
//   y[i] = (x[i] + shift[c]) * factor[c]     c = i % channels; sum and product in float32, each
//   rounded
// Shapes   x, y [count]   shift, factor [channels]; channels divides count
// Units    shift in steps; factor in y's for one step
// Scratch  none   Errors  none   Aliasing  y overlaps nothing
#pragma once
#include <cstdint>

namespace deuteron {

struct DequantizeChannelsArgs {
  int32_t count, channels;
};

void dequantize_channels_s8(const DequantizeChannelsArgs& a, const int8_t* x, const float* shift,
                            const float* factor, float* y);

}  // namespace deuteron
