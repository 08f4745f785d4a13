// SPDX-License-Identifier: Apache-2.0
// Portable: clamped before it is rounded, so that no float leaves the range of int32.
#include "kernels/quantize/channels/kernel.h"

namespace deuteron {

void quantize_channels_s8(const QuantizeChannelsArgs& args, const float* x, const float* shift,
                          const float* factor, int8_t* y) {
  // 1.5 * 2^23: float32 has steps of one there (kernels/quantize/kernel.cpp)
  constexpr float kRounder = 12582912.0f;
  // for all the compiler knows, y might lie over the arguments
  const QuantizeChannelsArgs a = args;
  const float low = static_cast<float>(a.low - a.zero), high = static_cast<float>(a.high - a.zero);
  for (int32_t left = a.count; left > 0; left -= a.channels)
    for (int32_t c = 0; c < a.channels; ++c) {
      float v = (*x++ + shift[c]) * factor[c];
      v = v == v ? v : 0.0f;
      v = v < low ? low : v;
      v = v > high ? high : v;
      *y++ = static_cast<int8_t>(static_cast<int32_t>((v + kRounder) - kRounder) + a.zero);
    }
}

}  // namespace deuteron
