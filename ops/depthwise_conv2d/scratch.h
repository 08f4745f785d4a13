// Bytes of scratch that the stock kernel of cortex_m::quantized_depthwise_conv2d asks for on each instruction set. Source: CMSIS-NN
// 99f736a, arm_depthwise_conv_wrapper_s8_get_buffer_size, as ExecuTorch 1.5 calls it; checked against every such node of the stock files.
#pragma once
#include "ops/conv2d/scratch.h"
#include "ops/depthwise_conv2d/kernel.h"

namespace deuteron {

inline int64_t depthwise_conv2d_scratch_bytes(const DepthwiseConv2dArgs& a, Isa isa) {
  constexpr int64_t kChannelsAtOnce = 124;  // CMSIS-NN CH_IN_BLOCK_MVE
  const int64_t taps = int64_t{a.kernel_h} * a.kernel_w;
  // One input channel with several filters becomes a convolution: its columns, and the filters turned.
  if (isa == Isa::mve && a.in_c == 1 && a.out_c > 1) return conv2d_columns_bytes(taps, 1, isa) + taps * a.out_c;
  if (a.in_c != a.out_c || a.n != 1 || a.dilation_h != 1 || a.dilation_w != 1 || isa == Isa::scalar) return 0;
  if (isa == Isa::mve) return 4 * kChannelsAtOnce * taps;
  const bool is_3x3 = a.kernel_h == 3 && a.kernel_w == 3 && a.pad_h <= 1 && a.pad_w <= 1;
  return is_3x3 ? 0 : 2 * taps * a.in_c;
}

}  // namespace deuteron
