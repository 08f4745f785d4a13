// SPDX-License-Identifier: Apache-2.0
// Softmax on int16 as TFLite computes it.
#include <fmt/format.h>

#include <cmath>

#include "kernels/softmax/16x8/kernel.h"
#include "ops/common/int16.h"
#include "ops/common/multiplier.h"
#include "ops/softmax/int16.h"
#include "ops/unary/tflite_table_s16.h"

namespace deuteron {
Result<Lowered> tflite_int16_form(const Softmax& a, const LowerContext& c) {
  constexpr double kRange = 65535;
  const Type &x = c.in[0], &y = c.out[0];
  if (auto why = require_int16(c)) return *why;
  if (a.axis != x.rank() - 1)
    return Refusal{"the kernel works over the last axis", std::to_string(a.axis),
                   std::to_string(x.rank() - 1), "int16x8.axes"};
  if (x.shape.back() > kSoftmax16x8MostColumns)
    return Refusal{"elements of a row", std::to_string(x.shape.back()),
                   std::to_string(kSoftmax16x8MostColumns), "int16x8.elements"};
  // From 0 down to -10, where exp() is next to nothing.
  const double factor = static_cast<double>(x.quant.scale[0] * a.beta) / (10.0 / kRange);
  const auto m = checked_multiplier(factor, Ties::away, "int16x8.scale");
  if (!m) return m.why;
  if (m->shift > 15)
    return Refusal{"the operand's scale is too coarse", fmt::format("{:g}", factor), "32768",
                   "int16x8.scale"};
  CallBuilder call("deuteron::softmax_16x8", c.in.size(), 1);
  call.in(0, plain_face(x.shape));
  const auto table = [&](double x_scale, i32 x_zero, auto function) {
    call.constant(DType::s16, {kSoftmax16x8Entries},
                  tflite_table_s16(x_scale, x_zero, 2.0 / kRange, function));
  };
  table(10.0 / kRange, 32767, [](double v) { return std::exp(v); });
  table(1.0 / kRange, -32768, [](double v) { return 1 / (1 + v); });
  call.integer(m->value).integer(m->shift).out(0, plain_face(y.shape)).may_share(0, 0);
  return call.done();
}

}  // namespace deuteron
