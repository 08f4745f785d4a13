#include "rewrite/prelu_forms.h"

#include <algorithm>
#include <cmath>

namespace deuteron {
namespace {

// The slopes, also when they are steps of a grid; nothing when they are not constant.
std::optional<std::vector<float>> slopes_of(const Graph& g, const Uses& uses, ValueId v) {
  if (const NodeId d = producer_as<Dequantize>(g, uses, v); d >= 0) v = g.nodes[d].inputs[0];
  const GraphValue& value = g.values[v];
  if (!value.constant || value.type.quant.per_channel()) return std::nullopt;
  std::vector<float> slopes;
  if (value.type.dtype == DType::f32) {
    const std::span<const float> real = value.constant->as<float>();
    slopes.assign(real.begin(), real.end());
  } else if (value.type.dtype == DType::s8 && !value.type.quant.empty()) {
    const Quant& q = value.type.quant;
    for (const int8_t step : value.constant->as<int8_t>()) slopes.push_back(static_cast<float>(step - q.zero_point[0]) * q.scale[0]);
  }
  if (slopes.empty()) return std::nullopt;
  return slopes;
}

// A slope of 1 that was brought to the steps of a grid.
constexpr float kRounding = 1e-6f;

Clamp above_zero() { return Clamp{{.low = 0}}; }
Clamp below_zero() { return Clamp{{.high = 0}}; }

// The parameters that hold the products of `slopes` and what of x lies below zero.
Quant quant_of_products(const std::vector<float>& slopes, const Quant& x) {
  const auto [least, most] = std::minmax_element(slopes.begin(), slopes.end());
  const float lowest = static_cast<float>(x.low - x.zero_point[0]) * x.scale[0];
  const float low = std::min(lowest * *most, 0.0f), high = std::max(lowest * *least, 0.0f);
  const float scale = high > low ? (high - low) / 255 : 1;
  return per_tensor(scale, static_cast<i32>(std::clamp(std::nearbyint(-128 - low / scale), -128.0f, 127.0f)));
}

// x * 1, which changes the parameters as a product with a slope does.
ValueId times_one(PatchBuilder& b, ValueId x, const Type& slope, const Quant& out) {
  const auto ones = constant_of(std::vector<int8_t>(static_cast<size_t>(slope.elements()), 1));
  return b.add(Mul{}, {x, b.constant(Type{DType::s8, slope.shape, per_tensor(1, 0)}, ones)}, out);
}

std::optional<Patch> int8_kernel_forms(const Graph& g, const Uses& uses, NodeId root, bool as_npu) {
  const Node& node = g.nodes[root];
  const ValueId x = node.inputs[0], slope = node.inputs[1];
  const Quant &in = g.type(x).quant, &out = g.type(node.outputs[0]).quant;
  const std::optional<std::vector<float>> slopes = slopes_of(g, uses, slope);
  if (!slopes || in.empty() || out.empty()) return std::nullopt;
  PatchBuilder b(g, root, "");
  const bool shrinks = std::all_of(slopes->begin(), slopes->end(), [](float s) { return s <= 1 + kRounding; });
  const bool grows = std::all_of(slopes->begin(), slopes->end(), [](float s) { return s >= 1 - kRounding; });
  if (shrinks || grows) {
    // A value that the steps of y cut off is cut off in both operands or loses against the other one.
    const ValueId same = in == out ? x : as_npu ? times_one(b, x, g.type(slope), out) : b.add(Clamp{}, {x}, out);
    const ValueId scaled = b.add(Mul{}, {x, slope}, out);
    return shrinks ? b.replace_root(Maximum{}, {same, scaled}) : b.replace_root(Minimum{}, {same, scaled});
  }
  const ValueId above = b.add(above_zero(), {x}, in), below = b.add(below_zero(), {x}, in);
  // A sum in the parameters of both operands, of which one is 0, is exact.
  if (as_npu) return b.replace_root(Add{}, {times_one(b, above, g.type(slope), out), b.add(Mul{}, {below, slope}, out)});
  return b.replace_root(Add{}, {above, b.add(Mul{}, {below, slope}, quant_of_products(*slopes, in))});
}

}  // namespace

std::optional<Patch> prelu_to_leaky_relu(const Graph& g, const Uses& uses, NodeId root) {
  if (!op_as<Prelu>(g, root)) return std::nullopt;
  const Node& node = g.nodes[root];
  const std::optional<std::vector<float>> slopes = slopes_of(g, uses, node.inputs[1]);
  if (!slopes || g.type(node.inputs[0]).dtype != DType::f32) return std::nullopt;
  if (std::any_of(slopes->begin(), slopes->end(), [&](float s) { return s != slopes->front(); })) return std::nullopt;
  PatchBuilder b(g, root, "");
  return b.replace_root(Unary{UnaryFn::leaky_relu, slopes->front()}, {node.inputs[0]});
}

std::optional<Patch> prelu_to_kernel_forms(const Graph& g, const Uses& uses, NodeId root) {
  if (!op_as<Prelu>(g, root)) return std::nullopt;
  const ValueId x = g.nodes[root].inputs[0], slope = g.nodes[root].inputs[1];
  if (g.type(x).dtype != DType::f32) return int8_kernel_forms(g, uses, root, false);
  PatchBuilder b(g, root, "");
  const ValueId scaled = b.add(Mul{}, {b.add(below_zero(), {x}), slope});
  return b.replace_root(Add{}, {b.add(above_zero(), {x}), scaled});
}

std::optional<Patch> prelu_to_npu_bits(const Graph& g, const Uses& uses, NodeId root) {
  if (!op_as<Prelu>(g, root) || g.type(g.nodes[root].inputs[0]).dtype == DType::f32) return std::nullopt;
  return int8_kernel_forms(g, uses, root, true);
}

}  // namespace deuteron
