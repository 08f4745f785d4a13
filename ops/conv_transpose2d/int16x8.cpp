// SPDX-License-Identifier: Apache-2.0
// A transposed convolution of int16 by int8 as TFLite computes it.
#include "kernels/image/window.h"
#include "ops/common/bounds.h"
#include "ops/common/layer_16x8.h"
#include "ops/conv_transpose2d/int16.h"

namespace deuteron {

Result<Lowered> tflite_int16_form(const ConvTranspose2d& a, const LowerContext& c) {
  const Shape &x = c.in[0].shape, &w = c.in[1].shape, &y = c.out[0].shape;
  if (auto why = why_not_layer_16x8(c, w[1] * w[2] * w[3])) return *why;
  if (a.dilation != HW{1, 1} || a.groups != 1)
    return Refusal{"the kernel has neither dilation nor groups",
                   to_text(Shape{a.dilation.h, a.dilation.w, a.groups}), "1,1,1", "int16x8.window"};
  for (const i64 v :
       {x[1] * a.stride.h, x[2] * a.stride.w, w[1], w[2], y[1], y[2], a.pad.h, a.pad.w})
    if (v > kMaxReach)
      return Refusal{"an extent", std::to_string(v), std::to_string(kMaxReach), "int16x8.window"};
  auto numbers = layer_numbers_16x8(c, w[0]);
  if (!numbers) return numbers.why;
  const StepRange range = step_range(a.bounds, c.out[0].quant, of_bounds(c.rounding));
  CallBuilder call("deuteron::conv_transpose2d_16x8", c.in.size(), 1);
  call.in(0, channels_last_face(x)).in(1, plain_face(w));
  add_sums_16x8(call, c, *std::move(numbers.value));
  call.integers({a.stride.h, a.stride.w})
      .integers({a.pad.h, a.pad.w})
      .integer(range.low)
      .integer(range.high);
  call.out(0, channels_last_face(y));
  return call.done();
}

}  // namespace deuteron
