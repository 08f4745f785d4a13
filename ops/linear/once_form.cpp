// SPDX-License-Identifier: Apache-2.0
#include "ops/linear/once_form.h"

#include "kernels/linear/once/kernel.h"
#include "ops/common/sum_range.h"

namespace deuteron {

std::optional<Lowered> linear_once_form(const LowerContext& c, DenseNumbers n) {
  enum { kX, kWeight };
  const i64 outputs = n.a.out_c, inputs = n.filter_c, rows = i64{n.a.n} * n.a.in_h * n.a.in_w;
  if (c.for_stock || inputs > kMostOnceInputs) return std::nullopt;
  n.bias.resize(static_cast<size_t>(outputs));
  for (i64 o = 0; o < outputs; ++o) {
    const auto filter =
        n.weight.as<int8_t>().subspan(static_cast<size_t>(o * inputs), static_cast<size_t>(inputs));
    const i64 sum = folded_bias(filter, n.a.x_zero, n.bias[o]);
    const auto m = multiplier_of(
        channel_factor(c.in[kX].quant, c.in[kWeight].quant, c.out[0].quant, o), Ties::away);
    if (!m || sum < INT32_MIN || sum > INT32_MAX) return std::nullopt;
    n.bias[o] = static_cast<i32>(sum), n.multipliers[o] = *m;
  }
  const i32 y_zero = n.a.y_zero;
  n.a = dense_numbers({1, rows, 1, inputs}, {outputs, 1, 1, inputs}, {1, rows, 1, outputs}).a;
  n.a.y_zero = y_zero, n.a.x_zero = 0;  // that is in the bias, and nothing is padded with it
  n.rounds_once = true;
  CallBuilder call("deuteron::linear_once", c.in.size(), 1);
  call.in(kX, plain_face({rows, inputs}))
      .in(kWeight, plain_face({outputs, inputs}))
      .constant(DType::s32, {outputs}, n.bias);
  add_multipliers(call, n.multipliers);
  call.integer(n.a.y_zero)
      .integer(n.range.low)
      .integer(n.range.high)
      .out(0, plain_face({rows, outputs}));
  return call.numbers(std::move(n)).done();
}

}  // namespace deuteron
