// SPDX-License-Identifier: Apache-2.0
// deuteron::dequantize_channels: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_channels.h"
#include "kernels/common/row.h"
#include "kernels/dequantize/channels/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(DequantizeChannelsArgs, count, channels)

namespace {

using Args = DequantizeChannelsArgs;
constexpr Argument kRow[] = {input(Is::s8, DEUTERON_FIELD(count)), input(Is::f32_channels),
                             input(Is::f32_channels, DEUTERON_FIELD(channels)),
                             output(Is::f32_like)};

bool more(const Call& call, Args& a, Status* why) { return have_channels(call, a.channels, why); }

}  // namespace

const Kernel kDequantizeChannels = kernel_and<kRow, Args, more, dequantize_channels_s8>(
    "deuteron::dequantize_channels.out", kInPlace);

}  // namespace deuteron
