// Softmax on int16 as TFLite computes it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/integer/int16.h"
#include "ops/integer/multiplier.h"
#include "ops/softmax/int16.h"
#include "ops/softmax_16x8/kernel.h"

namespace deuteron {
namespace {

// A function over 512 parts of an int16 range, in steps of the result. An entry is moved by half of the error that the line to the next one
// has in its middle. Source: TFLite's LUTPopulate of int16, in double.
template <class Function>
std::vector<int16_t> line_table(double x_scale, i32 x_zero, double y_scale, Function function) {
  constexpr i32 kLow = -32768, kHigh = 32767, kParts = kSoftmax16x8Entries - 1;
  const double first = x_scale * (kLow - x_zero), last = x_scale * (kHigh - x_zero), part = (last - first) / kParts;
  const double steps = 65536.0 / (y_scale * kHigh - y_scale * kLow);
  const auto held = [](double v) { return static_cast<int16_t>(std::clamp<double>(v, kLow, kHigh)); };
  std::vector<int16_t> table;
  for (i32 i = 0; i < kParts; ++i) {
    const double here = std::round(function(first + i * part) * steps), next = function(first + (i + 1) * part) * steps;
    const double between = std::round((next + here) / 2), wanted = std::round(function(first + i * part + part / 2) * steps);
    table.push_back(held(here - std::round((between - wanted) / 2)));
  }
  table.push_back(held(std::round(function(last) * steps)));
  return table;
}

}  // namespace

Result<Lowered> tflite_int16_form(const Softmax& a, const LowerContext& c) {
  constexpr double kRange = 65535;
  const Type &x = c.in[0], &y = c.out[0];
  for (const Type* t : {&x, &y})
    if (auto why = require_int16(*t)) return *why;
  if (a.axis != x.rank() - 1)
    return Refusal{"the kernel works over the last axis", std::to_string(a.axis), std::to_string(x.rank() - 1), "int16x8.axes"};
  if (x.shape.back() > kSoftmax16x8MostColumns)
    return Refusal{"elements of a row", std::to_string(x.shape.back()), std::to_string(kSoftmax16x8MostColumns), "int16x8.elements"};
  // From 0 down to -10, where exp() is next to nothing.
  const double factor = static_cast<double>(x.quant.scale[0] * a.beta) / (10.0 / kRange);
  const auto m = checked_multiplier(factor, Ties::away, "int16x8.scale");
  if (!m) return m.why;
  if (m->shift > 15) return Refusal{"the operand's scale is too coarse", fmt::format("{:g}", factor), "32768", "int16x8.scale"};
  CallBuilder call("deuteron::softmax_16x8", c.in.size(), 1);
  call.in(0, plain_face(x.shape));
  call.constant(DType::s16, {kSoftmax16x8Entries}, line_table(10.0 / kRange, 32767, 2.0 / kRange, [](double v) { return std::exp(v); }));
  call.constant(DType::s16, {kSoftmax16x8Entries}, line_table(1.0 / kRange, -32768, 2.0 / kRange, [](double v) { return 1 / (1 + v); }));
  call.integer(m->value).integer(m->shift).out(0, plain_face(y.shape)).may_share(0, 0);
  return call.done();
}

}  // namespace deuteron
