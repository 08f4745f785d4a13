// SPDX-License-Identifier: Apache-2.0
// deuteron::depthwise_conv2d_s16: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/depthwise_conv2d/s16/read_call.h"
#include "runtime/instruction_set.h"

namespace deuteron {

namespace {

enum { kX = kDepthX, kOut = kDepthYMax + 1 };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut);
  if (const char* why = why_not_image_s16(x)) return bad_argument(kX, why);
  DepthwiseS16Args a;
  if (Status s = read_depthwise_s16(call, kOut, a); !s.ok()) return s;
  if (y.numel == 0) return keep_nothing(prepared);
  const auto* from = static_cast<const int16_t*>(x.data);
  const auto* weights = static_cast<const int16_t*>(call.tensor(kDepthWeight).data);
  const auto* first = static_cast<const int32_t*>(call.tensor(kDepthFirst).data);
  const auto* multiplier = static_cast<const int32_t*>(call.tensor(kDepthMultiplier).data);
  auto* to = static_cast<int16_t*>(y.data);
  if (is_for<Feature::mve>(call))
    return keep_for<Feature::mve, depthwise_conv2d_s16_mve>(call, prepared, a, from, weights, first,
                                                            multiplier, to);
  if (is_for<Feature::dsp>(call))
    return keep_for<Feature::dsp, depthwise_conv2d_s16_dsp>(call, prepared, a, from, weights, first,
                                                            multiplier, to);
  return keep<depthwise_conv2d_s16>(call, prepared, a, from, weights, first, multiplier, to);
}

}  // namespace

const Kernel kDepthwiseConv2dS16 = {"deuteron::depthwise_conv2d_s16.out", "TTTTLLLIIO", prepare};

}  // namespace deuteron
