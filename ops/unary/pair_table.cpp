#include "ops/unary/pair_table.h"

#include <algorithm>
#include <cmath>

#include "ops/fixed_point.h"
#include "runtime/requantize.h"

namespace deuteron {

NumberInSteps number_in_steps(float value) { return {value == 0 ? 1.0f : std::fabs(value) / 127, value == 0 ? 0 : value > 0 ? 127 : -127}; }

// Facts: TFLite's preparation of ADD, SUB and MUL. The product of two scales is a float32 one.
std::optional<std::vector<int8_t>> pair_table(PairTableFn fn, const PairSide& a, const PairSide& b, const Quant& y) {
  constexpr int kLeftShift = 20;
  const float sa = a.quant->scale[0], sb = b.quant->scale[0], sy = y.scale[0];
  const double twice = 2.0 * static_cast<double>(std::max(sa, sb));
  const bool product = fn == PairTableFn::mul;
  const double ya = product ? static_cast<double>(sa * sb / sy) : twice / (static_cast<double>(1 << kLeftShift) * static_cast<double>(sy));
  if (!multiplier_fits(ya)) return std::nullopt;
  const Multiplier my = multiplier_of(ya), ma = multiplier_of(sa / twice), mb = multiplier_of(sb / twice);
  std::vector<int8_t> table(256);
  for (i32 q = -128; q <= 127; ++q) {
    const i32 va = a.step.value_or(q) - a.quant->zero_point[0], vb = b.step.value_or(q) - b.quant->zero_point[0];
    const auto aligned = [](i32 v, const Multiplier& m) { return requantize(v * (1 << kLeftShift), m.value, m.shift); };
    const i32 v = product ? va * vb : fn == PairTableFn::add ? aligned(va, ma) + aligned(vb, mb) : aligned(va, ma) - aligned(vb, mb);
    table[static_cast<size_t>(q + 128)] = static_cast<int8_t>(
        std::clamp(y.zero_point[0] + requantize(v, my.value, my.shift), static_cast<i32>(y.low), static_cast<i32>(y.high)));
  }
  return table;
}

}  // namespace deuteron
