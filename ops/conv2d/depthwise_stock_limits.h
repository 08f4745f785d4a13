// SPDX-License-Identifier: Apache-2.0
// Where the stock kernel of cortex_m::quantized_depthwise_conv2d does not compute the contract of
// kernel.h. Ours has none of these limits. Source: CMSIS-NN 99f736a, the functions named below;
// found and confirmed as in ops/conv2d/stock_limits.h.
#pragma once
#include "ops/conv2d/depthwise_scratch.h"
#include "ops/conv2d/stock_limits.h"

namespace deuteron {

// Null when the stock kernel gives what kernel.h says.
inline const char* why_stock_depthwise_conv2d_differs(const DepthwiseConv2dArgs& a, Isa isa) {
  if (a.n != 1) return "the batch must be 1";
  if (isa == Isa::mve && a.in_c == 1 && a.out_c > 1)  // arm_depthwise_conv_to_conv_s8
    return why_stock_conv2d_differs(as_conv2d(a), isa);
  // arm_depthwise_conv_3x3_s8 reads the middle column of every window: none may begin in the last
  // column.
  const bool is_3x3 = a.depth_multiplier == 1 && a.dilation_h == 1 && a.dilation_w == 1 &&
                      a.kernel_h == 3 && a.kernel_w == 3 && a.pad_h <= 1 && a.pad_w <= 1;
  const int64_t last_w = (int64_t{a.out_w} - 1) * a.stride_w - a.pad_w;
  if (isa != Isa::mve && is_3x3 && last_w >= a.in_w - 1)
    return "3x3: a window begins in the last column";
  constexpr int64_t kS16 = 32767;  // depthwise_conv_s8_generic keeps places in int16
  const int32_t extents[] = {a.in_h,     a.in_w,     a.in_c,       a.out_h,
                             a.out_w,    a.out_c,    a.kernel_h,   a.kernel_w,
                             a.stride_h, a.stride_w, a.dilation_h, a.dilation_w};
  for (const int32_t e : extents)
    if (e > kS16) return "an extent is above 32767";
  return nullptr;
}

}  // namespace deuteron
