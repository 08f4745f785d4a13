// SPDX-License-Identifier: Apache-2.0
// A convolution of int16 by int8 as TFLite computes it.
#include <fmt/format.h>

#include "kernels/image/window.h"
#include "ops/common/bounds.h"
#include "ops/common/layer_16x8.h"
#include "ops/conv2d/int16.h"

namespace deuteron {

Result<Lowered> tflite_int16_form(const Conv2d& a, const LowerContext& c) {
  const Shape &x = c.in[0].shape, &w = c.in[1].shape, &y = c.out[0].shape;
  if (auto why = why_not_layer_16x8(c, w[1] * w[2] * w[3])) return *why;
  if (!takes_windows(a, x, w, y))
    return Refusal{"a window begins far outside of the image", "", "", "int16x8.window"};
  auto numbers = layer_numbers_16x8(c, w[0]);
  if (!numbers) return numbers.why;
  const StepRange range = step_range(a.bounds, c.out[0].quant, of_bounds(c.rounding));
  CallBuilder call("deuteron::conv2d_16x8", c.in.size(), 1);
  call.in(0, channels_last_face(x)).in(1, plain_face(w));
  add_sums_16x8(call, c, *std::move(numbers.value));
  call.integers({a.stride.h, a.stride.w})
      .integers({a.pad_before.h, a.pad_before.w})
      .integers({a.dilation.h, a.dilation.w});
  call.integer(range.low).integer(range.high).out(0, channels_last_face(y));
  return call.done();
}

}  // namespace deuteron
