// SPDX-License-Identifier: Apache-2.0
// As a table with straight lines between its entries; the opposite as a sum, which is exact.
#include "ops/unary/int16.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "ops/add/lower_s16.h"
#include "ops/common/int16.h"
#include "ops/common/multiplier.h"
#include "ops/common/rescale_16x8.h"
#include "ops/unary/functions.h"
#include "ops/unary/sigmoid_16x8.h"
#include "ops/unary/table_s16.h"
#include "ops/unary/tflite_table_s16.h"

namespace deuteron {

Result<Lowered> int16_form(const Unary& a, const LowerContext& c) {
  const Type &x = c.in[0], &y = c.out[0];
  if (auto why = require_int16(c)) return *why;
  if (a.fn == UnaryFn::neg)
    return lower_sum_s16(0, -static_cast<double>(x.quant.scale[0]) / y.quant.scale[0], 0, 0, {}, c);
  return lower_table_s16(c, row_of(a.fn).name, [&](float v) { return evaluate(a.fn, v, a.alpha); });
}

// A table as TFLite makes it. Its lookup takes the distance of two entries for int16, which wraps.
static Result<Lowered> tflite_table_form(const LowerContext& c,
                                         float (*function)(float value, float y_scale)) {
  const Type &x = c.in[0], &y = c.out[0];
  if (auto why = require_int16(c)) return *why;
  const float scale = y.quant.scale[0];
  std::vector<int16_t> table =
      tflite_table_s16(x.quant.scale[0], 0, scale, [&](float v) { return function(v, scale); });
  for (size_t k = 0; k + 1 < table.size(); ++k)
    if (const i32 step = table[k + 1] - table[k]; step != static_cast<int16_t>(step))
      return Refusal{"entries of the table lie too far apart: the result's scale is too fine",
                     std::to_string(step), "32767", "int16x8.scale"};
  CallBuilder call("deuteron::lookup_s16", c.in.size(), 1);
  call.in(0, elementwise_face(x.shape)).constant(DType::s16, {kLookupS16Entries}, std::move(table));
  call.out(0, elementwise_face(y.shape)).may_share(0, 0);
  return call.done();
}

// The kernel takes the sign off behind its first rounding, TFLite before it: halves would be
// rounded to different sides. A product is a half where its last bit that is set is bit 30.
static Result<Lowered> tflite_abs_form(const LowerContext& c) {
  const double factor = static_cast<double>(c.in[0].quant.scale[0] / c.out[0].quant.scale[0]);
  const auto m = checked_multiplier(factor, Ties::away, "int16x8.scale");
  if (!m) return m.why;
  const int zeros = std::countr_zero(static_cast<uint32_t>(m->value)) + std::max(m->shift, 0);
  if (zeros + 15 >= 30 && zeros <= 30)
    return Refusal{
        "scales of which one is the other's by a number of few bits: halves are rounded otherwise",
        fmt::format("{:g}", factor), "1, or more bits", "int16x8.scale"};
  return lower_rescale_16x8(c, factor, -factor, {});
}

static Result<Lowered> tflite_sqrt_form(const LowerContext& c) {
  const Type &x = c.in[0], &y = c.out[0];
  if (auto why = require_int16(c)) return *why;
  CallBuilder call("deuteron::sqrt_16x8", c.in.size(), 1);
  call.in(0, elementwise_face(x.shape))
      .real(static_cast<double>(x.quant.scale[0]))
      .real(static_cast<double>(y.quant.scale[0]));
  call.out(0, elementwise_face(y.shape)).may_share(0, 0);
  return call.done();
}

// TFLite has no other functions in int16. What has no value there is the end of the range.
Result<Lowered> tflite_int16_form(const Unary& a, const LowerContext& c) {
  const float x = c.in[0].quant.scale[0], y = c.out[0].quant.scale[0];
  switch (a.fn) {
    case UnaryFn::leaky_relu:
      return lower_rescale_16x8(c, static_cast<double>(x / y), static_cast<double>(x * a.alpha / y),
                                {});
    case UnaryFn::abs:
      return tflite_abs_form(c);
    case UnaryFn::sigmoid:
    case UnaryFn::tanh:
      return lower_sigmoid_16x8(c, a.fn == UnaryFn::tanh);
    case UnaryFn::exp:
      return tflite_table_form(c, [](float v, float) { return std::exp(v); });
    case UnaryFn::gelu:  // with erfc(), which keeps its bits far below 0
      return tflite_table_form(
          c, [](float v, float) { return 0.5f * v * std::erfc(v * -0.70710678118654752f); });
    case UnaryFn::gelu_tanh:
      return tflite_table_form(c,
                               [](float v, float) { return evaluate(UnaryFn::gelu_tanh, v, 0); });
    case UnaryFn::log:
      return tflite_table_form(
          c, [](float v, float scale) { return v <= 0 ? -32768 * scale : std::log(v); });
    case UnaryFn::rsqrt:
      return tflite_table_form(
          c, [](float v, float scale) { return v <= 0 ? 32767 * scale : 1 / std::sqrt(v); });
    case UnaryFn::sqrt:
      return tflite_sqrt_form(c);
    default:
      return Refusal{
          "there is no kernel of TFLite's int16 arithmetic for it", std::string(row_of(a.fn).name),
          "abs, exp, gelu, leaky_relu, log, rsqrt, sigmoid, sqrt, tanh", "int16x8.operator"};
  }
}

}  // namespace deuteron
