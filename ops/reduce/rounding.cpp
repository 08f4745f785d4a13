// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/rounding.h"

#include <cmath>

#include "ops/reduce/multiplier.h"

namespace deuteron {

static bool is_int8(const Type& t) { return t.dtype == DType::s8 && t.quant.scale.size() == 1; }

static i64 summed(const Reduce& a, const Type& x) {
  i64 count = 1;
  for (const i64 axis : a.axes) count *= x.shape[static_cast<size_t>(axis)];
  return count;
}

double excess_of_sum(const Op& op, const Type& x, const Type& y) {
  const Reduce* a = std::get_if<Reduce>(&op);
  if (!a || (a->fn != Reduce::kMean && a->fn != Reduce::kSum) || !is_int8(x) || !is_int8(y))
    return 0;
  const i64 count = summed(*a, x);
  const auto m =
      reduce_multiplier(x.quant, y.quant, a->fn == Reduce::kMean ? count : 1, Ties::away, "");
  return m && m->shift < 0 ? std::ldexp(1.0, m->shift - 1) : 0;
}

double noise_of_excess_db(const Op& op, const Type& x, const Type& y) {
  const double excess = excess_of_sum(op, x, y);
  if (excess == 0) return 0;
  const Reduce& a = std::get<Reduce>(op);
  const auto count = static_cast<double>(summed(a, x));
  const double each = static_cast<double>(x.quant.scale[0]) /
                      static_cast<double>(y.quant.scale[0]) /
                      (a.fn == Reduce::kMean ? count : 1);  // in steps of the result
  const double noise = (1 + each * each * count) / 12;
  return 10 * std::log10(1 + excess * excess / noise);
}

}  // namespace deuteron
