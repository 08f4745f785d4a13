// SPDX-License-Identifier: Apache-2.0
// What the calls of all pools begin with, checked at load: the input, the window, its steps and the
// padding.
#pragma once
#include "kernels/common/prepare.h"
#include "kernels/image/window.h"

namespace deuteron {

enum {
  kPoolX,
  kPoolKernel,
  kPoolStride,
  kPoolPadding,
  kPoolOwn
};  // from kPoolOwn on the arguments are the operator's

// `out`: where the result stands. `why_not`: what the elements of both images must be.
template <const char* (*why_not)(const Tensor&), class Args>
Status read_pool(const Call& call, int out, Args& a) {
  const Tensor &x = call.tensor(kPoolX), &y = call.tensor(out);
  if (const char* why = why_not(x)) return bad_argument(kPoolX, why);
  if (const char* why = why_not(y)) return bad_argument(out, why);
  a.n = x.sizes[0], a.channels = x.sizes[1], a.in_h = x.sizes[2], a.in_w = x.sizes[3],
  a.out_h = y.sizes[2], a.out_w = y.sizes[3];
  if (y.sizes[0] != a.n || y.sizes[1] != a.channels)
    return bad_argument(out, "must have the batch and the channels of the input");
  if (const char* why = read_pair(call, kPoolKernel, 1, kMaxReach, &a.kernel_h, &a.kernel_w))
    return bad_argument(kPoolKernel, why);
  if (const char* why = read_pair(call, kPoolStride, 1, kMaxReach, &a.stride_h, &a.stride_w))
    return bad_argument(kPoolStride, why);
  if (const char* why = read_pair(call, kPoolPadding, 0, kMaxReach, &a.pad_h, &a.pad_w))
    return bad_argument(kPoolPadding, why);
  return Status{};
}

}  // namespace deuteron
