// SPDX-License-Identifier: Apache-2.0
// Which depthwise convolutions the vector and scalar kernels have a path of their own for.
#pragma once
#include "kernels/depthwise_conv2d/kernel.h"

namespace deuteron {

// Windows of 3x3 that are not dilated, a filter for each channel, and stride 1 or 2, the same both
// ways.
inline bool is_three_by_three(const DepthwiseConv2dArgs& a) {
  return a.depth_multiplier == 1 && a.kernel_h == 3 && a.kernel_w == 3 && a.dilation_h == 1 &&
         a.dilation_w == 1 && a.stride_h == a.stride_w && (a.stride_w == 1 || a.stride_w == 2);
}

// Those that the kernels serve so, which in a C program are kernels by themselves (kernel.h): by
// patches of a strip with MVE, else by planes of four channels.
inline bool has_patches(const DepthwiseConv2dArgs& a) {
  const int32_t s = a.stride_w;
  return is_three_by_three(a) && a.x_offset >= -127 && a.x_offset <= 128 &&
         a.out_w >= (s == 1 ? 2 : 4) && a.out_h >= (s == 1 ? 2 : 1);
}
// Windows of one row: those of four outputs are the 16 elements of a patch. What is done once for
// each channel of a row must be worth it.
inline bool has_row_patches(const DepthwiseConv2dArgs& a) {
  return a.depth_multiplier == 1 && a.kernel_h == 1 && a.stride_w <= 2 &&
         a.kernel_w <= 16 - 3 * a.stride_w && a.dilation_w == 1 && a.out_w >= 4 &&
         a.out_w > 36 / (a.kernel_w + 3) && a.x_offset >= -127 && a.x_offset <= 128;
}
inline bool has_planes(const DepthwiseConv2dArgs& a) {
  return is_three_by_three(a) && a.out_c >= 4;
}

// Windows of one row, by planes of four channels, likewise.
inline bool has_row_planes(const DepthwiseConv2dArgs& a) {
  return a.depth_multiplier == 1 && a.kernel_h == 1 && a.kernel_w <= 16 && a.dilation_w == 1 &&
         a.stride_w == 1 && a.out_w >= 4 && a.out_c >= 4;
}

// Pairs of weights of a row of taps; for each (w0, w1) and (0, w0), and so on, as DspRowWeight.
inline int32_t window_pairs(const DepthwiseConv2dArgs& a) { return a.kernel_w / 2 + 1; }
inline constexpr int32_t kMostPairs = 16;  // of a channel: no more rows than a plane has
// Windows of several rows and columns, by planes of four channels with the DSP extension: a filter
// for each channel.
inline bool has_window_planes(const DepthwiseConv2dArgs& a) {
  return (a.depth_multiplier | a.dilation_h | a.dilation_w) == 1 && a.kernel_w > 1 &&
         (a.stride_w == 1 || (a.stride_w == 2 && window_pairs(a) == 3)) &&
         a.kernel_h * window_pairs(a) <= kMostPairs && a.out_w >= 4;
}

}  // namespace deuteron
