// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_conv2d: its arguments checked once, at load. operators.yaml of ExecuTorch 1.5
// has the schema.
#include "kernels/common/kernels.h"
#include "kernels/conv2d/kernel.h"
#include "kernels/dense/conv_call.h"
#include "kernels/image/nhwc.h"
#include "kernels/image/window.h"
#include "runtime/instruction_set.h"

namespace deuteron {

DEUTERON_FIELDS(Conv2dArgs, n, in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w, kernel_c,
                stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, x_offset, y_zero, y_min,
                y_max, multiplier, shift, has_shifts, has_large_multipliers)

namespace {

enum {
  kX,
  kWeight,
  kBias,
  kStride,
  kPadding,
  kDilation,
  kXOffset,
  kYZero,
  kMultipliers,
  kShifts,
  kYMin,
  kYMax,
  kScratch,
  kOut
};

// The numbers that are neither shapes nor tensors.
Status read_numbers(const Call& call, Conv2dArgs& a) {
  if (const char* why = read_pair(call, kStride, 1, kMaxReach, &a.stride_h, &a.stride_w))
    return bad_argument(kStride, why);
  if (const char* why = read_pair(call, kPadding, 0, kMaxReach, &a.pad_h, &a.pad_w))
    return bad_argument(kPadding, why);
  if (const char* why = read_pair(call, kDilation, 1, kMaxReach, &a.dilation_h, &a.dilation_w))
    return bad_argument(kDilation, why);
  return read_offsets(call, kXOffset, a);
}

Status choose(Call& call, Prepared* prepared, const ConvCall<Conv2dArgs>& c) {
  if (is_for<Feature::scalar>(call))
    return keep_in_scratch_for<Feature::scalar, conv2d_s8_scalar>(call, prepared, c);
  if (is_for<Feature::mve>(call) || is_for<Feature::dsp>(call)) {
    ConvCall<Conv2dArgs> known = c;
    note_scales(known.args);
    if (serves<Feature::mve, why_not_conv2d_mve>(call, known.args))
      return keep_in_scratch_for<Feature::mve, conv2d_s8_mve>(call, prepared, known);
    if (serves<Feature::dsp, why_not_conv2d_dsp>(call, known.args))
      return keep_in_scratch_for<Feature::dsp, conv2d_s8_dsp>(call, prepared, known);
  }
  return keep_plain<conv2d_s8>(call, prepared, c);
}

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &weight = call.tensor(kWeight), &y = call.tensor(kOut);
  if (const char* why = why_not_image(x)) return bad_argument(kX, why);
  if (const char* why = why_not_image(y)) return bad_argument(kOut, why);
  if (const char* why = why_not_dense(weight, ScalarType::s8, 4)) return bad_argument(kWeight, why);
  Conv2dArgs a{};
  read_extents(x, y, a);
  a.kernel_h = weight.sizes[1], a.kernel_w = weight.sizes[2], a.kernel_c = weight.sizes[3];
  if (weight.sizes[0] != a.out_c)
    return bad_argument(kWeight, "must have one filter for each output channel");
  if (a.kernel_c < 1 || a.in_c < 1 || a.in_c % a.kernel_c != 0)
    return bad_argument(kWeight, "must have channels that divide the input's");
  if (a.out_c % (a.in_c / a.kernel_c) != 0)
    return bad_argument(kOut, "must have channels that divide by the groups");
  if (y.sizes[0] != a.n) return bad_argument(kOut, "must have the batch of the input");
  if (Status s = read_numbers(call, a); !s.ok()) return s;
  if (const char* why =
          why_not_window(a.in_h, a.out_h, a.kernel_h, a.stride_h, a.pad_h, a.dilation_h))
    return bad_argument(kOut, why);
  if (const char* why =
          why_not_window(a.in_w, a.out_w, a.kernel_w, a.stride_w, a.pad_w, a.dilation_w))
    return bad_argument(kOut, why);
  if (const char* why = why_not_steps(a, a.in_c, 1)) return bad_argument(kStride, why);
  return keep_conv<Conv2dArgs, choose>(call, prepared, kX, kWeight, kBias, kXOffset, kScratch, kOut,
                                       a);
}

}  // namespace

const Kernel kQuantizedConv2d = {"cortex_m::quantized_conv2d.out", "TTtLLLIITTIIXO", prepare};
const Kernel kQuantizedConv2dNhwc = {"cortex_m::quantized_conv2d_nhwc.out", "TTtLLLIITTIIXO",
                                     prepare_nhwc<prepare>};

}  // namespace deuteron
