// SPDX-License-Identifier: Apache-2.0
// The window of a convolution on int16, as its arguments say it.
#pragma once
#include "kernels/common/prepare_s16.h"
#include "kernels/image/window.h"

namespace deuteron {

// Arguments that stand together, from `stride` on: stride, padding, dilation, and the two bounds of
// the result, which is argument `out`. The extents of both images and of the kernel are in `a`
// already. `channels`, `rows`: as why_not_steps() takes them.
template <class Args>
Status read_window_s16(const Call& call, int stride, int out, int32_t channels, int32_t rows,
                       Args& a) {
  if (const char* why = read_pair(call, stride, 1, kMaxReach, &a.stride_h, &a.stride_w))
    return bad_argument(stride, why);
  if (const char* why = read_pair(call, stride + 1, 0, kMaxReach, &a.pad_h, &a.pad_w))
    return bad_argument(stride + 1, why);
  if (const char* why = read_pair(call, stride + 2, 1, kMaxReach, &a.dilation_h, &a.dilation_w))
    return bad_argument(stride + 2, why);
  if (Status s = read_bounds_s16(call, stride + 3, &a.y_min, &a.y_max); !s.ok()) return s;
  if (const char* why =
          why_not_window(a.in_h, a.out_h, a.kernel_h, a.stride_h, a.pad_h, a.dilation_h))
    return bad_argument(out, why);
  if (const char* why =
          why_not_window(a.in_w, a.out_w, a.kernel_w, a.stride_w, a.pad_w, a.dilation_w))
    return bad_argument(out, why);
  if (const char* why = why_not_steps(a, channels, rows)) return bad_argument(stride, why);
  return Status{};
}

}  // namespace deuteron
