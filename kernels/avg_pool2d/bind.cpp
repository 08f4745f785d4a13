// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_avg_pool2d and deuteron::avg_pool2d_halves_up: their arguments checked once,
// at load. Zero point, multiplier and shift of the first describe the input and are not needed:
// input and output share them.
#include "kernels/avg_pool2d/kernel.h"
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/image/nhwc.h"
#include "kernels/image/windows.h"

namespace deuteron {

DEUTERON_FIELDS(AvgPool2dArgs, n, in_h, in_w, channels, out_h, out_w, kernel_h, kernel_w, stride_h,
                stride_w, pad_h, pad_w, base)

namespace {

using Args = AvgPool2dArgs;
enum { kX, kKernel, kStride, kPadding, kCeilMode };
constexpr Argument kRow[] = {input(Is::s8_image),
                             list(Is::reach, DEUTERON_FIELD(kernel_h)),
                             list(Is::reach, DEUTERON_FIELD(stride_h)),
                             list(Is::padding, DEUTERON_FIELD(pad_h)),
                             flag(),
                             number(Is::any),
                             number(Is::any),
                             number(Is::any),
                             scratch(),
                             output(Is::s8_image)};
constexpr Argument kHalvesUpRow[] = {input(Is::s8_image),
                                     list(Is::reach, DEUTERON_FIELD(kernel_h)),
                                     list(Is::reach, DEUTERON_FIELD(stride_h)),
                                     list(Is::padding, DEUTERON_FIELD(pad_h)),
                                     flag(),
                                     output(Is::s8_image)};

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

template <int out, int32_t base>
bool more(const Call& call, Args& a, Status* why) {
  a.base = base;
  if (!read_images(call, out, &a.n, why)) return false;
  if (call.tensor(out).sizes[1] != a.channels)
    return refuse(why, out, "must have the channels of the input");
  if (a.pad_h >= a.kernel_h || a.pad_w >= a.kernel_w)
    return refuse(why, kPadding, "must be less than the kernel");
  const bool ceil_mode = call.boolean(kCeilMode);
  if (windows(a.in_h, a.kernel_h, a.stride_h, a.pad_h, ceil_mode) != a.out_h ||
      windows(a.in_w, a.kernel_w, a.stride_w, a.pad_w, ceil_mode) != a.out_w)
    return refuse(why, out, "must have one place for each window");
  const int64_t taps = int64_t{a.kernel_h < a.in_h ? a.kernel_h : a.in_h} *
                       (a.kernel_w < a.in_w ? a.kernel_w : a.in_w);
  if (taps > 1 << 23) return refuse(why, kKernel, "must cover 2^23 elements or fewer");
  return windows_fit(a, out, kStride, 0, 0, why);
}

template <const auto& row, int32_t base>
constexpr Kernel kernel_from(const char* name) {
  return kernel_and<row, Args, more<last_of(row), base>, avg_pool2d_s8, avg_pool2d_s8_mve,
                    avg_pool2d_s8_dsp, avg_pool2d_s8_scalar>(name);
}
constexpr Kernel kOfDialect = kernel_from<kRow, 0>("cortex_m::quantized_avg_pool2d.out");

}  // namespace

const Kernel kQuantizedAvgPool2d = kOfDialect;
const Kernel kQuantizedAvgPool2dNhwc =
    kernel_by<kRow>("cortex_m::quantized_avg_pool2d_nhwc.out", prepare_nhwc<kOfDialect.prepare>);
const Kernel kAvgPool2dHalvesUp =
    kernel_from<kHalvesUpRow, kBytesBase>("deuteron::avg_pool2d_halves_up.out");

}  // namespace deuteron
