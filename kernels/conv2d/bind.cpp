// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_conv2d: its arguments checked once, at load. operators.yaml of ExecuTorch 1.5
// has the schema.
#include "kernels/common/kernels.h"
#include "kernels/conv2d/kernel.h"
#include "kernels/dense/conv_call.h"
#include "kernels/image/nhwc.h"
#include "kernels/image/windows.h"
#include "runtime/instruction_set.h"

namespace deuteron {

DEUTERON_FIELDS(Conv2dArgs, n, in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w, kernel_c,
                stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, x_offset, y_zero, y_min,
                y_max, multiplier, shift, has_shifts, has_large_multipliers)

namespace {

using Args = Conv2dArgs;
constexpr Argument kRow[] = {DEUTERON_CONV_IMAGE, list(Is::reach, DEUTERON_FIELD(dilation_h)),
                             DEUTERON_CONV_NUMBERS, scratch(), output(Is::s8_image)};
constexpr int kXOffset = 6, kOut = last_of(kRow), kScratch = kOut - 1;

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
  const int32_t *filters = call.tensor(kWeight).sizes, *y = call.tensor(kOut).sizes;
  Conv2dArgs a{};
  Status s = read_row(call, kRow, &a);
  if (!s.ok() || !read_images(call, kOut, &a.n, &s)) return s;
  a.out_c = y[1], a.kernel_h = filters[1], a.kernel_w = filters[2], a.kernel_c = filters[3];
  if (filters[0] != a.out_c)
    return bad_argument(kWeight, "must have one filter for each output channel");
  if (a.kernel_c < 1 || a.in_c < 1 || a.in_c % a.kernel_c != 0)
    return bad_argument(kWeight, "must have channels that divide the input's");
  if (a.out_c % (a.in_c / a.kernel_c) != 0)
    return bad_argument(kOut, "must have channels that divide by the groups");
  if (!windows_fit(a, kOut, kStride, a.in_c, 1, &s)) return s;
  return keep_conv<Conv2dArgs, choose>(call, prepared, kXOffset, kScratch, kOut, a);
}

}  // namespace

const Kernel kQuantizedConv2d = kernel_by<kRow>("cortex_m::quantized_conv2d.out", prepare);
const Kernel kQuantizedConv2dNhwc =
    kernel_by<kRow>("cortex_m::quantized_conv2d_nhwc.out", prepare_nhwc<prepare>);

}  // namespace deuteron
