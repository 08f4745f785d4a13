// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/rounding.h"

#include <cmath>

#include "ops/reduce/multiplier.h"

namespace deuteron {

static bool is_int8(const Type& t) { return t.dtype == DType::s8 && t.quant.scale.size() == 1; }

double excess_of_sum(const Op& op, const Type& x, const Type& y) {
  const Reduce* a = std::get_if<Reduce>(&op);
  if (!a || (a->fn != Reduce::kMean && a->fn != Reduce::kSum) || !is_int8(x) || !is_int8(y))
    return 0;
  i64 count = 1;
  for (const i64 axis : a->axes) count *= x.shape[static_cast<size_t>(axis)];
  const auto m =
      reduce_multiplier(x.quant, y.quant, a->fn == Reduce::kMean ? count : 1, Ties::away, "");
  return m && m->shift < 0 ? std::ldexp(1.0, m->shift - 1) : 0;
}

}  // namespace deuteron
