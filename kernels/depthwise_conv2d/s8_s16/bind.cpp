// SPDX-License-Identifier: Apache-2.0
// deuteron::depthwise_conv2d_s8_s16: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/depthwise_conv2d/s16/read_call.h"
#include "kernels/depthwise_conv2d/s8_s16/kernel.h"
#include "runtime/instruction_set.h"

namespace deuteron {

DEUTERON_FIELDS(DepthwiseS8S16Args, layer, x_zero)

namespace {

enum { kX = kDepthX, kXZero = kDepthYMax + 1, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut);
  if (const char* why = why_not_image(x)) return bad_argument(kX, why);
  DepthwiseS8S16Args a{};
  if (Status s = read_depthwise_s16(call, kOut, a.layer); !s.ok()) return s;
  if (!is_s8(call.integer(kXZero))) return bad_argument(kXZero, "must be -128..127");
  a.x_zero = static_cast<int32_t>(call.integer(kXZero));
  if (y.numel == 0) return keep_nothing(prepared);
  const auto* from = static_cast<const int8_t*>(x.data);
  const auto* weights = static_cast<const int16_t*>(call.tensor(kDepthWeight).data);
  const auto* first = static_cast<const int32_t*>(call.tensor(kDepthFirst).data);
  const auto* multiplier = static_cast<const int32_t*>(call.tensor(kDepthMultiplier).data);
  auto* to = static_cast<int16_t*>(y.data);
  if (is_for<Feature::mve>(call))
    return keep_for<Feature::mve, depthwise_conv2d_s8_s16_mve>(call, prepared, a, from, weights,
                                                               first, multiplier, to);
  return keep<depthwise_conv2d_s8_s16>(call, prepared, a, from, weights, first, multiplier, to);
}

}  // namespace

const Kernel kDepthwiseConv2dS8S16 = {"deuteron::depthwise_conv2d_s8_s16.out", "TTTTLLLIIIO",
                                      prepare};

}  // namespace deuteron
