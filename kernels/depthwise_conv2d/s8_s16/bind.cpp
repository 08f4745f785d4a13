// SPDX-License-Identifier: Apache-2.0
// deuteron::depthwise_conv2d_s8_s16: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/depthwise_conv2d/s16/read_call.h"
#include "kernels/depthwise_conv2d/s8_s16/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(DepthwiseS8S16Args, layer, x_zero)

namespace {

using Args = DepthwiseS8S16Args;
static_assert(offsetof(Args, layer) == 0, "the fields of the window");
constexpr Argument kRow[] = {DEUTERON_DEPTHWISE_S16(Is::s8_image),
                             number(Is::step, DEUTERON_FIELD(x_zero)), output(Is::s16_image)};

bool more(const Call& call, Args& a, Status* why) {
  return depthwise_s16_fits(call, last_of(kRow), a.layer, why);
}

}  // namespace

const Kernel kDepthwiseConv2dS8S16 =
    kernel_and<kRow, Args, more, depthwise_conv2d_s8_s16, depthwise_conv2d_s8_s16_mve>(
        "deuteron::depthwise_conv2d_s8_s16.out");

}  // namespace deuteron
