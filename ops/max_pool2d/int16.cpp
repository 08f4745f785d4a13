// SPDX-License-Identifier: Apache-2.0
#include "ops/max_pool2d/int16.h"

#include "ops/common/bounds.h"
#include "ops/common/int16.h"
#include "ops/common/refusals.h"

namespace deuteron {

Result<Lowered> int16_form(const MaxPool2d& a, const LowerContext& c) {
  const Type &x = c.in[0], &y = c.out[0];
  if (auto why = require_int16(c)) return *why;
  if (auto r = require_same_quant(x, y, "int16.max_pool2d.quant")) return *r;
  const StepRange range = step_range(a.bounds, y.quant);
  CallBuilder call("deuteron::max_pool2d_s16", c.in.size(), 1);
  call.in(0, channels_last_face(x.shape));
  call.integers({a.kernel.h, a.kernel.w})
      .integers({a.stride.h, a.stride.w})
      .integers({a.pad.h, a.pad.w});
  call.integers({a.dilation.h, a.dilation.w})
      .integer(range.low)
      .integer(range.high)
      .out(0, channels_last_face(y.shape));
  return call.done();
}

}  // namespace deuteron
