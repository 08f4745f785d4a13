// SPDX-License-Identifier: Apache-2.0
// What the depthwise convolutions with int16 results have in common when they are checked at load:
// all arguments but the first one's type.
#pragma once
#include "kernels/depthwise_conv2d/s16/kernel.h"
#include "kernels/image/windows.h"

namespace deuteron {

DEUTERON_FIELDS(DepthwiseS16Args, n, in_h, in_w, channels, out_h, out_w, kernel_h, kernel_w,
                stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, y_min, y_max)

enum { kDepthX, kDepthWeight, kDepthFirst, kDepthMultiplier, kDepthStride };

// Of the result on; x is an image of either type.
#define DEUTERON_DEPTHWISE_S16(x)                                 \
  input(x), input(Is::s16_batch), input(Is::any), input(Is::any), \
      list(Is::reach, DEUTERON_DEPTHWISE_FIELD(stride_h)),        \
      list(Is::padding, DEUTERON_DEPTHWISE_FIELD(pad_h)),         \
      list(Is::reach, DEUTERON_DEPTHWISE_FIELD(dilation_h)),      \
      number(Is::wide_step, DEUTERON_DEPTHWISE_FIELD(y_min)),     \
      number(Is::wide_step_max, DEUTERON_DEPTHWISE_FIELD(y_max))
#define DEUTERON_DEPTHWISE_FIELD(name) field_at<offsetof(DepthwiseS16Args, name)>()

// `out`: where the result stands. Of what the row has filled the shapes are checked.
inline bool depthwise_s16_fits(const Call& call, int out, DepthwiseS16Args& a, Status* why) {
  const int32_t* filters = call.tensor(kDepthWeight).sizes;
  if (!read_images(call, out, &a.n, why)) return false;
  a.kernel_h = filters[0], a.kernel_w = filters[1];
  if (filters[2] != a.channels)
    return refuse(why, kDepthWeight, "must have the channels of the input");
  if (call.tensor(out).sizes[1] != a.channels)
    return refuse(why, out, "must have the channels of the input");
  if (const char* words = why_not_channel_sums(call.tensor(kDepthFirst), a.channels))
    return refuse(why, kDepthFirst, words);
  if (const char* words =
          why_not_channel_constants(call.tensor(kDepthMultiplier), a.channels, 0, INT32_MAX))
    return refuse(why, kDepthMultiplier, words);
  return windows_fit(a, out, kDepthStride, a.channels, 1, why);
}

}  // namespace deuteron
