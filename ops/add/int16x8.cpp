// SPDX-License-Identifier: Apache-2.0
// A sum or a difference on int16 as TFLite computes it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/add/int16.h"
#include "ops/common/bounds.h"
#include "ops/common/int16.h"
#include "ops/common/multiplier.h"

namespace deuteron {
namespace {

constexpr const char* kRule = "int16x8.scale";

Result<Lowered> shifted(const Add& op, const LowerContext& c, const StepRange& range) {
  constexpr i64 kMost = 15;
  const auto shift_of = [&](size_t k) {
    return i64{std::lround(std::log2(double{c.out[0].quant.scale[0]} / c.in[k].quant.scale[0]))};
  };
  for (const i64 shift : {shift_of(0), shift_of(1)})
    if (shift < 0 || shift > kMost)
      return Refusal{"an operand's scale lies too far from the result's", std::to_string(shift),
                     fmt::format("0..{}", kMost), kRule};
  CallBuilder call("deuteron::shifted_add_16x8", c.in.size(), 1);
  call.in(0, elementwise_face(c.in[0].shape)).in(1, elementwise_face(c.in[1].shape));
  call.integer(shift_of(0))
      .integer(shift_of(1))
      .integer(op.alpha < 0 ? -1 : 1)
      .integer(range.low)
      .integer(range.high);
  call.out(0, elementwise_face(c.out[0].shape)).may_share(0, 0).may_share(0, 1);
  return call.done();
}

}  // namespace

Result<Lowered> tflite_int16_form(const Add& op, const LowerContext& c) {
  const Type &a = c.in[0], &b = c.in[1], &y = c.out[0];
  if (auto why = require_int16(c)) return *why;
  if (a.shape != b.shape)
    return Refusal{"the operands' shapes must be equal", to_text(a.shape), to_text(b.shape),
                   "int16x8.shape"};
  if (std::abs(op.alpha) != 1)
    return Refusal{"the second operand counts with a factor", fmt::format("{:g}", op.alpha),
                   "1 or -1", "int16x8.alpha"};
  const StepRange range = step_range(op.bounds, y.quant, of_bounds(c.rounding));
  if (op.shifted) return shifted(op, c, range);
  constexpr i32 kLeft = 15;
  const double twice = 2 * std::max(a.quant.scale[0], b.quant.scale[0]);
  const double out = twice / static_cast<double>(static_cast<float>(1 << kLeft) * y.quant.scale[0]);
  const auto ma = checked_multiplier(a.quant.scale[0] / twice, Ties::away, kRule),
             mb = checked_multiplier(b.quant.scale[0] / twice, Ties::away, kRule),
             my = checked_multiplier(out, Ties::away, kRule);
  for (const auto* m : {&ma, &mb, &my})
    if (!*m) return m->why;
  CallBuilder call("deuteron::add_16x8", c.in.size(), 1);
  call.in(0, elementwise_face(a.shape))
      .in(1, elementwise_face(b.shape))
      .integer(ma->value)
      .integer(ma->shift);
  call.integer(op.alpha < 0 ? -mb->value : mb->value)
      .integer(mb->shift)
      .integer(my->value)
      .integer(my->shift);
  call.integer(range.low)
      .integer(range.high)
      .out(0, elementwise_face(y.shape))
      .may_share(0, 0)
      .may_share(0, 1);
  return call.done();
}

}  // namespace deuteron
