// SPDX-License-Identifier: Apache-2.0
#include "ir/rewrite/forms.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "ir/rewrite/borders.h"
#include "ops/common/recurrent_steps.h"
#include "ops/form.h"

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

// `results`: of the form, for those of the operator; -1: nobody reads it.
static Patch patch_of(const Graph& g, NodeId root, Form form, std::span<const ValueId> results) {
  const std::vector<ValueId>& operands = g.nodes[root].inputs;
  const auto id = [&](ValueId v) {
    const auto k = static_cast<size_t>(v);
    return k < operands.size() ? operands[k]
                               : static_cast<ValueId>(g.values.size() + k - operands.size());
  };
  Patch patch;
  for (Form::Value& value : form.values)
    patch.values.push_back(
        {std::move(value.name), std::move(value.type), std::move(value.constant)});
  for (Form::Step& step : form.steps) {
    for (ValueId& v : step.inputs) v = id(v);
    patch.nodes.push_back({std::move(step.op), std::move(step.inputs), {id(step.output)}, {}});
  }
  for (size_t k = 0; k < results.size(); ++k)
    if (results[k] >= 0) patch.replace.emplace_back(g.nodes[root].outputs[k], id(results[k]));
  patch.reason = std::move(form.reason);
  return patch;
}

std::optional<Patch> form_of(const Graph& g, const Uses& uses, NodeId root, FormKind kind,
                             const FormTarget& target) {
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
  Form form = builder.take();
  const ValueId result = form.result;
  return patch_of(g, root, std::move(form), {&result, 1});
}

// Leaves out what no result needs.
static void keep_read(Form& form, std::span<ValueId> results, size_t operands) {
  std::vector<bool> read(operands + form.values.size());
  for (const ValueId v : results)
    if (v >= 0) read[static_cast<size_t>(v)] = true;
  std::vector<Form::Step> steps;
  for (auto step = form.steps.rbegin(); step != form.steps.rend(); ++step) {
    if (!read[static_cast<size_t>(step->output)]) continue;
    for (const ValueId v : step->inputs) read[static_cast<size_t>(v)] = true;
    steps.push_back(std::move(*step));
  }
  std::ranges::reverse(steps);
  form.steps = std::move(steps);
  std::vector<ValueId> ids(read.size());
  std::vector<Form::Value> values;
  for (size_t k = 0; k < read.size(); ++k) {
    ids[k] = static_cast<ValueId>(k < operands ? k : operands + values.size());
    if (k >= operands && read[k]) values.push_back(std::move(form.values[k - operands]));
  }
  form.values = std::move(values);
  const auto renumber = [&](ValueId& v) { v = v < 0 ? v : ids[static_cast<size_t>(v)]; };
  std::ranges::for_each(results, renumber);
  for (Form::Step& step : form.steps)
    std::ranges::for_each(step.inputs, renumber), renumber(step.output);
}

std::optional<Patch> recurrent_in_steps(const Graph& g, const Uses& uses, NodeId root) {
  const Node& node = g.nodes[root];
  std::vector<FormOperand> operands;
  for (const ValueId v : node.inputs) operands.push_back(operand_of(g, uses, v));
  FormSite site;
  site.operands = operands;
  site.result = &g.type(node.outputs[0]);
  site.name = &g.values[node.outputs[0]].name;
  FormBuilder builder(site);
  std::optional<std::vector<ValueId>> results = in_steps(node.op, builder);
  if (!results) return std::nullopt;
  for (size_t k = 0; k < results->size(); ++k)
    if (const ValueId v = node.outputs[k]; uses.readers[v].empty() && uses.output_uses[v] == 0)
      (*results)[k] = -1;
  Form form = builder.take();
  keep_read(form, *results, operands.size());
  return patch_of(g, root, std::move(form), *results);
}

std::optional<Patch> simpler_form(const Graph& g, const Uses& uses, NodeId root) {
  return form_of(g, uses, root, FormKind::simpler);
}
std::optional<Patch> last_form(const Graph& g, const Uses& uses, NodeId root) {
  return form_of(g, uses, root, FormKind::last);
}
std::optional<Patch> in_parts(const Graph& g, const Uses& uses, NodeId root) {
  return form_of(g, uses, root, FormKind::parts);
}

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
