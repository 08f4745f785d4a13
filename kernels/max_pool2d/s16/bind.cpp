// SPDX-License-Identifier: Apache-2.0
// deuteron::max_pool2d_s16: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_s16.h"
#include "kernels/image/read_pool.h"
#include "kernels/max_pool2d/fields.h"
#include "kernels/max_pool2d/s16/kernel.h"
#include "runtime/instruction_set.h"

namespace deuteron {
namespace {

enum { kDilation = kPoolOwn, kYMin, kYMax, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kPoolX), &y = call.tensor(kOut);
  MaxPool2dArgs a{};
  if (Status s = read_pool<why_not_image_s16>(call, kOut, a); !s.ok()) return s;
  if (const char* why = read_pair(call, kDilation, 1, kMaxReach, &a.dilation_h, &a.dilation_w))
    return bad_argument(kDilation, why);
  if (Status s = read_bounds_s16(call, kYMin, &a.y_min, &a.y_max); !s.ok()) return s;
  if (const char* why =
          why_not_window(a.in_h, a.out_h, a.kernel_h, a.stride_h, a.pad_h, a.dilation_h))
    return bad_argument(kOut, why);
  if (const char* why =
          why_not_window(a.in_w, a.out_w, a.kernel_w, a.stride_w, a.pad_w, a.dilation_w))
    return bad_argument(kOut, why);
  if (const char* why = why_not_steps(a, a.channels, 1)) return bad_argument(kPoolStride, why);
  if (y.numel == 0) return keep_nothing(prepared);
  const auto* from = static_cast<const int16_t*>(x.data);
  auto* to = static_cast<int16_t*>(y.data);
  return keep_fastest<max_pool2d_s16, max_pool2d_s16_mve>(call, prepared, a, from, to);
}

}  // namespace

const Kernel kMaxPool2dS16 = {"deuteron::max_pool2d_s16.out", "TLLLLIIO", prepare};

}  // namespace deuteron
