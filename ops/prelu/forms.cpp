// SPDX-License-Identifier: Apache-2.0
// What prelu becomes: a function of one element where all slopes are the same, else what there are
// kernels for.
#include "ops/form.h"

#include <algorithm>

namespace deuteron {

enum { kX, kSlope };

// A slope of 1 that was brought to the steps of a grid.
static constexpr float kRounding = 1e-6f;

static Clamp above_zero() { return Clamp{{.low = 0}}; }
static Clamp below_zero() { return Clamp{{.high = 0}}; }

struct Slopes {
  float least, most;
};

// Those that are there; of computed ones those that their steps can hold.
static std::optional<Slopes> slopes_of(const FormBuilder& b) {
  if (const std::optional<std::vector<float>> given = numbers_of(b.site().operands[kSlope])) {
    const auto [least, most] = std::minmax_element(given->begin(), given->end());
    return Slopes{*least, *most};
  }
  const Quant& q = b.type(kSlope).quant;
  if (q.empty() || q.per_channel()) return std::nullopt;
  const auto at = [&](i32 step) { return static_cast<float>(step - q.zero_point[0]) * q.scale[0]; };
  return Slopes{at(q.low), at(q.high)};
}

// x * 1, which changes the parameters as a product with a slope does.
static ValueId times_one(FormBuilder& b, ValueId x, const Quant& out) {
  const Type& slope = b.type(kSlope);
  const auto ones = constant_of(std::vector<int8_t>(static_cast<size_t>(slope.elements()), 1));
  return b.add(Mul{}, {x, b.constant(Type{DType::s8, slope.shape, per_tensor(1, 0)}, ones)}, out);
}

// Of one slope: a function of one element, which is a table.
static bool is_one(const std::vector<float>& slopes) {
  return std::all_of(slopes.begin(), slopes.end(), [&](float s) { return s == slopes.front(); });
}

// prelu   becomes   the larger or smaller of x and its product, or products, clamps and sums
// Beside an NPU with the bits of its PRELU: both halves are products that are rounded once.
static bool int8_kernel_forms(const Prelu&, FormBuilder& b) {
  const bool as_npu = b.site().beside_npu;
  const Quant &in = b.type(kX).quant, &out = b.result().quant;
  const std::optional<Slopes> slopes = slopes_of(b);
  const std::optional<std::vector<float>> given = numbers_of(b.site().operands[kSlope]);
  if (!slopes || in.empty() || out.empty() || (given && is_one(*given))) return false;
  const bool shrinks = slopes->most <= 1 + kRounding, grows = slopes->least >= 1 - kRounding;
  if (shrinks || grows) {
    // A value that the steps of y cut off is cut off in both operands or loses against the other
    // one.
    const ValueId same = in == out ? ValueId{kX}
                         : as_npu  ? times_one(b, kX, out)
                                   : b.add(Clamp{}, {kX}, out);
    const ValueId scaled = b.add(Mul{}, {kX, kSlope}, out);
    return shrinks ? b.finish(Maximum{}, {same, scaled}) : b.finish(Minimum{}, {same, scaled});
  }
  const ValueId above =
      as_npu ? times_one(b, b.add(above_zero(), {kX}, in), out) : b.add(above_zero(), {kX}, out);
  const ValueId below = b.add(Mul{}, {b.add(below_zero(), {kX}, in), kSlope}, out);
  // A sum in the parameters of both operands, of which one is 0, is exact.
  return b.finish(Add{}, {above, below});
}

// prelu with the same slope everywhere   becomes   leaky_relu
// Refused between steps of a model from TFLite, which forms the two multipliers otherwise.
static bool prelu_to_leaky_relu(const Prelu&, FormBuilder& b) {
  const std::optional<std::vector<float>> slopes = numbers_of(b.site().operands[kSlope]);
  if (!slopes || b.type(kX).dtype != DType::f32) return false;
  if (!is_one(*slopes) || (b.site().beside_npu && b.site().operands[kX].steps)) return false;
  return b.finish(Unary{UnaryFn::leaky_relu, slopes->front()}, {kX});
}

// The same in float: products, clamps and sums
static bool prelu_to_kernel_forms(const Prelu& a, FormBuilder& b) {
  if (b.type(kX).dtype != DType::f32) return int8_kernel_forms(a, b);
  const ValueId scaled = b.add(Mul{}, {b.add(below_zero(), {kX}), kSlope});
  return b.finish(Add{}, {b.add(above_zero(), {kX}), scaled});
}

bool simpler_form(const Prelu& a, FormBuilder& b) { return prelu_to_leaky_relu(a, b); }
bool kernel_form(const Prelu& a, FormBuilder& b) { return prelu_to_kernel_forms(a, b); }

}  // namespace deuteron
