// SPDX-License-Identifier: Apache-2.0
#include "ops/common/layer_16x8.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "ops/common/int16.h"
#include "ops/common/multiplier.h"

namespace deuteron {

enum { kX, kWeight, kBias };

Result<WideMultiplier> wide_multiplier(double factor, const char* rule) {
  constexpr i32 kMostLeft = 7, kAlmostOne = 0x7FFF0000;
  const std::optional<Multiplier> m = multiplier_of(factor, Ties::away);
  if (!m || m->shift > kMostLeft)
    return Refusal{"the ratio of scales does not fit a multiplier of sums in int64",
                   fmt::format("{:g}", factor), "128", rule};
  return WideMultiplier{m->value < kAlmostOne ? (m->value + (1 << 15)) >> 16 : 0x7FFF,
                        15 - m->shift};
}

bool narrow_sums_wrap(const LowerContext& c, std::span<const i32> shifts) {
  if (c.in.size() <= kBias || c.in[kBias].dtype != DType::s32) return false;
  const std::span<const int8_t> weights = c.data[kWeight]->as<int8_t>();
  const std::span<const i32> bias = c.data[kBias]->as<i32>();
  for (size_t o = 0, length = weights.size() / std::max<size_t>(bias.size(), 1); o < bias.size();
       ++o) {
    SumRange sum = sum_range(weights.subspan(o * length, length), c.in[kX].quant, bias[o]);
    if (!shifts.empty() && shifts[o] > 0)
      sum.low *= i64{1} << shifts[o], sum.high *= i64{1} << shifts[o];
    if (!fits_int32(sum)) return true;
  }
  return false;
}

std::optional<Refusal> why_not_layer_16x8(const LowerContext& c, i64 length) {
  const Type& weight = c.in[kWeight];
  for (const Type* t : {&c.in[kX], &c.out[0]})
    if (auto why = require_int16(*t)) return why;
  const bool is_int8 = weight.dtype == DType::s8 && !weight.quant.empty() &&
                       (!weight.quant.per_channel() || weight.quant.axis == 0);
  const auto is_zero = [](i32 zero) { return zero == 0; };
  if (!is_int8 || !c.data[kWeight] || !std::ranges::all_of(weight.quant.zero_point, is_zero))
    return Refusal{
        "the weight must be a constant of int8 with zero point 0, per tensor or by output channel",
        to_text(weight), "s8", "int16x8.weight"};
  constexpr i64 kMostProduct = i64{1} << 22, kMost = i64{1} << 47;
  if (length > kMost / kMostProduct / 2)
    return Refusal{"elements of a filter", std::to_string(length),
                   std::to_string(kMost / kMostProduct / 2), "int16x8.sums"};
  if (c.in.size() <= kBias) return std::nullopt;
  const Type& bias = c.in[kBias];
  if (!c.data[kBias] || (bias.dtype != DType::s32 && bias.dtype != DType::s64))
    return Refusal{"the bias must be a constant of int32 or int64", to_text(bias), "s32, s64",
                   "int16x8.bias"};
  if (bias.dtype == DType::s32) return std::nullopt;
  for (const i64 b : c.data[kBias]->as<i64>())
    if (b <= -kMost || b >= kMost || std::abs(b) + length * kMostProduct >= kMost)
      return Refusal{"a sum may leave 47 bits", std::to_string(b),
                     std::to_string(kMost - length * kMostProduct), "int16x8.sums"};
  return std::nullopt;
}

Result<LayerNumbers16x8> layer_numbers_16x8(const LowerContext& c, i64 filters) {
  static constexpr const char* kRule = "int16x8.scale";
  const Quant &x = c.in[kX].quant, &weight = c.in[kWeight].quant, &y = c.out[0].quant;
  const bool narrow = c.in.size() > kBias && c.in[kBias].dtype == DType::s32;
  LayerNumbers16x8 numbers;
  for (i64 o = 0; o < filters; ++o) {
    const double factor = channel_factor(x, weight, y, o);
    i32 value, shift;
    if (narrow) {
      const auto m = checked_multiplier(factor, Ties::away, kRule);
      if (!m) return m.why;
      value = m->value, shift = m->shift;
    } else {
      const auto m = wide_multiplier(factor, kRule);
      if (!m) return m.why;
      value = m->value, shift = m->shift;
    }
    numbers.multiplier.push_back(value), numbers.shift.push_back(shift);
  }
  if (narrow && narrow_sums_wrap(c, numbers.shift))
    return Refusal{"a bias of int32 makes sums of int32, and one may leave it", "", "",
                   "int16x8.sums"};
  return numbers;
}

void add_sums_16x8(CallBuilder& call, const LowerContext& c, LayerNumbers16x8 numbers) {
  const i64 filters = static_cast<i64>(numbers.multiplier.size());
  if (c.in.size() > kBias) call.in(kBias, plain_face({filters}));
  else call.none();
  call.constant(DType::s32, {filters}, std::move(numbers.multiplier))
      .constant(DType::s32, {filters}, std::move(numbers.shift));
}

}  // namespace deuteron
