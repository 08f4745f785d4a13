// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_transpose_conv2d: its arguments checked once, at load. operators.yaml of
// ExecuTorch 1.5 has the schema.
#include "kernels/common/kernels.h"
#include "kernels/conv_transpose2d/kernel.h"
#include "kernels/dense/conv_call.h"
#include "kernels/image/nhwc.h"
#include "kernels/image/window.h"

namespace deuteron {

DEUTERON_FIELDS(ConvTranspose2dArgs, n, in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w,
                stride_h, stride_w, pad_h, pad_w, x_offset, y_zero, y_min, y_max, multiplier, shift)

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

// The numbers that are neither shapes nor tensors.
Status read_numbers(const Call& call, ConvTranspose2dArgs& a) {
  if (const char* why = read_pair(call, kStride, 1, kMaxReach, &a.stride_h, &a.stride_w))
    return bad_argument(kStride, why);
  if (const char* why = read_pair(call, kPadding, 0, kMaxReach, &a.pad_h, &a.pad_w))
    return bad_argument(kPadding, why);
  int32_t dilation_h, dilation_w;
  if (const char* why = read_pair(call, kDilation, 1, 1, &dilation_h, &dilation_w))
    return bad_argument(kDilation, why);
  return read_offsets(call, kXOffset, a);
}

// Is `out` the extent of the result along one axis, with no number on the way that is too large?
bool is_reach(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t pad, int64_t more) {
  return in >= 1 && kernel >= 1 && in * stride <= kMaxReach && kernel <= kMaxReach &&
         (in - 1) * stride - 2 * pad + kernel + more == out;
}

Status choose(Call& call, Prepared* prepared, const ConvCall<ConvTranspose2dArgs>& c) {
  return keep_plain<conv_transpose2d_s8>(call, prepared, c);
}

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &weight = call.tensor(kWeight), &y = call.tensor(kOut);
  if (const char* why = why_not_image(x)) return bad_argument(kX, why);
  if (const char* why = why_not_image(y)) return bad_argument(kOut, why);
  if (const char* why = why_not_dense(weight, ScalarType::s8, 4)) return bad_argument(kWeight, why);
  ConvTranspose2dArgs a{};
  read_extents(x, y, a);
  a.kernel_h = weight.sizes[1], a.kernel_w = weight.sizes[2];
  if (weight.sizes[0] != a.out_c)
    return bad_argument(kWeight, "must have one filter for each output channel");
  if (weight.sizes[3] != a.in_c || a.in_c < 1)
    return bad_argument(kWeight, "must have the channels of the input");
  if (y.sizes[0] != a.n) return bad_argument(kOut, "must have the batch of the input");
  if (Status s = read_numbers(call, a); !s.ok()) return s;
  int32_t more_h, more_w;
  if (const char* why = read_pair(call, kOutputPadding, 0, kMaxReach, &more_h, &more_w))
    return bad_argument(kOutputPadding, why);
  if (more_h >= a.stride_h || more_w >= a.stride_w)
    return bad_argument(kOutputPadding, "must be less than the stride");
  if (!is_reach(a.in_h, a.out_h, a.kernel_h, a.stride_h, a.pad_h, more_h) ||
      !is_reach(a.in_w, a.out_w, a.kernel_w, a.stride_w, a.pad_w, more_w))
    return bad_argument(kOut,
                        "must have the extents that the input, the kernel and the padding give");
  return keep_conv<ConvTranspose2dArgs, choose>(call, prepared, kX, kWeight, kBias, kXOffset,
                                                kScratch, kOut, a);
}

}  // namespace

const Kernel kQuantizedTransposeConv2d = {"cortex_m::quantized_transpose_conv2d.out",
                                          "TTtLLLLIITTIIXXO", prepare};
const Kernel kQuantizedTransposeConv2dNhwc = {"cortex_m::quantized_transpose_conv2d_nhwc.out",
                                              "TTtLLLLIITTIIXXO", prepare_nhwc<prepare>};

}  // namespace deuteron
