// SPDX-License-Identifier: Apache-2.0
// A function of one int8 element as a table of 256 entries: exact for any scales, whatever the
// function.
#pragma once
#include "ops/common/refusals.h"

namespace deuteron {

// entry[q + 128] = quantize(f(dequantize(q))), in float32 with PT2E's rounding. `f` takes and gives
// real values.
template <class F>
std::vector<int8_t> table_of(const Quant& x, const Quant& y, F f) {
  std::vector<int8_t> table(256);
  for (i32 q = -128; q <= 127; ++q) {
    const float real = static_cast<float>(q - x.zero_point[0]) * x.scale[0];
    table[q + 128] =
        static_cast<int8_t>(quantize_value(f(real), y.scale[0], y.zero_point[0], y.low, y.high));
  }
  return table;
}

// `make` gives the table of the parameters of x and y.
template <class Make>
Result<Lowered> lower_made_table(const LowerContext& c, const char* rule, Make make) {
  const Type &x = c.in[0], &y = c.out[0];
  if (auto r = require_int8(x, "x", rule)) return *r;
  if (auto r = require_int8(y, "y", rule)) return *r;
  if (x.quant.per_channel() || y.quant.per_channel())
    return Refusal{"a table needs one scale for the whole tensor", "per channel", "per tensor",
                   rule};
  CallBuilder call("cortex_m::quantized_activation", c.in.size(), 1);
  call.in(0, elementwise_face(x.shape))
      .constant(DType::s8, {256}, make(x.quant, y.quant))
      .out(0, elementwise_face(y.shape));
  call.may_share(0, 0);
  return call.done();
}

template <class F>
Result<Lowered> lower_as_table(const LowerContext& c, const char* rule, F f) {
  return lower_made_table(c, rule,
                          [&](const Quant& x, const Quant& y) { return table_of(x, y, f); });
}

}  // namespace deuteron
