// SPDX-License-Identifier: Apache-2.0
#include "compile/precision/int8_layer.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "compile/lower/call_node.h"
#include "kernels/integer/requantize.h"
#include "kernels/linear/once/kernel.h"
#include "ops/common/bounds.h"
#include "ops/common/multiplier.h"
#include "ops/families.h"
#include "targets/target.h"

namespace deuteron {

enum { kX, kWeight, kBias };

// How a sum becomes a step: on a Cortex-M and on the NPU, of our own numbers and of TFLite's
// (docs/numerics.md, section 2). Which of them it will be is not asked: what is constant is so in
// all of them.
static constexpr MultiplierForm kForms[] = {
    {Ties::to_even, kUnshiftedOfInt8}, {Ties::away, 1.0}, {Ties::away, kUnshiftedOfTflite}};

bool is_int8_per_tensor(const Type& t) {
  return t.dtype == DType::s8 && !t.quant.empty() && !t.quant.per_channel();
}

static bool have_no_zero_points(const Quant& weight) {
  return std::ranges::all_of(weight.zero_point, [](i32 zero) { return zero == 0; }) &&
         (!weight.per_channel() || weight.axis == 0);
}

// TFLite's rounding of a fully connected layer, where a kernel that has it may not be found: which
// multiplier stands in for it then depends on how far the sums reach.
static bool may_round_by_its_sums(const Graph& g, const Node& node, const Target& target) {
  const i64 inputs = g.type(node.inputs[kX]).shape.back();
  return rounding_of(g, node, target) == Rounding::reference_once &&
         (target.options.is_for_stock() || inputs > kMostOnceInputs);
}

static bool sums_fit(const Graph& g, const Node& node) {
  std::vector<const Type*> in, out;
  std::vector<const Constant*> data;
  for (const ValueId v : node.inputs)
    data.push_back(g.values[v].constant ? &*g.values[v].constant : nullptr);
  const LowerContext context{.in = g.types(node.inputs, in),
                             .out = g.types(node.outputs, out),
                             .data = data,
                             .isa = Isa::scalar};
  const Quant &x = context.in[kX].quant, &weight = context.in[kWeight].quant,
              &y = context.out[0].quant;
  for (const MultiplierForm& form : kForms)
    for (const Product product : {Product::wide, Product::single}) {
      const auto multipliers =
          channel_multipliers(x, weight, y, context.in[kWeight].shape[0], form, "", product);
      if (!multipliers || why_sums_wrap(context, *multipliers, "")) return false;
    }
  return true;
}

void Int8Layer::find_padding(const ImageWindow& window, const Shape& x, const Shape& w,
                             const Shape& y) {
  // Whether position `tap` of a window lies outside of the image for the first window or for the
  // last.
  const auto leaves = [&](i64 tap, i64 axis) {
    const AxisWindow& along = window.along(axis);
    const i64 at = tap * along.dilation - along.pad;
    return at < 0 ||
           at + (y[static_cast<size_t>(axis)] - 1) * along.stride >= x[static_cast<size_t>(axis)];
  };
  reads_padding.clear();
  for (i64 row = 0; row < w[1]; ++row)
    for (i64 column = 0; column < w[2]; ++column)
      reads_padding.push_back(leaves(row, 1) || leaves(column, 2));
}

std::optional<Int8Layer> Int8Layer::of(const Graph& g, const Node& node, const Target& target) {
  if (!is_layer(node.op) || node.outputs.size() != 1) return std::nullopt;
  std::vector<const Type*> operands;
  const std::optional<ImageWindow> window = window_of(node.op, g.types(node.inputs, operands));
  const ValueId x = node.inputs[kX], w = node.inputs[kWeight], y = node.outputs[0];
  const Type& weight = g.type(w);
  if (weight.rank() != (window ? 4 : 2) || !bounds_of(node.op)) return std::nullopt;
  if (!is_int8_per_tensor(g.type(x)) || !is_int8_per_tensor(g.type(y)) ||
      weight.dtype != DType::s8 || weight.quant.empty() || !g.is_constant(w))
    return std::nullopt;
  if (!have_no_zero_points(weight.quant) || may_round_by_its_sums(g, node, target))
    return std::nullopt;
  const bool has_bias = node.inputs.size() > kBias;
  if (has_bias &&
      (!g.is_constant(node.inputs[kBias]) || g.type(node.inputs[kBias]).dtype != DType::s32))
    return std::nullopt;
  if (!sums_fit(g, node)) return std::nullopt;

  Int8Layer layer;
  const Shape& shape = weight.shape;
  layer.filters = shape[0], layer.depth = shape.back(),
  layer.taps = window ? shape[1] * shape[2] : 1;
  layer.groups = g.type(x).shape.back() / shape.back();
  layer.weights_ = g.values[w].constant->as<int8_t>();
  if (has_bias) layer.bias_ = g.values[node.inputs[kBias]].constant->as<i32>();
  layer.x_ = &g.type(x).quant, layer.weight_ = &weight.quant, layer.y_ = &g.type(y).quant;
  for (const Rounding rounding : {Rounding::once, Rounding::tflite})
    layer.ranges_.push_back(step_range(*bounds_of(node.op), *layer.y_, rounding));
  if (window) layer.find_padding(*window, g.type(x).shape, shape, g.type(y).shape);
  return layer;
}

Steps Int8Layer::steps(i64 o, std::span<const Steps> x) const {
  i64 low = bias(o), high = low;
  const i64 first = o / (filters / groups) * depth;
  const std::span<const int8_t> weights = filter(o);
  for (i64 tap = 0; tap < taps; ++tap)
    for (i64 i = 0; i < depth; ++i) {
      const i64 w = weights[static_cast<size_t>(tap * depth + i)];
      if (w == 0) continue;
      const Steps& s = x[static_cast<size_t>(first + i)];
      const i64 a = w * (s.low - x_zero()), b = w * (s.high - x_zero());
      const bool padded = reads_padding[static_cast<size_t>(tap)];
      low += padded ? std::min({a, b, i64{0}}) : std::min(a, b);
      high += padded ? std::max({a, b, i64{0}}) : std::max(a, b);
    }
  // No sum that the program makes leaves int32; these bounds may, of an input that its scale does
  // not allow.
  const auto narrow = [](i64 v, i32 shift) {
    return static_cast<i32>(std::clamp<i64>(v, std::numeric_limits<i32>::min() >> shift,
                                            std::numeric_limits<i32>::max() >> shift));
  };
  Steps all{127, -128};
  for (const Product product : {Product::wide, Product::single})
    for (const MultiplierForm& form : kForms) {
      const std::optional<Multiplier> m =
          multiplier_of(channel_factor(*x_, *weight_, *y_, o, product), form);
      for (const bool rounds_once : {false, true})
        for (const StepRange& range : ranges_) {
          const auto step = [&](i64 sum) {
            const i32 held = narrow(sum, std::max(m->shift, 0));
            const i32 v = rounds_once ? requantize_once(held, m->value, m->shift)
                                      : requantize(held, m->value, m->shift);
            return static_cast<i32>(
                std::clamp<i64>(i64{v} + y_->zero_point[0], range.low, range.high));
          };
          all.low = std::min(all.low, step(low)), all.high = std::max(all.high, step(high));
        }
    }
  return all;
}

}  // namespace deuteron
