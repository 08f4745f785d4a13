// SPDX-License-Identifier: Apache-2.0
// Bytes of scratch that the stock kernel of cortex_m::quantized_depthwise_conv2d asks for on each
// instruction set. Source: CMSIS-NN dbf45dbf, arm_depthwise_conv_wrapper_s8_get_buffer_size, as
// ExecuTorch 1.5 calls it; checked against every such node of the stock files.
#pragma once
#include "kernels/depthwise_conv2d/kernel.h"
#include "ops/conv2d/scratch.h"

namespace deuteron {

// One over a single input channel.
inline Conv2dArgs as_conv2d(const DepthwiseConv2dArgs& a) {
  return {a.n,          a.in_h,       a.in_w,     1,          a.out_h,    a.out_w, a.out_c,
          a.kernel_h,   a.kernel_w,   1,          a.stride_h, a.stride_w, a.pad_h, a.pad_w,
          a.dilation_h, a.dilation_w, a.x_offset, a.y_zero,   a.y_min,    a.y_max, a.multiplier,
          a.shift};
}

inline int64_t depthwise_conv2d_scratch_bytes(const DepthwiseConv2dArgs& a, Isa isa) {
  constexpr int64_t kChannelsAtOnce = 124;  // CMSIS-NN CH_IN_BLOCK_MVE
  const int64_t taps = int64_t{a.kernel_h} * a.kernel_w;
  // One input channel with several filters becomes a convolution: what that asks for, and the
  // filters turned.
  if (isa == Isa::mve && a.in_c == 1 && a.out_c > 1)
    return conv2d_scratch_bytes(as_conv2d(a), isa) + taps * a.out_c;
  if (a.in_c != a.out_c || a.n != 1 || a.dilation_h != 1 || a.dilation_w != 1 || isa == Isa::scalar)
    return 0;
  if (isa == Isa::mve) return 4 * kChannelsAtOnce * taps;
  const bool is_3x3 = a.kernel_h == 3 && a.kernel_w == 3 && a.pad_h <= 1 && a.pad_w <= 1;
  return is_3x3 ? 0 : 2 * taps * a.in_c;
}

// Our own kernel does with so many. Those without vectors use none.
inline int64_t depthwise_conv2d_least_scratch_bytes(const DepthwiseConv2dArgs& a, Isa isa) {
  return isa == Isa::mve && a.in_c == 1 && a.out_c > 1 ? depthwise_conv2d_scratch_bytes(a, isa) : 0;
}

}  // namespace deuteron
