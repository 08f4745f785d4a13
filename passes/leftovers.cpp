// An int8 operator that no kernel of the dialect takes runs in float, between explicit dequantize and quantize.
#include "passes/leftovers.h"

#include <utility>

#include "ir/elements.h"
#include "memory/homes.h"
#include "ops/families.h"
#include "rewrite/forms.h"
#include "rewrite/patch.h"
#include "targets/target.h"

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
  if (has_bounds_beside(op)) *bounds_of(op) = {};
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

static bool is_bounded_in_float(const Graph& g, const Node& node) {
  return has_bounds_beside(node.op) && g.type(node.outputs[0]).dtype == DType::f32;
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
  ValueId y = b.add(std::move(op), std::move(inputs), {}, name + "_float");
  if (has_bounds_beside(node.op)) y = b.add(Clamp{*bounds_of(node.op)}, {y}, {}, name + "_bounded");
  return b.replace_root(Quantize{g.type(node.outputs[0]).quant}, {y});
}

static bool is_int8_operator(const Graph& g, const Node& node) {
  if (is_lowered(node.op) || is_quantize_or_dequantize(node.op) || takes_no_time(node.op) || node.outputs.size() != 1) return false;
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
    const bool may_be_spelled_out = has_form(g.nodes[n].op, FormKind::portable);
    if (std::optional<Patch> patch = may_be_spelled_out ? form_of(g, Uses(g), static_cast<NodeId>(n), FormKind::portable) : std::nullopt) {
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
