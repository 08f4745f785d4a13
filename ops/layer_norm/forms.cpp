#include <numeric>

#include "ops/form.h"
#include "ops/layer_norm/kernel.h"

namespace deuteron {

// layer_norm(x, weight, bias)   becomes   deviation * rsqrt(mean(deviation^2) + epsilon) * weight + bias, with deviation = x - mean(x)
bool parts_form(const LayerNorm& a, FormBuilder& b) {
  if (b.result().dtype != DType::f32) return false;
  Axes axes(static_cast<size_t>(a.axes));
  std::iota(axes.begin(), axes.end(), b.type(0).rank() - a.axes);
  const auto add = [&](Op op, std::vector<ValueId> inputs, const char* part) {
    return b.add(std::move(op), std::move(inputs), {}, b.result_name() + part);
  };
  ValueId deviation = 0;
  if (a.centered) {
    Add difference;
    difference.alpha = -1;
    deviation = add(difference, {0, add(Reduce{Reduce::kMean, axes}, {0}, ".mean")}, ".deviation");
  }
  const ValueId squared = add(Unary{UnaryFn::pow, 2}, {deviation}, ".squared");
  const ValueId variance = add(Reduce{Reduce::kMean, axes}, {squared}, ".variance");
  const ValueId epsilon = b.constant(DType::f32, {}, std::vector<float>{a.epsilon}, b.result_name() + ".eps");
  const ValueId root = add(Unary{UnaryFn::rsqrt, 0}, {add(Add{}, {variance, epsilon}, ".plus_eps")}, ".rsqrt");
  ValueId y = add(Mul{}, {deviation, root}, ".normalized");
  if (b.operands() > 1) y = add(Mul{}, {y, 1}, ".times_weight");
  if (b.operands() > 2) y = add(Add{}, {y, 2}, ".plus_bias");
  return b.finish(y);
}

// The same where our kernel does not take it: a slice too long for sums in int32, a weight or a bias that is computed.
bool simpler_form(const LayerNorm& a, FormBuilder& b) {
  const Shape& x = b.type(0).shape;
  bool fits = numel(std::span(x).last(static_cast<size_t>(a.axes))) <= kMostNormalized;
  for (const FormOperand& o : b.site().operands.subspan(1)) fits &= o.data || o.steps_data;
  return !fits && parts_form(a, b);
}

}  // namespace deuteron
