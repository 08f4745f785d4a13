// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {

// Conv2DDepthwiseV1, V2 (for average pools turned into a convolution) and Dense. The arithmetic is
// the same; they differ in how they go over the map, and so in cycles: V1 and V2 slide along rows,
// Dense takes the map as one line, for small maps (cycles.h). Output channel oc = ic*multiplier+j
// reads input channel oc / multiplier.
//
// weights  int8, padded with zeros: [ceil(c*multiplier/8)][kernel_h][kernel_w][8 output channels]
//
// params   as in ConvCall, for c*multiplier channels. Limits: kernel, stride, dilation <=
// kMostWindow;
//          kernel_h * kernel_w * 8 <= kMostProducts
struct DepthwiseCall {
  Operand x, y, weights, params;
  int32_t n, h, w, c, x_pitch, multiplier;
  int32_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left;
  int32_t out_h, out_w, y_pitch;
  int32_t x_zero, y_zero, y_min, y_max;
};
constexpr int64_t depthwise_weight_bytes(const DepthwiseCall& a) {
  return round_up_to(int64_t{a.c} * a.multiplier, 8) * a.kernel_h * a.kernel_w;
}

}  // namespace deuteron::neutron
