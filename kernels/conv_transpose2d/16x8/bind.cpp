// SPDX-License-Identifier: Apache-2.0
// deuteron::conv_transpose2d_16x8: its arguments checked once, at load. A bias of int32 makes it
// the narrow one.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_16x8.h"
#include "kernels/conv_transpose2d/16x8/kernel.h"
#include "kernels/image/window.h"

namespace deuteron {

DEUTERON_FIELDS(ConvTranspose2d16x8Args, n, in_h, in_w, in_c, out_h, out_w, out_c, kernel_h,
                kernel_w, stride_h, stride_w, pad_h, pad_w, y_min, y_max)

namespace {

enum { kX, kWeight, kBias, kMultipliers, kShifts, kStride, kPadding, kYMin, kYMax, kOut };

// Is `out` an extent of the result along one axis, with no number on the way that is too large?
bool is_reach(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t pad) {
  if (in < 1 || kernel < 1 || in * stride > kMaxReach || kernel > kMaxReach || out > kMaxReach)
    return false;
  const int64_t more = out - ((in - 1) * stride - 2 * pad + kernel);
  return more >= 0 && more < stride;
}

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut), &weight = call.tensor(kWeight);
  if (const char* why = why_not_image_s16(x)) return bad_argument(kX, why);
  if (const char* why = why_not_image_s16(y)) return bad_argument(kOut, why);
  if (const char* why = why_not_dense(weight, ScalarType::s8, 4)) return bad_argument(kWeight, why);
  ConvTranspose2d16x8Args a{};
  a.n = x.sizes[0], a.in_c = x.sizes[1], a.in_h = x.sizes[2], a.in_w = x.sizes[3];
  a.out_c = y.sizes[1], a.out_h = y.sizes[2], a.out_w = y.sizes[3];
  a.kernel_h = weight.sizes[1], a.kernel_w = weight.sizes[2];
  if (y.sizes[0] != a.n) return bad_argument(kOut, "must have the batch of the input");
  if (weight.sizes[0] != a.out_c)
    return bad_argument(kWeight, "must have one filter for each output channel");
  if (weight.sizes[3] != a.in_c || a.in_c < 1)
    return bad_argument(kWeight, "must have the channels of the input");
  if (const char* why = read_pair(call, kStride, 1, kMaxReach, &a.stride_h, &a.stride_w))
    return bad_argument(kStride, why);
  if (const char* why = read_pair(call, kPadding, 0, kMaxReach, &a.pad_h, &a.pad_w))
    return bad_argument(kPadding, why);
  if (Status s = read_bounds_s16(call, kYMin, &a.y_min, &a.y_max); !s.ok()) return s;
  if (y.numel == 0) return keep_nothing(prepared);
  if (!is_reach(a.in_h, a.out_h, a.kernel_h, a.stride_h, a.pad_h) ||
      !is_reach(a.in_w, a.out_w, a.kernel_w, a.stride_w, a.pad_w))
    return bad_argument(kOut,
                        "must have the extents that the input, the kernel and the padding give");
  Sums16x8 s;
  if (Status status = read_sums_16x8(call, kBias, a.out_c, &s); !status.ok()) return status;
  return keep_16x8<conv_transpose2d_16x8, conv_transpose2d_16x8_narrow>(call, prepared, a, x,
                                                                        weight, s, y);
}

}  // namespace

const Kernel kConvTranspose2d16x8 = {"deuteron::conv_transpose2d_16x8.out", "TTtTTLLIIO", prepare};

}  // namespace deuteron
