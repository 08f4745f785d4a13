// SPDX-License-Identifier: Apache-2.0
// Portable.
#include "kernels/dequantize/channels/kernel.h"

namespace deuteron {

void dequantize_channels_s8(const DequantizeChannelsArgs& args, const int8_t* x, const float* shift,
                            const float* factor, float* y) {
  // for all the compiler knows, y might lie over the arguments
  const DequantizeChannelsArgs a = args;
  for (int32_t left = a.count; left > 0; left -= a.channels)
    for (int32_t c = 0; c < a.channels; ++c)
      *y++ = (static_cast<float>(*x++) + shift[c]) * factor[c];
}

}  // namespace deuteron
