// SPDX-License-Identifier: Apache-2.0
// deuteron::dequantize_channels: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_channels.h"
#include "kernels/dequantize/channels/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(DequantizeChannelsArgs, count, channels)

namespace {

enum { kX, kShift, kFactor, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut);
  if (x.type != ScalarType::s8) return bad_argument(kX, "must be int8");
  if (y.type != ScalarType::f32 || !is_aligned(y, 4))
    return bad_argument(kOut, "must be float32 and 4-aligned");
  if (!same_layout(x, y))
    return bad_argument(kOut, "must have the sizes and the order of the input");
  if (Status s = check_channels(call, kShift, x); !s.ok()) return s;
  const DequantizeChannelsArgs a{x.numel, call.tensor(kFactor).numel};
  return keep<dequantize_channels_s8>(call, prepared, a, static_cast<const int8_t*>(x.data),
                                      static_cast<const float*>(call.tensor(kShift).data),
                                      static_cast<const float*>(call.tensor(kFactor).data),
                                      static_cast<float*>(y.data));
}

}  // namespace

const Kernel kDequantizeChannels = {"deuteron::dequantize_channels.out", "TTTO", prepare, true};

}  // namespace deuteron
