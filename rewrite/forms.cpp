// SPDX-License-Identifier: Apache-2.0
#include "rewrite/forms.h"

#include <utility>

#include "base/check.h"
#include "ops/form.h"
#include "rewrite/borders.h"

namespace deuteron {

static FormOperand operand_of(const Graph& g, const Uses& uses, ValueId v) {
  const GraphValue& value = g.values[v];
  FormOperand o;
  o.type = &value.type;
  o.name = &value.name;
  o.data = value.constant ? &*value.constant : nullptr;
  if (const ValueId steps = dequantized(g, uses, v); steps >= 0) {
    o.steps = &g.type(steps);
    o.steps_data = g.is_constant(steps) ? &*g.values[steps].constant : nullptr;
  }
  return o;
}

static Patch patch_of(const Graph& g, NodeId root, Form form) {
  const std::vector<ValueId>& operands = g.nodes[root].inputs;
  const auto id = [&](ValueId v) {
    const auto k = static_cast<size_t>(v);
    return k < operands.size() ? operands[k] : static_cast<ValueId>(g.values.size() + k - operands.size());
  };
  Patch patch;
  for (Form::Value& value : form.values) patch.values.push_back({std::move(value.name), std::move(value.type), std::move(value.constant)});
  for (Form::Step& step : form.steps) {
    for (ValueId& v : step.inputs) v = id(v);
    patch.nodes.push_back({std::move(step.op), std::move(step.inputs), {id(step.output)}, {}});
  }
  patch.replace.emplace_back(g.nodes[root].outputs[0], id(form.result));
  patch.reason = std::move(form.reason);
  return patch;
}

std::optional<Patch> form_of(const Graph& g, const Uses& uses, NodeId root, FormKind kind, const FormTarget& target) {
  const Node& node = g.nodes[root];
  if (node.outputs.size() != 1 || !has_form(node.op, kind)) return std::nullopt;
  std::vector<FormOperand> operands;
  for (const ValueId v : node.inputs) operands.push_back(operand_of(g, uses, v));
  FormSite site;
  site.operands = operands;
  site.result = &g.type(node.outputs[0]);
  const std::optional<Type> steps = quantized_type(g, uses, node.outputs[0]);
  site.result_steps = steps ? &*steps : nullptr;
  site.name = &g.values[node.outputs[0]].name;
  site.isa = target.isa;
  site.beside_npu = target.beside_npu || g.numerics == Numerics::tflite;
  site.cmsis_nn = target.cmsis_nn;
  site.for_stock = target.for_stock;
  FormBuilder builder(site);
  if (!write_form(node.op, kind, builder)) return std::nullopt;
  return patch_of(g, root, builder.take());
}

std::optional<Patch> simpler_form(const Graph& g, const Uses& uses, NodeId root) { return form_of(g, uses, root, FormKind::simpler); }
std::optional<Patch> last_form(const Graph& g, const Uses& uses, NodeId root) { return form_of(g, uses, root, FormKind::last); }
std::optional<Patch> in_parts(const Graph& g, const Uses& uses, NodeId root) { return form_of(g, uses, root, FormKind::parts); }

// A rule is a plain function: one for each kind of target.
static constexpr size_t kFormTargets = 24;
static constexpr FormTarget form_target(size_t k) {
  return {static_cast<Isa>(k / 8), (k / 4) % 2 == 1, static_cast<CmsisNn>((k / 2) % 2), k % 2 == 1};
}
template <size_t k>
static std::optional<Patch> kernel_form_on(const Graph& g, const Uses& uses, NodeId root) {
  return form_of(g, uses, root, FormKind::kernel, form_target(k));
}
template <size_t... k>
static Rule kernel_form_of(size_t target, std::index_sequence<k...>) {
  static constexpr Rule kRules[] = {kernel_form_on<k>...};
  return kRules[target];
}
Rule kernel_form(const FormTarget& target) {
  size_t k = 0;
  while (k < kFormTargets && form_target(k) != target) ++k;
  DEUTERON_CHECK(k < kFormTargets, std::to_string(k));
  return kernel_form_of(k, std::make_index_sequence<kFormTargets>());
}

}  // namespace deuteron
