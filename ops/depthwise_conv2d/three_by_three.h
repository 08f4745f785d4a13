// Which depthwise convolutions the vector and scalar kernels have a path of their own for.
#pragma once
#include "ops/depthwise_conv2d/kernel.h"

namespace deuteron {

// Windows of 3x3 that are not dilated, a filter for each channel, and stride 1 or 2, the same both ways.
inline bool is_three_by_three(const DepthwiseConv2dArgs& a) {
  return a.depth_multiplier == 1 && a.kernel_h == 3 && a.kernel_w == 3 && a.dilation_h == 1 && a.dilation_w == 1 &&
         a.stride_h == a.stride_w && (a.stride_w == 1 || a.stride_w == 2);
}

}  // namespace deuteron
