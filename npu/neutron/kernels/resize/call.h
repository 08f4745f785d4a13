// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {

// RESIZE_NEAREST_NEIGHBOR and RESIZE_BILINEAR (int8) of TFLite's reference; x [n,h,w,c], y
// [n,out_h,out_w,c], one scale and zero point. Limits: extents of height and width <= kMostResized
struct ResizeCall {
  Operand x, y;
  int32_t n, h, w, c, out_h, out_w;
  int32_t align_corners, half_pixel_centers;  // 0 or 1, not both 1
};

}  // namespace deuteron::neutron
