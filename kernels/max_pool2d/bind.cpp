// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_max_pool2d: its arguments checked once, at load. The output's extents say how
// many windows there are, so ceil_mode needs no rule here.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/image/nhwc.h"
#include "kernels/image/windows.h"
#include "kernels/max_pool2d/fields.h"

namespace deuteron {

namespace {

enum { kX, kKernel, kStride };
using Args = MaxPool2dArgs;
constexpr Argument kRow[] = {input(Is::s8_image),
                             list(Is::reach, DEUTERON_FIELD(kernel_h)),
                             list(Is::reach, DEUTERON_FIELD(stride_h)),
                             list(Is::padding, DEUTERON_FIELD(pad_h)),
                             list(Is::reach, DEUTERON_FIELD(dilation_h)),
                             flag(),
                             number(Is::step),
                             number(Is::any),
                             number(Is::step, DEUTERON_FIELD(y_min)),
                             number(Is::step_max, DEUTERON_FIELD(y_max)),
                             output(Is::s8_image)};

bool more(const Call& call, Args& a, Status* why) {
  constexpr int kXZero = 6, kYZero = 7, kOut = last_of(kRow);
  if (call.integer(kYZero) != call.integer(kXZero))
    return refuse(why, kYZero, "must be the input's zero point");
  if (!read_images(call, kOut, &a.n, why)) return false;
  if (call.tensor(kOut).sizes[1] != a.channels)
    return refuse(why, kOut, "must have the channels of the input");
  return windows_fit(a, kOut, kStride, a.channels, 1, why);
}

constexpr Kernel kKernelOf =
    kernel_and<kRow, Args, more, max_pool2d_s8, max_pool2d_s8_mve, max_pool2d_s8_dsp,
               max_pool2d_s8_scalar>("cortex_m::quantized_max_pool2d.out");

}  // namespace

const Kernel kQuantizedMaxPool2d = kKernelOf;
const Kernel kQuantizedMaxPool2dNhwc =
    kernel_by<kRow>("cortex_m::quantized_max_pool2d_nhwc.out", prepare_nhwc<kKernelOf.prepare>);

}  // namespace deuteron
