// SPDX-License-Identifier: Apache-2.0
#include "ops/unary/reference_table.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/integer/inverse_root.h"
#include "kernels/integer/requantize.h"
#include "ops/common/bounds.h"
#include "ops/common/multiplier.h"

namespace deuteron {
namespace {

template <class F>
std::vector<int8_t> table_of_steps(const Quant& x, const Quant& y, F f) {
  std::vector<int8_t> table(256);
  for (i32 q = -128; q <= 127; ++q)
    table[static_cast<size_t>(q + 128)] = static_cast<int8_t>(
        std::clamp<i64>(i64{f(q - x.zero_point[0])} + y.zero_point[0], y.low, y.high));
  return table;
}

// A factor that is no multiplier is refused where the operator is prepared in TFLite; here it
// saturates.
Multiplier multiplier(double factor) {
  return multiplier_of(factor, Ties::away)
      .value_or(Multiplier{std::numeric_limits<i32>::max(), 30});
}
i32 scaled(i32 steps, const Multiplier& m) { return requantize(steps, m.value, m.shift); }

// LUTPopulate: the reciprocal of the scale in float32, ties away from zero.
std::vector<int8_t> looked_up(const Unary& a, const Quant& x, const Quant& y) {
  const float inverse = 1.0f / y.scale[0];
  return table_of_steps(x, y, [&](i32 steps) {
    const float value =
        std::round(evaluate(a.fn, x.scale[0] * static_cast<float>(steps), a.alpha) * inverse);
    return std::isnan(value) ? 0 : static_cast<i32>(std::clamp(value, -65536.0f, 65536.0f));
  });
}

std::vector<int8_t> leaky(const Unary& a, const Quant& x, const Quant& y) {
  const Multiplier kept = multiplier(x.scale[0] / y.scale[0]),
                   sloped = multiplier(std::abs(x.scale[0] * a.alpha / y.scale[0]));
  return table_of_steps(x, y, [&](i32 steps) {
    if (steps >= 0) return scaled(steps, kept);
    return scaled(a.alpha < 0 ? -steps : steps, sloped);
  });
}

std::vector<int8_t> absolute(const Quant& x, const Quant& y) {
  const Multiplier m = multiplier(x.scale[0] / y.scale[0]);
  const bool same = x.scale[0] == y.scale[0];
  return table_of_steps(
      x, y, [&](i32 steps) { return same ? std::abs(steps) : scaled(std::abs(steps), m); });
}

// 16 bits: gemmlowp's fixed-point functions, and TFLite's product that cuts off.
i32 saturated16(i32 v) { return std::clamp(v, -32768, 32767); }
i32 rounded_product16(i32 a, i32 b) {
  const i32 product = a * b, nudge = product >= 0 ? 1 << 14 : 1 - (1 << 14);
  return saturated16((product + nudge) / (1 << 15));
}
i32 cut_product16(i32 a, i32 b) { return saturated16(a * b / (1 << 15)); }
i32 factor16(i32 factor32) {
  constexpr i32 kHalf = 1 << 15;
  return factor32 >= std::numeric_limits<i32>::max() - kHalf ? 32767 : (factor32 + kHalf) >> 16;
}

// y = x * relu6(x + 3) / 6, with the second factor as a fraction of 32768.
std::vector<int8_t> hardswish(const Quant& x, const Quant& y) {
  constexpr float kFraction = 3.0f / 32768.0f;
  const float fine = (1.0f / 128.0f) * x.scale[0];
  const Multiplier out = multiplier(fine / y.scale[0]), in = multiplier(fine / kFraction);
  const i32 out16 = factor16(out.value), in16 = factor16(in.value);
  return table_of_steps(x, y, [&](i32 steps) {
    const i32 shifted = steps * (1 << 7);
    const i32 whole = rounded_product16(shifted, out16);
    i32 part = shifted;
    if (in.shift > 0) part = saturated16(part * (1 << std::min(in.shift - 1, 15)));
    part = rounded_product16(part, in16);
    if (in.shift > 0) part = saturated16(part * 2);
    if (in.shift < 0) part = round_shift_right(part, std::min(-in.shift, 31));
    part = (part + (1 << 15)) >> 1;
    const i32 product = cut_product16(part, whole);
    return out.shift > 0 ? product : round_shift_right(product, std::min(-out.shift, 31));
  });
}

// Steps change their sign as int8 does, whatever they stand for. Where they stand for other
// numbers, the numbers change it.
std::vector<int8_t> opposites(const Unary& a, const Quant& x, const Quant& y) {
  if (x != y || x.zero_point[0] != 0) return looked_up(a, x, y);
  return table_of_steps(x, y, [](i32 steps) { return steps == -128 ? steps : -steps; });
}

// A step that no result reaches: the clamp makes the largest of it, or the least.
constexpr i32 kBeyond = 1 << 16;

// Of what is not positive, which TFLite refuses while it runs: 0, and the largest step of 0 itself.
std::vector<int8_t> inverse_roots(const Quant& x, const Quant& y) {
  constexpr i32 kMore = 20;  // bits of the root between its two roundings
  const Multiplier m = multiplier(1.0 / static_cast<double>(std::sqrt(x.scale[0]) * y.scale[0]));
  return table_of_steps(x, y, [&](i32 steps) {
    if (steps <= 0) return steps < 0 ? 0 : kBeyond;
    const InverseRoot root = inverse_root(steps);
    return requantize(requantize(1, root.value, root.shift + kMore), m.value,
                      std::max(m.shift - kMore, -31));
  });
}

// Cut off, not rounded. Of what is negative, which TFLite refuses while it runs: 0.
std::vector<int8_t> roots(const Quant& x, const Quant& y) {
  return table_of_steps(x, y, [&](i32 steps) {
    const float root = std::sqrt(x.scale[0] * static_cast<float>(std::max(steps, 0)));
    return static_cast<i32>(std::min(root / y.scale[0], static_cast<float>(kBeyond)));
  });
}

// The least step where there is no logarithm.
std::vector<int8_t> logarithms(const Unary& a, const Quant& x, const Quant& y) {
  std::vector<int8_t> table = looked_up(a, x, y);
  std::fill(table.begin(), table.begin() + x.zero_point[0] + 129, static_cast<int8_t>(y.low));
  return table;
}

}  // namespace

std::vector<int8_t> reference_table(const Unary& a, const Quant& x, const Quant& y) {
  switch (a.fn) {
    case UnaryFn::hardswish:
      return hardswish(x, y);
    case UnaryFn::leaky_relu:
      return leaky(a, x, y);
    case UnaryFn::abs:
      return absolute(x, y);
    case UnaryFn::rsqrt:
      return inverse_roots(x, y);
    case UnaryFn::sqrt:
      return roots(x, y);
    case UnaryFn::log:
      return logarithms(a, x, y);
    case UnaryFn::neg:
      return opposites(a, x, y);
    default:
      return looked_up(a, x, y);
  }
}

std::vector<int8_t> reference_clamp(const Bounds& bounds, const Quant& x, const Quant& y) {
  // The quotient of scales is a float32 in the activations and a double in QUANTIZE.
  const double wide = static_cast<double>(x.scale[0]) / static_cast<double>(y.scale[0]);
  const Multiplier m =
      multiplier(bounds.none() ? wide : static_cast<double>(x.scale[0] / y.scale[0]));
  const StepRange range = step_range(bounds, y, Rounding::reference);
  std::vector<int8_t> table = table_of_steps(x, y, [&](i32 steps) { return scaled(steps, m); });
  for (int8_t& entry : table)
    entry = static_cast<int8_t>(std::clamp<i32>(entry, range.low, range.high));
  return table;
}

}  // namespace deuteron
