// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_transpose_conv2d: its arguments checked once, at load. operators.yaml of
// ExecuTorch 1.5 has the schema.
#include "kernels/common/kernels.h"
#include "kernels/conv_transpose2d/kernel.h"
#include "kernels/dense/conv_call.h"
#include "kernels/image/nhwc.h"
#include "kernels/image/windows.h"

namespace deuteron {

DEUTERON_FIELDS(ConvTranspose2dArgs, n, in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w,
                stride_h, stride_w, pad_h, pad_w, x_offset, y_zero, y_min, y_max, multiplier, shift)

namespace {

using Args = ConvTranspose2dArgs;
constexpr Argument kRow[] = {DEUTERON_CONV_IMAGE,   list(Is::padding), list(Is::one),
                             DEUTERON_CONV_NUMBERS, scratch(),         scratch(),
                             output(Is::s8_image)};
constexpr int kOutputPadding = 5, kXOffset = 7, kOut = last_of(kRow), kScratch = kOut - 2;

// Is `out` the extent of the result along one axis, with no number on the way that is too large?
bool is_reach(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t pad, int64_t more) {
  return in >= 1 && kernel >= 1 && in * stride <= kMaxReach && kernel <= kMaxReach &&
         (in - 1) * stride - 2 * pad + kernel + more == out;
}

Status choose(Call& call, Prepared* prepared, const ConvCall<ConvTranspose2dArgs>& c) {
  return keep_plain<conv_transpose2d_s8>(call, prepared, c);
}

Status prepare(Call& call, Prepared* prepared) {
  const int32_t *filters = call.tensor(kWeight).sizes, *y = call.tensor(kOut).sizes;
  ConvTranspose2dArgs a{};
  Status s = read_row(call, kRow, &a);
  if (!s.ok() || !read_images(call, kOut, &a.n, &s)) return s;
  a.out_c = y[1], a.kernel_h = filters[1], a.kernel_w = filters[2];
  if (filters[0] != a.out_c)
    return bad_argument(kWeight, "must have one filter for each output channel");
  if (filters[3] != a.in_c || a.in_c < 1)
    return bad_argument(kWeight, "must have the channels of the input");
  const int64_t more_h = call.list_integer(kOutputPadding, 0),
                more_w = call.list_integer(kOutputPadding, 1);
  if (more_h >= a.stride_h || more_w >= a.stride_w)
    return bad_argument(kOutputPadding, "must be less than the stride");
  if (!is_reach(a.in_h, a.out_h, a.kernel_h, a.stride_h, a.pad_h, more_h) ||
      !is_reach(a.in_w, a.out_w, a.kernel_w, a.stride_w, a.pad_w, more_w))
    return bad_argument(kOut,
                        "must have the extents that the input, the kernel and the padding give");
  return keep_conv<ConvTranspose2dArgs, choose>(call, prepared, kXOffset, kScratch, kOut, a);
}

}  // namespace

const Kernel kQuantizedTransposeConv2d =
    kernel_by<kRow>("cortex_m::quantized_transpose_conv2d.out", prepare);
const Kernel kQuantizedTransposeConv2dNhwc =
    kernel_by<kRow>("cortex_m::quantized_transpose_conv2d_nhwc.out", prepare_nhwc<prepare>);

}  // namespace deuteron
