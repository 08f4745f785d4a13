// deuteron::conv2d_16x8: its arguments checked once, at load. A bias of int32 makes it the narrow one.
#include "ops/conv2d_16x8/kernel.h"
#include "ops/device/kernels.h"
#include "ops/device/prepare_16x8.h"
#include "ops/image/window.h"

namespace deuteron {

DEUTERON_FIELDS(Conv2d16x8Args, n, in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w, kernel_c, stride_h, stride_w, pad_h, pad_w,
                dilation_h, dilation_w, y_min, y_max)

namespace {

enum { kX, kWeight, kBias, kMultipliers, kShifts, kStride, kPadding, kDilation, kYMin, kYMax, kOut };

Status read_window(const Call& call, Conv2d16x8Args& a) {
  if (const char* why = read_pair(call, kStride, 1, kMaxReach, &a.stride_h, &a.stride_w)) return bad_argument(kStride, why);
  if (const char* why = read_pair(call, kPadding, 0, kMaxReach, &a.pad_h, &a.pad_w)) return bad_argument(kPadding, why);
  if (const char* why = read_pair(call, kDilation, 1, kMaxReach, &a.dilation_h, &a.dilation_w)) return bad_argument(kDilation, why);
  if (Status s = read_bounds_s16(call, kYMin, &a.y_min, &a.y_max); !s.ok()) return s;
  if (const char* why = why_not_window(a.in_h, a.out_h, a.kernel_h, a.stride_h, a.pad_h, a.dilation_h)) return bad_argument(kOut, why);
  if (const char* why = why_not_window(a.in_w, a.out_w, a.kernel_w, a.stride_w, a.pad_w, a.dilation_w)) return bad_argument(kOut, why);
  if (const char* why = why_not_steps(a, a.in_c, 1)) return bad_argument(kStride, why);
  return Status{};
}

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
  if (weight.sizes[0] != a.out_c) return bad_argument(kWeight, "must have one filter for each output channel");
  if (Status s = read_window(call, a); !s.ok()) return s;
  if (y.numel == 0) return keep_nothing(prepared);
  if (a.in_c < 1 || a.kernel_c < 1 || a.in_c % a.kernel_c != 0 || a.out_c % (a.in_c / a.kernel_c) != 0)
    return bad_argument(kWeight, "must have channels that divide those of the input into groups");
  Sums16x8 s;
  if (Status status = read_sums_16x8(call, kBias, a.out_c, &s); !status.ok()) return status;
  const auto* from = static_cast<const int16_t*>(x.data);
  const auto* weights = static_cast<const int8_t*>(weight.data);
  auto* to = static_cast<int16_t*>(y.data);
  if (s.narrow != nullptr) return keep<conv2d_16x8_narrow>(call, prepared, a, from, weights, s.narrow, s.multiplier, s.shift, to);
  return keep<conv2d_16x8>(call, prepared, a, from, weights, s.wide, s.multiplier, s.shift, to);
}

}  // namespace

const Kernel kConv2d16x8 = {"deuteron::conv2d_16x8.out", "TTtTTLLLIIO", prepare};

}  // namespace deuteron
