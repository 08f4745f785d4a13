// SPDX-License-Identifier: Apache-2.0
// deuteron::max_pool2d_s16: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/image/windows.h"
#include "kernels/max_pool2d/fields.h"
#include "kernels/max_pool2d/s16/kernel.h"

namespace deuteron {

namespace {

using Args = MaxPool2dArgs;
constexpr Argument kRow[] = {input(Is::s16_image),
                             list(Is::reach, DEUTERON_FIELD(kernel_h)),
                             list(Is::reach, DEUTERON_FIELD(stride_h)),
                             list(Is::padding, DEUTERON_FIELD(pad_h)),
                             list(Is::reach, DEUTERON_FIELD(dilation_h)),
                             number(Is::wide_step, DEUTERON_FIELD(y_min)),
                             number(Is::wide_step_max, DEUTERON_FIELD(y_max)),
                             output(Is::s16_image)};

bool more(const Call& call, Args& a, Status* why) {
  constexpr int kStride = 2, kOut = last_of(kRow);
  if (!read_images(call, kOut, &a.n, why)) return false;
  if (call.tensor(kOut).sizes[1] != a.channels)
    return refuse(why, kOut, "must have the channels of the input");
  return windows_fit(a, kOut, kStride, a.channels, 1, why);
}

}  // namespace

const Kernel kMaxPool2dS16 = kernel_and<kRow, Args, more, max_pool2d_s16, max_pool2d_s16_mve>(
    "deuteron::max_pool2d_s16.out");

}  // namespace deuteron
