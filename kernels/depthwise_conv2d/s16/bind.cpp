// SPDX-License-Identifier: Apache-2.0
// deuteron::depthwise_conv2d_s16: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/depthwise_conv2d/s16/read_call.h"

namespace deuteron {

namespace {

using Args = DepthwiseS16Args;
constexpr Argument kRow[] = {DEUTERON_DEPTHWISE_S16(Is::s16_image), output(Is::s16_image)};

bool more(const Call& call, Args& a, Status* why) {
  return depthwise_s16_fits(call, last_of(kRow), a, why);
}

}  // namespace

const Kernel kDepthwiseConv2dS16 =
    kernel_and<kRow, Args, more, depthwise_conv2d_s16, depthwise_conv2d_s16_mve,
               depthwise_conv2d_s16_dsp>("deuteron::depthwise_conv2d_s16.out");

}  // namespace deuteron
