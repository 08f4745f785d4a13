// As a table with straight lines between its entries; the opposite as a sum, which is exact.
#include "ops/unary/int16.h"

#include "ops/add_s16/lower.h"
#include "ops/integer/int16.h"
#include "ops/lookup_s16/table.h"
#include "ops/rescale_16x8/lower.h"
#include "ops/sigmoid_16x8/lower.h"
#include "ops/unary/functions.h"

namespace deuteron {

Result<Lowered> int16_form(const Unary& a, const LowerContext& c) {
  const Type &x = c.in[0], &y = c.out[0];
  for (const Type* t : {&x, &y})
    if (auto why = require_int16(*t)) return *why;
  if (a.fn == UnaryFn::neg) return lower_sum_s16(0, -static_cast<double>(x.quant.scale[0]) / y.quant.scale[0], 0, 0, {}, c);
  return lower_table_s16(c, row_of(a.fn).name, [&](float v) { return evaluate(a.fn, v, a.alpha); });
}

// TFLite has no other functions in int16.
Result<Lowered> tflite_int16_form(const Unary& a, const LowerContext& c) {
  const float x = c.in[0].quant.scale[0], y = c.out[0].quant.scale[0];
  if (a.fn == UnaryFn::leaky_relu) return lower_rescale_16x8(c, static_cast<double>(x / y), static_cast<double>(x * a.alpha / y), {});
  if (a.fn == UnaryFn::sigmoid || a.fn == UnaryFn::tanh) return lower_sigmoid_16x8(c, a.fn == UnaryFn::tanh);
  return Refusal{"there is no kernel of TFLite's int16 arithmetic for it", std::string(row_of(a.fn).name), "sigmoid, tanh, leaky_relu",
                 "int16x8.operator"};
}

}  // namespace deuteron
