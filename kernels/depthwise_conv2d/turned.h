// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution of one input channel, for an instruction set's kernel of conv2d: the
// filters are turned on the stack, so that the taps of each lie together, and the windows lie
// behind them.
#pragma once
#include "kernels/conv2d/kernel.h"
#include "kernels/depthwise_conv2d/kernel.h"

namespace deuteron {

inline constexpr int32_t kTurnedBytes = 3072;
inline constexpr int32_t kDspTurned = 2, kScalarTurned = 4;  // windows at a time

// With `windows` of int16 at a time.
inline bool turned_fit(const DepthwiseConv2dArgs& a, int32_t windows) {
  const int64_t taps = int64_t{a.kernel_h} * a.kernel_w;
  return a.in_c == 1 && a.out_c > 1 &&
         taps * a.out_c + 2 * windows * (taps + 3) + 4 <= kTurnedBytes;
}

inline void turn_filters(const DepthwiseConv2dArgs& a, const int8_t* weight, int8_t* turned) {
  const int32_t taps = a.kernel_h * a.kernel_w;
  for (int32_t t = 0; t < taps; ++t)
    for (int32_t oc = 0; oc < a.out_c; ++oc) turned[oc * taps + t] = weight[t * a.out_c + oc];
}

// The convolution that a depthwise one of a single input channel is, on turned filters.
inline Conv2dArgs one_channel_conv(const DepthwiseConv2dArgs& a) {
  Conv2dArgs conv{};
  conv.n = a.n, conv.in_h = a.in_h, conv.in_w = a.in_w, conv.in_c = 1, conv.out_h = a.out_h,
  conv.out_w = a.out_w, conv.out_c = a.out_c;
  conv.kernel_h = a.kernel_h, conv.kernel_w = a.kernel_w, conv.kernel_c = 1,
  conv.stride_h = a.stride_h, conv.stride_w = a.stride_w;
  conv.pad_h = a.pad_h, conv.pad_w = a.pad_w, conv.dilation_h = a.dilation_h,
  conv.dilation_w = a.dilation_w;
  conv.x_offset = a.x_offset, conv.y_zero = a.y_zero, conv.y_min = a.y_min, conv.y_max = a.y_max;
  conv.multiplier = a.multiplier, conv.shift = a.shift;
  return conv;
}

template <void (*conv2d)(const Conv2dArgs&, const int8_t*, const int8_t*, const int32_t*, void*,
                         int32_t, int8_t*)>
void run_turned(const DepthwiseConv2dArgs& a, const int8_t* x, const int8_t* weight,
                const int32_t* bias, int8_t* y) {
  alignas(4) int8_t room[kTurnedBytes];  // the filters as a convolution has them, then windows
  const int32_t taps = a.kernel_h * a.kernel_w, filters = (taps * a.out_c + 3) / 4 * 4;
  turn_filters(a, weight, room);
  Conv2dArgs conv = one_channel_conv(a);
  note_scales(conv);
  conv2d(conv, x, room, bias, room + filters, kTurnedBytes - filters, y);
}

}  // namespace deuteron
