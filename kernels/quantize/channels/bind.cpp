// SPDX-License-Identifier: Apache-2.0
// deuteron::quantize_channels: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_channels.h"
#include "kernels/quantize/channels/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(QuantizeChannelsArgs, count, channels, zero, low, high)

namespace {

enum { kX, kShift, kFactor, kZero, kLow, kHigh, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut);
  if (x.type != ScalarType::f32 || !is_aligned(x, 4))
    return bad_argument(kX, "must be float32 and 4-aligned");
  if (y.type != ScalarType::s8) return bad_argument(kOut, "must be int8");
  if (!same_layout(x, y))
    return bad_argument(kOut, "must have the sizes and the order of the input");
  if (Status s = check_channels(call, kShift, x); !s.ok()) return s;
  if (!is_s8(call.integer(kLow))) return bad_argument(kLow, "must be int8");
  if (!lies_in(call.integer(kHigh), call.integer(kLow), INT8_MAX))
    return bad_argument(kHigh, "must be quant_min or more, within int8");
  if (!is_s8(call.integer(kZero))) return bad_argument(kZero, "must be int8");
  const QuantizeChannelsArgs a{
      x.numel, call.tensor(kFactor).numel, static_cast<int32_t>(call.integer(kZero)),
      static_cast<int32_t>(call.integer(kLow)), static_cast<int32_t>(call.integer(kHigh))};
  return keep<quantize_channels_s8>(call, prepared, a, static_cast<const float*>(x.data),
                                    static_cast<const float*>(call.tensor(kShift).data),
                                    static_cast<const float*>(call.tensor(kFactor).data),
                                    static_cast<int8_t*>(y.data));
}

}  // namespace

const Kernel kQuantizeChannels = {"deuteron::quantize_channels.out", "TTTIIIO", prepare, true};

}  // namespace deuteron
