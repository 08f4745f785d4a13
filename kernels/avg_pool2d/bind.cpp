// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_avg_pool2d and deuteron::avg_pool2d_halves_up: their arguments checked once,
// at load. Zero point, multiplier and shift of the first describe the input and are not needed:
// input and output share them.
#include "kernels/avg_pool2d/kernel.h"
#include "kernels/common/kernels.h"
#include "kernels/image/nhwc.h"
#include "kernels/image/read_pool.h"
#include "runtime/instruction_set.h"

namespace deuteron {

DEUTERON_FIELDS(AvgPool2dArgs, n, in_h, in_w, channels, out_h, out_w, kernel_h, kernel_w, stride_h,
                stride_w, pad_h, pad_w, base)

namespace {

enum { kCeilMode = kPoolOwn, kZero, kMultiplier, kShift, kScratch, kOut };
enum { kHalvesUpOut = kCeilMode + 1 };

// The number of windows along one axis, -1 for too large an extent; ceil_mode admits a last one
// that reaches past the padding if it begins before its end. With pad < kernel, and all within
// kMaxReach, no sum reaches 2^31: cores have no division of 64 bits.
int32_t windows(int32_t extent, int32_t kernel, int32_t stride, int32_t pad, bool ceil_mode) {
  if (extent > kMaxReach) return -1;
  const int32_t room = extent + 2 * pad - kernel;
  if (room < 0) return 0;
  const int32_t count = room / stride + 1;
  return ceil_mode && room % stride != 0 && count * stride < extent + pad ? count + 1 : count;
}

// `out`: where the result stands.
template <int out, int32_t base>
Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kPoolX), &y = call.tensor(out);
  AvgPool2dArgs a{};
  a.base = base;
  if (Status s = read_pool<why_not_image>(call, out, a); !s.ok()) return s;
  if (a.pad_h >= a.kernel_h || a.pad_w >= a.kernel_w)
    return bad_argument(kPoolPadding, "must be less than the kernel");
  const bool ceil_mode = call.boolean(kCeilMode);
  if (windows(a.in_h, a.kernel_h, a.stride_h, a.pad_h, ceil_mode) != a.out_h ||
      windows(a.in_w, a.kernel_w, a.stride_w, a.pad_w, ceil_mode) != a.out_w)
    return bad_argument(out, "must have one place for each window");
  if (const char* why = why_not_window(a.in_h, a.out_h, a.kernel_h, a.stride_h, a.pad_h, 1))
    return bad_argument(out, why);
  if (const char* why = why_not_window(a.in_w, a.out_w, a.kernel_w, a.stride_w, a.pad_w, 1))
    return bad_argument(out, why);
  const int64_t taps = int64_t{a.kernel_h < a.in_h ? a.kernel_h : a.in_h} *
                       (a.kernel_w < a.in_w ? a.kernel_w : a.in_w);
  if (taps > 1 << 23) return bad_argument(kPoolKernel, "must cover 2^23 elements or fewer");
  if (y.numel == 0) return keep_nothing(prepared);
  const auto* from = static_cast<const int8_t*>(x.data);
  auto* to = static_cast<int8_t*>(y.data);
  return keep_fastest<avg_pool2d_s8, avg_pool2d_s8_mve, avg_pool2d_s8_dsp, avg_pool2d_s8_scalar>(
      call, prepared, a, from, to);
}

}  // namespace

const Kernel kQuantizedAvgPool2d = {"cortex_m::quantized_avg_pool2d.out", "TLLLBIIIXO",
                                    prepare<kOut, 0>};
const Kernel kQuantizedAvgPool2dNhwc = {"cortex_m::quantized_avg_pool2d_nhwc.out", "TLLLBIIIXO",
                                        prepare_nhwc<prepare<kOut, 0>>};
const Kernel kAvgPool2dHalvesUp = {"deuteron::avg_pool2d_halves_up.out", "TLLLBO",
                                   prepare<kHalvesUpOut, kBytesBase>};

}  // namespace deuteron
