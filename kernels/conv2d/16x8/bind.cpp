// SPDX-License-Identifier: Apache-2.0
// deuteron::conv2d_16x8: its arguments checked once, at load. A bias of int32 makes it the narrow
// one.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_16x8.h"
#include "kernels/common/prepare_window_s16.h"
#include "kernels/conv2d/16x8/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(Conv2d16x8Args, n, in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w,
                kernel_c, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, y_min, y_max)

namespace {

enum {
  kX,
  kWeight,
  kBias,
  kMultipliers,
  kShifts,
  kStride,
  kPadding,
  kDilation,
  kYMin,
  kYMax,
  kOut
};

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut), &weight = call.tensor(kWeight);
  if (const char* why = why_not_image_s16(x)) return bad_argument(kX, why);
  if (const char* why = why_not_image_s16(y)) return bad_argument(kOut, why);
  if (const char* why = why_not_dense(weight, ScalarType::s8, 4)) return bad_argument(kWeight, why);
  Conv2d16x8Args a{};
  a.n = x.sizes[0], a.in_c = x.sizes[1], a.in_h = x.sizes[2], a.in_w = x.sizes[3];
  a.out_c = y.sizes[1], a.out_h = y.sizes[2], a.out_w = y.sizes[3];
  a.kernel_h = weight.sizes[1], a.kernel_w = weight.sizes[2], a.kernel_c = weight.sizes[3];
  if (y.sizes[0] != a.n) return bad_argument(kOut, "must have the batch of the input");
  if (weight.sizes[0] != a.out_c)
    return bad_argument(kWeight, "must have one filter for each output channel");
  if (Status s = read_window_s16(call, kStride, kOut, a.in_c, 1, a); !s.ok()) return s;
  if (y.numel == 0) return keep_nothing(prepared);
  if (a.in_c < 1 || a.kernel_c < 1 || a.in_c % a.kernel_c != 0 ||
      a.out_c % (a.in_c / a.kernel_c) != 0)
    return bad_argument(kWeight, "must have channels that divide those of the input into groups");
  Sums16x8 s;
  if (Status status = read_sums_16x8(call, kBias, a.out_c, &s); !status.ok()) return status;
  return keep_16x8<conv2d_16x8, conv2d_16x8_narrow, conv2d_16x8_mve, conv2d_16x8_narrow_mve,
                   conv2d_16x8_dsp, conv2d_16x8_narrow_dsp>(call, prepared, a, x, weight, s, y);
}

}  // namespace

const Kernel kConv2d16x8 = {"deuteron::conv2d_16x8.out", "TTtTTLLLIIO", prepare};

}  // namespace deuteron
