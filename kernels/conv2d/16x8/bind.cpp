// SPDX-License-Identifier: Apache-2.0
// deuteron::conv2d_16x8: its arguments checked once, at load. A bias of int32 makes it the narrow
// one.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_16x8.h"
#include "kernels/common/row.h"
#include "kernels/conv2d/16x8/kernel.h"
#include "kernels/image/windows.h"

namespace deuteron {

DEUTERON_FIELDS(Conv2d16x8Args, n, in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w,
                kernel_c, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, y_min, y_max)

namespace {

enum { kX, kWeight, kBias, kMultipliers, kShifts, kStride };
using Args = Conv2d16x8Args;
constexpr Argument kRow[] = {input(Is::s16_image),
                             input(Is::s8_filters),
                             optional_tensor(),
                             input(Is::any),
                             input(Is::any),
                             list(Is::reach, DEUTERON_FIELD(stride_h)),
                             list(Is::padding, DEUTERON_FIELD(pad_h)),
                             list(Is::reach, DEUTERON_FIELD(dilation_h)),
                             number(Is::wide_step, DEUTERON_FIELD(y_min)),
                             number(Is::wide_step_max, DEUTERON_FIELD(y_max)),
                             output(Is::s16_image)};

Status prepare(Call& call, Prepared* prepared) {
  constexpr int kOut = last_of(kRow);
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut), &weight = call.tensor(kWeight);
  Args a{};
  Status s = read_row(call, kRow, &a);
  if (!s.ok() || !read_images(call, kOut, &a.n, &s)) return s;
  a.out_c = y.sizes[1];
  a.kernel_h = weight.sizes[1], a.kernel_w = weight.sizes[2], a.kernel_c = weight.sizes[3];
  if (weight.sizes[0] != a.out_c)
    return bad_argument(kWeight, "must have one filter for each output channel");
  if (!windows_fit(a, kOut, kStride, a.in_c, 1, &s)) return s;
  if (y.numel == 0) return keep_nothing(prepared);
  if (a.in_c < 1 || a.kernel_c < 1 || a.in_c % a.kernel_c != 0 ||
      a.out_c % (a.in_c / a.kernel_c) != 0)
    return bad_argument(kWeight, "must have channels that divide those of the input into groups");
  Sums16x8 sums;
  if (!read_sums_16x8(call, kBias, a.out_c, &sums, &s)) return s;
  return keep_16x8<conv2d_16x8, conv2d_16x8_narrow, conv2d_16x8_mve, conv2d_16x8_narrow_mve,
                   conv2d_16x8_dsp, conv2d_16x8_narrow_dsp>(call, prepared, a, x, weight, sums, y);
}

}  // namespace

const Kernel kConv2d16x8 = kernel_by<kRow>("deuteron::conv2d_16x8.out", prepare);

}  // namespace deuteron
