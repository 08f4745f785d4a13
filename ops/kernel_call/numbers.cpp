// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_call/numbers.h"

#include <algorithm>

namespace deuteron {

static i32 narrow(i64 v) { return static_cast<i32>(std::clamp<i64>(v, INT32_MIN, INT32_MAX)); }

DenseNumbers dense_numbers(const Shape& x, const Shape& weight, const Shape& y) {
  DenseNumbers n;
  PackedConv2dArgs& a = n.a;
  a.n = narrow(x[0]), a.in_h = narrow(x[1]), a.in_w = narrow(x[2]), a.in_c = narrow(x[3]);
  a.out_h = narrow(y[1]), a.out_w = narrow(y[2]), a.out_c = narrow(y[3]);
  a.kernel_h = narrow(weight[1]), a.kernel_w = narrow(weight[2]), n.filter_c = narrow(weight[3]);
  a.stride_h = a.stride_w = a.dilation_h = a.dilation_w = 1;
  return n;
}

void DenseNumbers::set_window(HW stride, HW pad, HW dilation) {
  a.stride_h = narrow(stride.h), a.stride_w = narrow(stride.w), a.pad_h = narrow(pad.h),
  a.pad_w = narrow(pad.w);
  a.dilation_h = narrow(dilation.h), a.dilation_w = narrow(dilation.w);
}

static DenseNumbers with_constants(DenseNumbers n, const LowerContext& c,
                                   std::vector<Multiplier> multipliers, StepRange range) {
  enum { kX, kWeight, kBias };
  n.a.x_zero = c.in[kX].quant.zero_point[0], n.a.y_zero = c.out[0].quant.zero_point[0];
  n.weight = *c.data[kWeight];
  if (c.in.size() > kBias)
    n.bias.assign(c.data[kBias]->as<i32>().begin(), c.data[kBias]->as<i32>().end());
  n.multipliers = std::move(multipliers), n.range = range;
  return n;
}

DenseNumbers dense_numbers(const LowerContext& c, std::vector<Multiplier> multipliers,
                           StepRange range) {
  return with_constants(dense_numbers(c.in[0].shape, c.in[1].shape, c.out[0].shape), c,
                        std::move(multipliers), range);
}

DenseNumbers linear_numbers(const LowerContext& c, Multiplier multiplier, StepRange range) {
  const Shape &x = c.in[0].shape, &weight = c.in[1].shape;
  const i64 rows = numel(std::span(x).first(x.size() - 1)), out = weight[0], in = weight[1];
  DenseNumbers n = dense_numbers({1, rows, 1, in}, {out, 1, 1, in}, {1, rows, 1, out});
  return with_constants(std::move(n), c, std::vector(static_cast<size_t>(out), multiplier), range);
}

void add_multipliers(CallBuilder& call, std::span<const Multiplier> multipliers) {
  std::vector<i32> values, shifts;
  for (const Multiplier& m : multipliers) values.push_back(m.value), shifts.push_back(m.shift);
  const auto count = static_cast<i64>(multipliers.size());
  call.constant(DType::s32, {count}, std::move(values))
      .constant(DType::s32, {count}, std::move(shifts));
}

}  // namespace deuteron
