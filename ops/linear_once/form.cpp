// SPDX-License-Identifier: Apache-2.0
#include "ops/linear_once/form.h"

#include "ops/integer/multiplier.h"
#include "ops/integer/sum_range.h"
#include "ops/linear_once/kernel.h"

namespace deuteron {

std::optional<Lowered> linear_once_form(const LowerContext& c, const StepRange& range) {
  enum { kX, kWeight, kBias };
  const Type &x = c.in[kX], &weight = c.in[kWeight], &y = c.out[0];
  const i64 outputs = weight.shape[0], inputs = weight.elements() / outputs, rows = x.elements() / inputs;
  const Constant* bias = c.in.size() > kBias ? c.data[kBias] : nullptr;
  if (c.for_stock || inputs > kMostOnceInputs || (c.in.size() > kBias && !bias)) return std::nullopt;
  const std::span<const int8_t> weights = c.data[kWeight]->as<int8_t>();
  std::vector<i32> first, multiplier, shift;
  for (i64 o = 0; o < outputs; ++o) {
    const auto filter = weights.subspan(static_cast<size_t>(o * inputs), static_cast<size_t>(inputs));
    const i64 sum = folded_bias(filter, x.quant.zero_point[0], bias ? bias->as<i32>()[o] : 0);
    const auto m = multiplier_of(channel_factor(x.quant, weight.quant, y.quant, o), Ties::away);
    if (!m || sum < INT32_MIN || sum > INT32_MAX) return std::nullopt;
    first.push_back(static_cast<i32>(sum)), multiplier.push_back(m->value), shift.push_back(m->shift);
  }
  CallBuilder call("deuteron::linear_once", c.in.size(), 1);
  call.in(kX, plain_face({rows, inputs})).in(kWeight, plain_face({outputs, inputs}));
  call.constant(DType::s32, {outputs}, std::move(first)).constant(DType::s32, {outputs}, std::move(multiplier));
  call.constant(DType::s32, {outputs}, std::move(shift)).integer(y.quant.zero_point[0]).integer(range.low).integer(range.high);
  return call.out(0, plain_face({rows, outputs})).done();
}

}  // namespace deuteron
