// SPDX-License-Identifier: Apache-2.0
// What the depthwise convolutions with int16 results have in common when they are checked at load:
// all arguments but the first one's type.
#pragma once
#include "kernels/common/prepare_window_s16.h"
#include "kernels/depthwise_conv2d/s16/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(DepthwiseS16Args, n, in_h, in_w, channels, out_h, out_w, kernel_h, kernel_w,
                stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, y_min, y_max)

enum {
  kDepthX,
  kDepthWeight,
  kDepthFirst,
  kDepthMultiplier,
  kDepthStride,
  kDepthPadding,
  kDepthDilation,
  kDepthYMin,
  kDepthYMax
};

// `out`: where the result stands; x is an image.
inline Status read_depthwise_s16(const Call& call, int out, DepthwiseS16Args& a) {
  const Tensor &x = call.tensor(kDepthX), &y = call.tensor(out),
               &weight = call.tensor(kDepthWeight);
  if (const char* why = why_not_image_s16(y)) return bad_argument(out, why);
  if (const char* why = why_not_dense(weight, ScalarType::s16, 3))
    return bad_argument(kDepthWeight, why);
  if (!is_aligned(weight, 2)) return bad_argument(kDepthWeight, "must be 2-aligned");
  a = {};
  a.n = x.sizes[0], a.channels = x.sizes[1], a.in_h = x.sizes[2], a.in_w = x.sizes[3];
  a.out_h = y.sizes[2], a.out_w = y.sizes[3], a.kernel_h = weight.sizes[0],
  a.kernel_w = weight.sizes[1];
  if (weight.sizes[2] != a.channels)
    return bad_argument(kDepthWeight, "must have the channels of the input");
  if (y.sizes[0] != a.n || y.sizes[1] != a.channels)
    return bad_argument(out, "must have the batch and the channels of the input");
  if (const char* why = why_not_channel_sums(call.tensor(kDepthFirst), a.channels))
    return bad_argument(kDepthFirst, why);
  if (const char* why =
          why_not_channel_constants(call.tensor(kDepthMultiplier), a.channels, 0, INT32_MAX))
    return bad_argument(kDepthMultiplier, why);
  return read_window_s16(call, kDepthStride, out, a.channels, 1, a);
}

}  // namespace deuteron
