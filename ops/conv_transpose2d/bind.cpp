// cortex_m::quantized_transpose_conv2d: its arguments checked once, at load. operators.yaml of ExecuTorch 1.5 has the schema.
#include "ops/conv_transpose2d/kernel.h"
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
  kOutputPadding,
  kDilation,
  kXOffset,
  kYZero,
  kMultipliers,
  kShifts,
  kYMin,
  kYMax,
  kScratch,
  kOutputScratch,
  kOut
};

struct ConvTransposeCall {
  ConvTranspose2dArgs args;
  const int8_t *x, *weight;
  const int32_t* bias;
  int8_t* y;
};
void run(const ConvTransposeCall& c) { conv_transpose2d_s8(c.args, c.x, c.weight, c.bias, c.y); }

// The numbers that are neither shapes nor tensors.
Status read_numbers(const Call& call, ConvTranspose2dArgs& a) {
  if (const char* why = read_pair(call, kStride, 1, kMaxReach, &a.stride_h, &a.stride_w)) return bad_argument(kStride, why);
  if (const char* why = read_pair(call, kPadding, 0, kMaxReach, &a.pad_h, &a.pad_w)) return bad_argument(kPadding, why);
  int32_t dilation_h, dilation_w;
  if (const char* why = read_pair(call, kDilation, 1, 1, &dilation_h, &dilation_w)) return bad_argument(kDilation, why);
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

// Is `out` the extent of the result along one axis, with no number on the way that is too large?
bool is_reach(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t pad, int64_t more) {
  return in >= 1 && kernel >= 1 && in * stride <= kMaxReach && kernel <= kMaxReach && (in - 1) * stride - 2 * pad + kernel + more == out;
}

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &weight = call.tensor(kWeight), &y = call.tensor(kOut);
  if (const char* why = why_not_image(x)) return bad_argument(kX, why);
  if (const char* why = why_not_image(y)) return bad_argument(kOut, why);
  if (const char* why = why_not_dense(weight, ScalarType::s8, 4)) return bad_argument(kWeight, why);
  ConvTranspose2dArgs a{};
  a.n = x.sizes[0], a.in_c = x.sizes[1], a.in_h = x.sizes[2], a.in_w = x.sizes[3];
  a.out_c = y.sizes[1], a.out_h = y.sizes[2], a.out_w = y.sizes[3];
  a.kernel_h = weight.sizes[1], a.kernel_w = weight.sizes[2];
  if (weight.sizes[0] != a.out_c) return bad_argument(kWeight, "must have one filter for each output channel");
  if (weight.sizes[3] != a.in_c || a.in_c < 1) return bad_argument(kWeight, "must have the channels of the input");
  if (y.sizes[0] != a.n) return bad_argument(kOut, "must have the batch of the input");
  if (Status s = read_numbers(call, a); !s.ok()) return s;
  int32_t more_h, more_w;
  if (const char* why = read_pair(call, kOutputPadding, 0, kMaxReach, &more_h, &more_w)) return bad_argument(kOutputPadding, why);
  if (more_h >= a.stride_h || more_w >= a.stride_w) return bad_argument(kOutputPadding, "must be less than the stride");
  if (!is_reach(a.in_h, a.out_h, a.kernel_h, a.stride_h, a.pad_h, more_h) ||
      !is_reach(a.in_w, a.out_w, a.kernel_w, a.stride_w, a.pad_w, more_w))
    return bad_argument(kOut, "must have the extents that the input, the kernel and the padding give");
  const Tensor* bias = call.optional_tensor(kBias);
  if (bias != nullptr)
    if (const char* why = why_not_channel_sums(*bias, a.out_c)) return bad_argument(kBias, why);
  if (const char* why = why_not_multipliers(call.tensor(kMultipliers), a.out_c)) return bad_argument(kMultipliers, why);
  if (const char* why = why_not_shifts(call.tensor(kShifts), a.out_c)) return bad_argument(kShifts, why);
  if (y.numel == 0) return keep_nothing(prepared);
  a.multiplier = static_cast<const int32_t*>(call.tensor(kMultipliers).data);
  a.shift = static_cast<const int32_t*>(call.tensor(kShifts).data);
  return keep<ConvTransposeCall, run>(call, prepared,
                                      {a, static_cast<const int8_t*>(x.data), static_cast<const int8_t*>(weight.data),
                                       bias ? static_cast<const int32_t*>(bias->data) : nullptr, static_cast<int8_t*>(y.data)});
}

}  // namespace

const Kernel kQuantizedTransposeConv2d = {"cortex_m::quantized_transpose_conv2d.out", "TTtLLLLIITTIIOOO", prepare};

}  // namespace deuteron
