// SPDX-License-Identifier: Apache-2.0
#include "ops/avg_pool2d/int16.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/avg_pool2d/s16/kernel.h"
#include "ops/common/int16.h"
#include "ops/common/refusals.h"

namespace deuteron {

Result<Lowered> int16_form(const AvgPool2d& a, const LowerContext& c) {
  const Type &x = c.in[0], &y = c.out[0];
  if (auto why = require_int16(c)) return *why;
  if (auto r = require_same_quant(x, y, "int16.avg_pool2d.quant")) return *r;
  const bool padded = a.pad.h != 0 || a.pad.w != 0;
  if (a.count_include_pad && padded)
    return Refusal{"the kernel does not count padding", "count_include_pad", "no padding",
                   "int16.avg_pool2d.divisor"};
  const bool whole = (y.shape[1] - 1) * a.stride.h + a.kernel.h <= x.shape[1] &&
                     (y.shape[2] - 1) * a.stride.w + a.kernel.w <= x.shape[2];
  if (a.divisor != 0 && (a.divisor != a.kernel.h * a.kernel.w || padded || !whole))
    return Refusal{"the kernel divides by the number of elements", std::to_string(a.divisor),
                   std::to_string(a.kernel.h * a.kernel.w), "int16.avg_pool2d.divisor"};
  const i64 taps = std::min(a.kernel.h, x.shape[1]) * std::min(a.kernel.w, x.shape[2]);
  if (taps > kS16MostTaps)
    return Refusal{"elements of a window", std::to_string(taps), std::to_string(kS16MostTaps),
                   "int16.avg_pool2d.taps"};
  CallBuilder call("deuteron::avg_pool2d_s16", c.in.size(), 1);
  call.in(0, channels_last_face(x.shape));
  call.integers({a.kernel.h, a.kernel.w})
      .integers({a.stride.h, a.stride.w})
      .integers({a.pad.h, a.pad.w});
  call.out(0, channels_last_face(y.shape));
  return call.done();
}

}  // namespace deuteron
