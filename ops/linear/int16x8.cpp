// SPDX-License-Identifier: Apache-2.0
// A fully connected layer of int16 by int8 as TFLite computes it.
#include <fmt/format.h>

#include <bit>

#include "ops/common/bounds.h"
#include "ops/common/layer_16x8.h"
#include "ops/common/multiplier.h"
#include "ops/linear/int16.h"

namespace deuteron {

Result<Lowered> tflite_int16_form(const Linear& a, const LowerContext& c) {
  const Shape& w = c.in[1].shape;
  if (auto why = why_not_layer_16x8(c, w[1])) return *why;
  const Quant &x = c.in[0].quant, &weight = c.in[1].quant, &y = c.out[0].quant;
  std::vector<i64> scale;
  for (i64 o = 0; o < w[0]; ++o)
    scale.push_back(std::bit_cast<i64>(channel_factor(x, weight, y, o)));
  const StepRange range = step_range(a.bounds, y, of_bounds(c.rounding));
  const i64 rows = c.in[0].elements() / w[1];
  CallBuilder call("deuteron::linear_16x8", c.in.size(), 1);
  call.in(0, plain_face({rows, w[1]})).in(1, plain_face(w));
  if (narrow_sums_wrap(c)) {  // the kernel with 64 bits is the same but for that
    const std::span<const i32> bias = c.data[2]->as<i32>();
    call.constant(DType::s64, {w[0]}, std::vector<i64>(bias.begin(), bias.end()));
  } else if (c.in.size() > 2) call.in(2, plain_face({w[0]}));
  else call.none();
  call.constant(DType::s64, {w[0]}, std::move(scale))
      .integer(range.low)
      .integer(range.high)
      .out(0, plain_face({rows, w[0]}));
  return call.done();
}

}  // namespace deuteron
