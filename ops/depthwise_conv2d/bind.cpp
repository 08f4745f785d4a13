// cortex_m::quantized_depthwise_conv2d: its arguments checked once, at load. operators.yaml of ExecuTorch 1.5 has the schema.
#include "ops/depthwise_conv2d/kernel.h"
#include "ops/kernels.h"
#include "ops/prepare.h"
#include "ops/window.h"

namespace deuteron {
namespace {

enum {
  kX,
  kWeight,
  kBias,
  kStride,
  kPadding,
  kDilation,
  kDepthMultiplier,
  kXOffset,
  kYZero,
  kMultipliers,
  kShifts,
  kYMin,
  kYMax,
  kScratch,
  kOut
};

struct DepthwiseCall {
  DepthwiseConv2dArgs args;
  const int8_t *x, *weight;
  const int32_t* bias;
  int8_t* y;
};
void run(const DepthwiseCall& c) { depthwise_conv2d_s8(c.args, c.x, c.weight, c.bias, c.y); }

// The numbers that are neither shapes nor tensors.
Status read_numbers(const Call& call, DepthwiseConv2dArgs& a) {
  if (const char* why = read_pair(call, kStride, 1, kMaxReach, &a.stride_h, &a.stride_w)) return bad_argument(kStride, why);
  if (const char* why = read_pair(call, kPadding, 0, kMaxReach, &a.pad_h, &a.pad_w)) return bad_argument(kPadding, why);
  if (const char* why = read_pair(call, kDilation, 1, kMaxReach, &a.dilation_h, &a.dilation_w)) return bad_argument(kDilation, why);
  if (!lies_in(call.integer(kXOffset), -255, 255)) return bad_argument(kXOffset, "must be -255..255");
  if (!is_s8(call.integer(kYZero))) return bad_argument(kYZero, "must be -128..127");
  if (!is_s8(call.integer(kYMin))) return bad_argument(kYMin, "must be -128..127");
  if (!lies_in(call.integer(kYMax), call.integer(kYMin), 127)) return bad_argument(kYMax, "must be activation_min..127");
  a.x_offset = static_cast<int32_t>(call.integer(kXOffset));
  a.y_zero = static_cast<int32_t>(call.integer(kYZero));
  a.y_min = static_cast<int32_t>(call.integer(kYMin));
  a.y_max = static_cast<int32_t>(call.integer(kYMax));
  return Status{};
}

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &weight = call.tensor(kWeight), &y = call.tensor(kOut);
  if (const char* why = why_not_image(x)) return bad_argument(kX, why);
  if (const char* why = why_not_image(y)) return bad_argument(kOut, why);
  if (const char* why = why_not_dense(weight, ScalarType::s8, 4)) return bad_argument(kWeight, why);
  DepthwiseConv2dArgs a{};
  a.n = x.sizes[0], a.in_c = x.sizes[1], a.in_h = x.sizes[2], a.in_w = x.sizes[3];
  a.out_c = y.sizes[1], a.out_h = y.sizes[2], a.out_w = y.sizes[3];
  a.kernel_h = weight.sizes[1], a.kernel_w = weight.sizes[2];
  if (weight.sizes[0] != 1) return bad_argument(kWeight, "must have a first extent of 1");
  if (weight.sizes[3] != a.out_c) return bad_argument(kWeight, "must have one filter for each output channel");
  if (!lies_in(call.integer(kDepthMultiplier), 1, kMaxReach)) return bad_argument(kDepthMultiplier, "is out of range");
  a.depth_multiplier = static_cast<int32_t>(call.integer(kDepthMultiplier));
  if (int64_t{a.in_c} * a.depth_multiplier != a.out_c) return bad_argument(kOut, "must have the input's channels times the multiplier");
  if (y.sizes[0] != a.n) return bad_argument(kOut, "must have the batch of the input");
  if (Status s = read_numbers(call, a); !s.ok()) return s;
  if (const char* why = why_not_window(a.in_h, a.out_h, a.kernel_h, a.stride_h, a.pad_h, a.dilation_h)) return bad_argument(kOut, why);
  if (const char* why = why_not_window(a.in_w, a.out_w, a.kernel_w, a.stride_w, a.pad_w, a.dilation_w)) return bad_argument(kOut, why);
  const Tensor* bias = call.optional_tensor(kBias);
  if (bias != nullptr)
    if (const char* why = why_not_channel_sums(*bias, a.out_c)) return bad_argument(kBias, why);
  if (const char* why = why_not_multipliers(call.tensor(kMultipliers), a.out_c)) return bad_argument(kMultipliers, why);
  if (const char* why = why_not_shifts(call.tensor(kShifts), a.out_c)) return bad_argument(kShifts, why);
  if (y.numel == 0) return keep_nothing(prepared);
  a.multiplier = static_cast<const int32_t*>(call.tensor(kMultipliers).data);
  a.shift = static_cast<const int32_t*>(call.tensor(kShifts).data);
  return keep<DepthwiseCall, run>(call, prepared,
                                  {a, static_cast<const int8_t*>(x.data), static_cast<const int8_t*>(weight.data),
                                   bias ? static_cast<const int32_t*>(bias->data) : nullptr, static_cast<int8_t*>(y.data)});
}

}  // namespace

const Kernel kQuantizedDepthwiseConv2d = {"cortex_m::quantized_depthwise_conv2d.out", "TTtLLLIIITTIIOO", prepare};

}  // namespace deuteron
