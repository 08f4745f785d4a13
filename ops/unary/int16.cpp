// As a table with straight lines between its entries; the opposite as a sum, which is exact.
#include "ops/unary/int16.h"

#include "ops/add_s16/lower.h"
#include "ops/integer/int16.h"
#include "ops/lookup_s16/table.h"
#include "ops/unary/functions.h"

namespace deuteron {

Result<Lowered> int16_form(const Unary& a, const LowerContext& c) {
  const Type &x = c.in[0], &y = c.out[0];
  for (const Type* t : {&x, &y})
    if (auto why = require_int16(*t)) return *why;
  if (a.fn == UnaryFn::neg) return lower_sum_s16(0, -static_cast<double>(x.quant.scale[0]) / y.quant.scale[0], 0, 0, {}, c);
  return lower_table_s16(c, row_of(a.fn).name, [&](float v) { return evaluate(a.fn, v, a.alpha); });
}

}  // namespace deuteron
