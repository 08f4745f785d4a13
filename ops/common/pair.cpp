// SPDX-License-Identifier: Apache-2.0
// Facts: TFLite's preparation of ADD, SUB and MUL.
#include "ops/common/pair.h"

#include <algorithm>
#include <limits>

namespace deuteron {

Result<PairMultipliers> pair_multipliers(PairFn fn, const Quant& x, const Quant& other,
                                         const Quant& y, Rounding rounding, const char* rule,
                                         double other_factor) {
  PairMultipliers p;
  const Ties ties = ties_of(rounding);
  if (fn == PairFn::maximum || fn == PairFn::minimum) return p;
  if (fn == PairFn::mul) {
    const auto my =
        checked_multiplier(product_factor(x, other, y, rounding, Quotient::single), ties, rule);
    if (!my) return my.why;
    p.y = *my;
    return p;
  }
  p.left_shift = kPairLeftShift;
  const double other_scale = other_factor * other.scale[0],
               twice = 2.0 * std::max<double>(x.scale[0], other_scale);
  // The result's factor first: where alpha has no finite scale, it is the one to name.
  const auto my = checked_multiplier(
      twice / (static_cast<double>(1 << kPairLeftShift) * y.scale[0]), ties, rule);
  if (!my) return my.why;
  const auto mx = checked_multiplier(x.scale[0] / twice, ties, rule),
             mo = checked_multiplier(other_scale / twice, ties, rule);
  if (!mx) return mx.why;
  if (!mo) return mo.why;
  p.x = *mx, p.other = *mo, p.y = *my;
  return p;
}

static i32 add_zero(i32 v, const Multiplier& m, i32 zero) {
  const i64 sum = i64{requantize(v, m.value, m.shift)} + zero;
  return static_cast<i32>(
      std::clamp<i64>(sum, std::numeric_limits<i32>::min(), std::numeric_limits<i32>::max()));
}

i32 pair_value(PairFn fn, const PairMultipliers& m, const Quant& x, const Quant& other,
               const Quant& y, i32 a, i32 b) {
  const auto term = [&](i32 v, const Quant& q, const Multiplier& own) {
    return aligned_term(v, q.zero_point[0], m.left_shift, own.value, own.shift);
  };
  switch (fn) {
    case PairFn::add:
      return add_zero(add_wrapping(term(a, x, m.x), term(b, other, m.other)), m.y, y.zero_point[0]);
    case PairFn::sub:
      return add_zero(subtract_wrapping(term(a, x, m.x), term(b, other, m.other)), m.y,
                      y.zero_point[0]);
    case PairFn::mul:
      return add_zero((a - x.zero_point[0]) * (b - other.zero_point[0]), m.y, y.zero_point[0]);
    case PairFn::maximum:
      return std::max(a, b);
    case PairFn::minimum:
      return std::min(a, b);
  }
  return 0;
}

}  // namespace deuteron
