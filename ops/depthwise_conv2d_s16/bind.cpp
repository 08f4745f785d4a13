// deuteron::depthwise_conv2d_s16: its arguments checked once, at load.
#include "ops/depthwise_conv2d_s16/kernel.h"
#include "ops/device/kernels.h"
#include "ops/device/prepare_s16.h"
#include "ops/image/window.h"
#include "runtime/instruction_set.h"

namespace deuteron {

DEUTERON_FIELDS(DepthwiseS16Args, n, in_h, in_w, channels, out_h, out_w, kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h,
                dilation_w, y_min, y_max)

namespace {

enum { kX, kWeight, kFirst, kMultiplier, kStride, kPadding, kDilation, kYMin, kYMax, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut), &weight = call.tensor(kWeight);
  if (const char* why = why_not_image_s16(x)) return bad_argument(kX, why);
  if (const char* why = why_not_image_s16(y)) return bad_argument(kOut, why);
  if (const char* why = why_not_dense(weight, ScalarType::s16, 3)) return bad_argument(kWeight, why);
  if (!is_aligned(weight, 2)) return bad_argument(kWeight, "must be 2-aligned");
  DepthwiseS16Args a{};
  a.n = x.sizes[0], a.channels = x.sizes[1], a.in_h = x.sizes[2], a.in_w = x.sizes[3];
  a.out_h = y.sizes[2], a.out_w = y.sizes[3], a.kernel_h = weight.sizes[0], a.kernel_w = weight.sizes[1];
  if (weight.sizes[2] != a.channels) return bad_argument(kWeight, "must have the channels of the input");
  if (y.sizes[0] != a.n || y.sizes[1] != a.channels) return bad_argument(kOut, "must have the batch and the channels of the input");
  if (const char* why = why_not_channel_sums(call.tensor(kFirst), a.channels)) return bad_argument(kFirst, why);
  if (const char* why = why_not_channel_constants(call.tensor(kMultiplier), a.channels, 0, INT32_MAX))
    return bad_argument(kMultiplier, why);
  if (const char* why = read_pair(call, kStride, 1, kMaxReach, &a.stride_h, &a.stride_w)) return bad_argument(kStride, why);
  if (const char* why = read_pair(call, kPadding, 0, kMaxReach, &a.pad_h, &a.pad_w)) return bad_argument(kPadding, why);
  if (const char* why = read_pair(call, kDilation, 1, kMaxReach, &a.dilation_h, &a.dilation_w)) return bad_argument(kDilation, why);
  if (Status s = read_bounds_s16(call, kYMin, &a.y_min, &a.y_max); !s.ok()) return s;
  if (const char* why = why_not_window(a.in_h, a.out_h, a.kernel_h, a.stride_h, a.pad_h, a.dilation_h)) return bad_argument(kOut, why);
  if (const char* why = why_not_window(a.in_w, a.out_w, a.kernel_w, a.stride_w, a.pad_w, a.dilation_w)) return bad_argument(kOut, why);
  if (const char* why = why_not_steps(a, a.channels, 1)) return bad_argument(kStride, why);
  if (y.numel == 0) return keep_nothing(prepared);
  const auto* from = static_cast<const int16_t*>(x.data);
  const auto* weights = static_cast<const int16_t*>(weight.data);
  const auto* first = static_cast<const int32_t*>(call.tensor(kFirst).data);
  const auto* multiplier = static_cast<const int32_t*>(call.tensor(kMultiplier).data);
  auto* to = static_cast<int16_t*>(y.data);
  if (is_for<Feature::mve>(call))
    return keep_for<Feature::mve, depthwise_conv2d_s16_mve>(call, prepared, a, from, weights, first, multiplier, to);
  if (is_for<Feature::dsp>(call))
    return keep_for<Feature::dsp, depthwise_conv2d_s16_dsp>(call, prepared, a, from, weights, first, multiplier, to);
  return keep<depthwise_conv2d_s16>(call, prepared, a, from, weights, first, multiplier, to);
}

}  // namespace

const Kernel kDepthwiseConv2dS16 = {"deuteron::depthwise_conv2d_s16.out", "TTTTLLLIIO", prepare};

}  // namespace deuteron
