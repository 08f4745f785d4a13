// SPDX-License-Identifier: Apache-2.0
// deuteron::avg_pool2d_s16: its arguments checked once, at load.
#include "kernels/avg_pool2d/s16/kernel.h"
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/image/windows.h"

namespace deuteron {

DEUTERON_FIELDS(AvgPool2dS16Args, n, in_h, in_w, channels, out_h, out_w, kernel_h, kernel_w,
                stride_h, stride_w, pad_h, pad_w)

namespace {

enum { kX, kKernel, kStride, kPadding };
using Args = AvgPool2dS16Args;
constexpr Argument kRow[] = {input(Is::s16_image), list(Is::reach, DEUTERON_FIELD(kernel_h)),
                             list(Is::reach, DEUTERON_FIELD(stride_h)),
                             list(Is::padding, DEUTERON_FIELD(pad_h)), output(Is::s16_image)};

bool more(const Call& call, Args& a, Status* why) {
  constexpr int kOut = last_of(kRow);
  if (!read_images(call, kOut, &a.n, why)) return false;
  if (call.tensor(kOut).sizes[1] != a.channels)
    return refuse(why, kOut, "must have the channels of the input");
  if (a.pad_h >= a.kernel_h || a.pad_w >= a.kernel_w)
    return refuse(why, kPadding, "must be less than the kernel");
  if (!windows_fit(a, kOut, kStride, 0, 0, why)) return false;
  // Each window begins inside the image.
  if (int64_t{a.out_h - 1} * a.stride_h - a.pad_h >= a.in_h ||
      int64_t{a.out_w - 1} * a.stride_w - a.pad_w >= a.in_w)
    return refuse(why, kOut, "has a window outside of the image");
  const int64_t taps = int64_t{a.kernel_h < a.in_h ? a.kernel_h : a.in_h} *
                       (a.kernel_w < a.in_w ? a.kernel_w : a.in_w);
  return taps <= kS16MostTaps || refuse(why, kKernel, "must cover fewer than 2^16 elements");
}

}  // namespace

const Kernel kAvgPool2dS16 = kernel_and<kRow, Args, more, avg_pool2d_s16, avg_pool2d_s16_mve>(
    "deuteron::avg_pool2d_s16.out");

}  // namespace deuteron
