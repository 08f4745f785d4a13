// SPDX-License-Identifier: Apache-2.0
// deuteron::quantize_channels: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_channels.h"
#include "kernels/common/row.h"
#include "kernels/quantize/channels/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(QuantizeChannelsArgs, count, channels, zero, low, high)

namespace {

using Args = QuantizeChannelsArgs;
constexpr Argument kRow[] = {input(Is::f32, DEUTERON_FIELD(count)),
                             input(Is::f32_channels),
                             input(Is::f32_channels, DEUTERON_FIELD(channels)),
                             number(Is::step, DEUTERON_FIELD(zero)),
                             number(Is::step, DEUTERON_FIELD(low)),
                             number(Is::step_max, DEUTERON_FIELD(high)),
                             output(Is::s8_like)};

bool more(const Call& call, Args& a, Status* why) { return have_channels(call, a.channels, why); }

}  // namespace

const Kernel kQuantizeChannels =
    kernel_and<kRow, Args, more, quantize_channels_s8>("deuteron::quantize_channels.out", kInPlace);

}  // namespace deuteron
