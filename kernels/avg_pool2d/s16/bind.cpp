// SPDX-License-Identifier: Apache-2.0
// deuteron::avg_pool2d_s16: its arguments checked once, at load.
#include "kernels/avg_pool2d/s16/kernel.h"
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_s16.h"
#include "kernels/image/read_pool.h"
#include "runtime/instruction_set.h"

namespace deuteron {

DEUTERON_FIELDS(AvgPool2dS16Args, n, in_h, in_w, channels, out_h, out_w, kernel_h, kernel_w,
                stride_h, stride_w, pad_h, pad_w)

namespace {

enum { kOut = kPoolOwn };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kPoolX), &y = call.tensor(kOut);
  AvgPool2dS16Args a{};
  if (Status s = read_pool<why_not_image_s16>(call, kOut, a); !s.ok()) return s;
  if (a.pad_h >= a.kernel_h || a.pad_w >= a.kernel_w)
    return bad_argument(kPoolPadding, "must be less than the kernel");
  if (const char* why = why_not_window(a.in_h, a.out_h, a.kernel_h, a.stride_h, a.pad_h, 1))
    return bad_argument(kOut, why);
  if (const char* why = why_not_window(a.in_w, a.out_w, a.kernel_w, a.stride_w, a.pad_w, 1))
    return bad_argument(kOut, why);
  // Each window begins inside the image.
  if (int64_t{a.out_h - 1} * a.stride_h - a.pad_h >= a.in_h ||
      int64_t{a.out_w - 1} * a.stride_w - a.pad_w >= a.in_w)
    return bad_argument(kOut, "has a window outside of the image");
  const int64_t taps = int64_t{a.kernel_h < a.in_h ? a.kernel_h : a.in_h} *
                       (a.kernel_w < a.in_w ? a.kernel_w : a.in_w);
  if (taps > kS16MostTaps) return bad_argument(kPoolKernel, "must cover fewer than 2^16 elements");
  if (y.numel == 0) return keep_nothing(prepared);
  const auto* from = static_cast<const int16_t*>(x.data);
  auto* to = static_cast<int16_t*>(y.data);
  return keep_fastest<avg_pool2d_s16, avg_pool2d_s16_mve>(call, prepared, a, from, to);
}

}  // namespace

const Kernel kAvgPool2dS16 = {"deuteron::avg_pool2d_s16.out", "TLLLO", prepare};

}  // namespace deuteron
