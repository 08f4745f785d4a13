// SPDX-License-Identifier: Apache-2.0
// deuteron::conv_transpose2d_16x8: its arguments checked once, at load. A bias of int32 makes it
// the narrow one.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_16x8.h"
#include "kernels/common/row.h"
#include "kernels/conv_transpose2d/16x8/kernel.h"
#include "kernels/image/windows.h"

namespace deuteron {

DEUTERON_FIELDS(ConvTranspose2d16x8Args, n, in_h, in_w, in_c, out_h, out_w, out_c, kernel_h,
                kernel_w, stride_h, stride_w, pad_h, pad_w, y_min, y_max)

namespace {

enum { kX, kWeight, kBias };
using Args = ConvTranspose2d16x8Args;
constexpr Argument kRow[] = {input(Is::s16_image),
                             input(Is::s8_filters),
                             optional_tensor(),
                             input(Is::any),
                             input(Is::any),
                             list(Is::reach, DEUTERON_FIELD(stride_h)),
                             list(Is::padding, DEUTERON_FIELD(pad_h)),
                             number(Is::wide_step, DEUTERON_FIELD(y_min)),
                             number(Is::wide_step_max, DEUTERON_FIELD(y_max)),
                             output(Is::s16_image)};

// Is `out` an extent of the result along one axis, with no number on the way that is too large?
bool is_reach(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t pad) {
  if (in < 1 || kernel < 1 || in * stride > kMaxReach || kernel > kMaxReach || out > kMaxReach)
    return false;
  const int64_t more = out - ((in - 1) * stride - 2 * pad + kernel);
  return more >= 0 && more < stride;
}

Status prepare(Call& call, Prepared* prepared) {
  constexpr int kOut = last_of(kRow);
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut), &weight = call.tensor(kWeight);
  Args a{};
  Status s = read_row(call, kRow, &a);
  if (!s.ok() || !read_images(call, kOut, &a.n, &s)) return s;
  a.out_c = y.sizes[1], a.kernel_h = weight.sizes[1], a.kernel_w = weight.sizes[2];
  if (weight.sizes[0] != a.out_c)
    return bad_argument(kWeight, "must have one filter for each output channel");
  if (weight.sizes[3] != a.in_c || a.in_c < 1)
    return bad_argument(kWeight, "must have the channels of the input");
  if (y.numel == 0) return keep_nothing(prepared);
  if (!is_reach(a.in_h, a.out_h, a.kernel_h, a.stride_h, a.pad_h) ||
      !is_reach(a.in_w, a.out_w, a.kernel_w, a.stride_w, a.pad_w))
    return bad_argument(kOut,
                        "must have the extents that the input, the kernel and the padding give");
  Sums16x8 sums;
  if (!read_sums_16x8(call, kBias, a.out_c, &sums, &s)) return s;
  return keep_16x8<conv_transpose2d_16x8, conv_transpose2d_16x8_narrow>(call, prepared, a, x,
                                                                        weight, sums, y);
}

}  // namespace

const Kernel kConvTranspose2d16x8 = kernel_by<kRow>("deuteron::conv_transpose2d_16x8.out", prepare);

}  // namespace deuteron
