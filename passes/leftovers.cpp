// An int8 operator that no kernel of the dialect takes runs in float, between explicit dequantize and quantize.
#include "passes/leftovers.h"

#include <cmath>
#include <utility>

#include "ir/elements.h"
#include "memory/homes.h"
#include "ops/families.h"
#include "rewrite/patch.h"

namespace deuteron {

static Result<Lowered> int8_call(const Graph& g, const Node& node, Isa isa) {
  std::vector<const Type*> in, out;
  std::vector<const Constant*> data;
  for (const ValueId v : node.inputs) data.push_back(g.values[v].constant ? &*g.values[v].constant : nullptr);
  return lower_to_cortex_m(node.op, {g.types(node.inputs, in), g.types(node.outputs, out), data, isa});
}

// The same operator on float types: nothing, when no portable kernel takes it.
static std::optional<Op> float_op(const Graph& g, const Node& node, Isa isa) {
  Op op = node.op;
  if (Bounds* bounds = bounds_of(op); bounds && !std::holds_alternative<Clamp>(op)) *bounds = {};
  std::vector<Type> types;
  for (const auto* list : {&node.inputs, &node.outputs})
    for (const ValueId v : *list) types.push_back({DType::f32, g.type(v).shape, {}});
  std::vector<const Type*> in, out;
  for (size_t k = 0; k < types.size(); ++k) (k < node.inputs.size() ? in : out).push_back(&types[k]);
  const std::vector<const Constant*> data(node.inputs.size());
  if (!float_call(op, {TypeView(in), TypeView(out), data, isa})) return std::nullopt;
  return op;
}

// f with bounds, in float   becomes   clamp(f): the portable kernels have none
static Patch without_bounds(const Graph& g, NodeId root) {
  const Node& node = g.nodes[root];
  Op op = node.op;
  Bounds* bounds = bounds_of(op);
  const Clamp clamp{std::exchange(*bounds, {})};
  PatchBuilder b(g, root, "");
  return b.replace_root(clamp, {b.add(std::move(op), node.inputs, {}, g.values[node.outputs[0]].name + "_unbounded")});
}

// A function in float that no portable kernel computes, and a product with a factor   become   what they are made of
static std::optional<Patch> spelled_out(const Graph& g, NodeId root) {
  const Node& node = g.nodes[root];
  if (node.outputs.empty() || g.type(node.outputs[0]).dtype != DType::f32) return std::nullopt;
  const ValueId x = node.inputs.empty() ? -1 : node.inputs[0];
  PatchBuilder b(g, root, "");
  const auto number = [&](double v) {
    return b.constant(DType::f32, Shape(g.type(node.outputs[0]).shape.size(), 1), std::vector<float>{static_cast<float>(v)}, "number");
  };
  if (const Matmul* matmul = std::get_if<Matmul>(&node.op)) {
    if (matmul->scale == 1) return std::nullopt;
    Matmul plain = *matmul;
    plain.scale = 1;
    return b.replace_root(Mul{}, {b.add(plain, node.inputs), number(matmul->scale)});
  }
  const Unary* unary = std::get_if<Unary>(&node.op);
  if (!unary) return std::nullopt;
  const auto fn = [&](UnaryFn f, ValueId v, float alpha = 0) { return b.add(Unary{f, alpha}, {v}); };
  const auto mul = [&](ValueId v, ValueId w) { return b.add(Mul{}, {v, w}); };
  const auto half_of_one_more = [&](ValueId v) { return mul(b.add(Add{}, {v, number(1)}), number(0.5)); };
  switch (unary->fn) {
    case UnaryFn::silu:
      return b.replace_root(Mul{}, {x, fn(UnaryFn::sigmoid, x)});
    case UnaryFn::hardswish:
    case UnaryFn::hardsigmoid: {
      const ValueId sixth = mul(b.add(Clamp{{0.0f, 6.0f}}, {b.add(Add{}, {x, number(3)})}), number(1.0 / 6));
      return unary->fn == UnaryFn::hardswish ? b.replace_root(Mul{}, {x, sixth}) : b.replace_root(sixth);
    }
    case UnaryFn::gelu:  // x * (1 + erf(x / sqrt(2))) / 2
      return b.replace_root(Mul{}, {x, half_of_one_more(fn(UnaryFn::erf, mul(x, number(std::sqrt(0.5)))))});
    case UnaryFn::gelu_tanh: {  // the same with tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))
      const ValueId bent = b.add(Add{}, {x, mul(fn(UnaryFn::pow, x, 3), number(0.044715))});
      return b.replace_root(Mul{}, {x, half_of_one_more(fn(UnaryFn::tanh, mul(bent, number(std::sqrt(2 / std::acos(-1.0))))))});
    }
    case UnaryFn::softplus: {  // max(x, 0) + log(1 + exp(-|x|))
      const ValueId small = fn(UnaryFn::exp, fn(UnaryFn::neg, fn(UnaryFn::abs, x)));
      return b.replace_root(Add{}, {b.add(Clamp{{.low = 0}}, {x}), fn(UnaryFn::log1p, small)});
    }
    default:
      return std::nullopt;
  }
}

static bool is_bounded_in_float(const Graph& g, const Node& node) {
  Op op = node.op;
  const Bounds* bounds = bounds_of(op);
  return bounds && !bounds->none() && !std::holds_alternative<Clamp>(op) && g.type(node.outputs[0]).dtype == DType::f32;
}

// f(x, ..) on int8   becomes   quantize(clamp(f(dequantize(x), ..)))
static Patch island(const Graph& g, NodeId root, Op op) {
  const Node& node = g.nodes[root];
  PatchBuilder b(g, root, "");
  std::vector<ValueId> inputs;
  for (const ValueId v : node.inputs) {
    const GraphValue& value = g.values[v];
    if (value.type.dtype == DType::f32) inputs.push_back(v);
    else if (value.constant)
      inputs.push_back(
          b.constant({DType::f32, value.type.shape, {}}, constant_of(numbers_of(value.constant->bytes.data(), value.type)), value.name));
    else inputs.push_back(b.add(Dequantize{}, {v}, {}, value.name + "_float"));
  }
  const std::string& name = g.values[node.outputs[0]].name;
  Op before = node.op;
  const Bounds* bounds = bounds_of(before);
  ValueId y = b.add(std::move(op), std::move(inputs), {}, name + "_float");
  if (bounds && !bounds->none() && !std::holds_alternative<Clamp>(node.op)) y = b.add(Clamp{*bounds}, {y}, {}, name + "_bounded");
  return b.replace_root(Quantize{g.type(node.outputs[0]).quant}, {y});
}

static bool is_int8_operator(const Graph& g, const Node& node) {
  if (std::holds_alternative<KernelCall>(node.op) || std::holds_alternative<Delegate>(node.op) ||
      std::holds_alternative<Quantize>(node.op) || std::holds_alternative<Dequantize>(node.op) || takes_no_time(node.op) ||
      node.outputs.size() != 1)
    return false;
  return g.type(node.outputs[0]).dtype == DType::s8 && !g.type(node.outputs[0]).quant.empty() &&
         !g.type(node.outputs[0]).quant.per_channel();
}

void leftovers(PassContext& pass) {
  Graph& g = pass.graph;
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    if (is_bounded_in_float(g, g.nodes[n])) {
      apply(g, without_bounds(g, static_cast<NodeId>(n)), static_cast<NodeId>(n));
      ++n;
      continue;
    }
    if (std::optional<Patch> patch = spelled_out(g, static_cast<NodeId>(n))) {
      const size_t before = g.nodes.size();
      apply(g, std::move(*patch), static_cast<NodeId>(n));
      n += g.nodes.size() - before;
      continue;
    }
    if (!is_int8_operator(g, g.nodes[n]) || int8_call(g, g.nodes[n], pass.target.isa)) continue;
    if (std::optional<Op> op = float_op(g, g.nodes[n], pass.target.isa)) {
      const size_t before = g.nodes.size();
      apply(g, island(g, static_cast<NodeId>(n), std::move(*op)), static_cast<NodeId>(n));
      n += g.nodes.size() - before;
    }
  }
}

}  // namespace deuteron
