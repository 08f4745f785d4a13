// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_max_pool2d: its arguments checked once, at load. The output's extents say how
// many windows there are, so ceil_mode needs no rule here.
#include "kernels/common/kernels.h"
#include "kernels/image/nhwc.h"
#include "kernels/image/read_pool.h"
#include "kernels/max_pool2d/fields.h"
#include "runtime/instruction_set.h"

namespace deuteron {

namespace {

enum { kDilation = kPoolOwn, kCeilMode, kXZero, kYZero, kYMin, kYMax, kOut };

Status read_numbers(const Call& call, MaxPool2dArgs& a) {
  if (const char* why = read_pair(call, kDilation, 1, kMaxReach, &a.dilation_h, &a.dilation_w))
    return bad_argument(kDilation, why);
  if (!is_s8(call.integer(kXZero))) return bad_argument(kXZero, "must be -128..127");
  if (call.integer(kYZero) != call.integer(kXZero))
    return bad_argument(kYZero, "must be the input's zero point");
  if (!is_s8(call.integer(kYMin))) return bad_argument(kYMin, "must be -128..127");
  if (!lies_in(call.integer(kYMax), call.integer(kYMin), 127))
    return bad_argument(kYMax, "must be activation_min..127");
  a.y_min = static_cast<int32_t>(call.integer(kYMin));
  a.y_max = static_cast<int32_t>(call.integer(kYMax));
  return Status{};
}

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kPoolX), &y = call.tensor(kOut);
  MaxPool2dArgs a{};
  if (Status s = read_pool<why_not_image>(call, kOut, a); !s.ok()) return s;
  if (Status s = read_numbers(call, a); !s.ok()) return s;
  if (const char* why =
          why_not_window(a.in_h, a.out_h, a.kernel_h, a.stride_h, a.pad_h, a.dilation_h))
    return bad_argument(kOut, why);
  if (const char* why =
          why_not_window(a.in_w, a.out_w, a.kernel_w, a.stride_w, a.pad_w, a.dilation_w))
    return bad_argument(kOut, why);
  if (const char* why = why_not_steps(a, a.channels, 1)) return bad_argument(kPoolStride, why);
  if (y.numel == 0) return keep_nothing(prepared);
  const auto* from = static_cast<const int8_t*>(x.data);
  auto* to = static_cast<int8_t*>(y.data);
  return keep_fastest<max_pool2d_s8, max_pool2d_s8_mve, max_pool2d_s8_dsp, max_pool2d_s8_scalar>(
      call, prepared, a, from, to);
}

}  // namespace

const Kernel kQuantizedMaxPool2d = {"cortex_m::quantized_max_pool2d.out", "TLLLLBIIIIO", prepare};
const Kernel kQuantizedMaxPool2dNhwc = {"cortex_m::quantized_max_pool2d_nhwc.out", "TLLLLBIIIIO",
                                        prepare_nhwc<prepare>};

}  // namespace deuteron
