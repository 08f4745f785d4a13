// Bytes of scratch that the kernels of each instruction set ask for, exactly as stock firmware does: the compiler plans as many.
// Source: CMSIS-NN arm_depthwise_conv_wrapper_s8_get_buffer_size and its variants; checked against every node of the stock program files.
#pragma once
#include "ops/depthwise_conv2d/kernel.h"
#include "runtime/deuteron.h"

namespace deuteron {

inline int32_t depthwise_conv2d_scratch_bytes(const DepthwiseConv2dArgs& a, Isa isa) {
  constexpr int32_t kChannelsAtOnce = 124;  // MVE works on so many channels of four pixels
  const int32_t taps = a.kernel_h * a.kernel_w;
  const bool optimised = a.in_c == a.out_c && a.n == 1 && a.dilation_h == 1 && a.dilation_w == 1;
  if (optimised && isa == Isa::mve) return 4 * kChannelsAtOnce * taps;
  if (optimised && isa == Isa::dsp) {
    const bool three_by_three = a.kernel_h == 3 && a.kernel_w == 3 && a.pad_h <= 1 && a.pad_w <= 1;
    return three_by_three ? 0 : 2 * a.in_c * taps;
  }
  // One input channel: MVE runs it as a convolution over transposed weights.
  if (isa == Isa::mve && a.in_c == 1 && a.out_c > 1) return 64 * ((taps + 15) / 16) + a.out_c * taps;
  return 0;
}

}  // namespace deuteron
