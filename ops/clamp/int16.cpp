// A sum of the operand and nothing of it.
#include "ops/clamp/int16.h"

#include "ops/add_s16/lower.h"
#include "ops/integer/int16.h"

namespace deuteron {

Result<Lowered> int16_form(const Clamp& a, const LowerContext& c) {
  const Type &x = c.in[0], &y = c.out[0];
  for (const Type* t : {&x, &y})
    if (auto why = require_int16(*t)) return *why;
  return lower_sum_s16(0, static_cast<double>(x.quant.scale[0]) / y.quant.scale[0], 0, 0, a.bounds, c);
}

}  // namespace deuteron
