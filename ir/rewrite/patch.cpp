// SPDX-License-Identifier: Apache-2.0
// Patches are written here; ir/rewrite/rewrite.cpp applies them.
#include "ir/rewrite/patch.h"

#include <fmt/format.h>

#include "base/check.h"
#include "ops/form.h"

namespace deuteron {

PatchBuilder::PatchBuilder(const Graph& graph, NodeId root, std::string reason)
    : graph_(graph), root_(root) {
  patch_.reason = std::move(reason);
}

const Type& PatchBuilder::type(ValueId v) const {
  const auto old_values = static_cast<ValueId>(graph_.values.size());
  return v < old_values ? graph_.type(v) : patch_.values[v - old_values].type;
}

ValueId PatchBuilder::constant(Type type, Constant data, std::string name) {
  DEUTERON_CHECK(type.bytes() == static_cast<i64>(data.bytes.size()),
                 fmt::format("{} with {} bytes", to_text(type), data.bytes.size()));
  patch_.values.push_back({std::move(name), std::move(type), std::move(data)});
  return static_cast<ValueId>(graph_.values.size() + patch_.values.size()) - 1;
}

ValueId PatchBuilder::add(Op op, std::vector<ValueId> inputs, Quant quant, std::string name) {
  std::vector<const Type*> types;
  for (const ValueId v : inputs) types.push_back(&type(v));
  Type result = result_type(op, TypeView(types), std::move(quant));
  return add_typed(std::move(op), std::move(inputs), std::move(result), std::move(name));
}

ValueId PatchBuilder::add_results(Op op, std::vector<ValueId> inputs,
                                  const std::vector<Quant>& quants,
                                  const std::vector<std::string>& names) {
  std::vector<const Type*> types;
  for (const ValueId v : inputs) types.push_back(&type(v));
  Result<std::vector<Type>> inferred = infer(op, TypeView(types));
  DEUTERON_CHECK(inferred && inferred->size() == quants.size() && quants.size() == names.size(),
                 fmt::format("{}: {} {} {}", name_of(op), inferred.why.what, inferred.why.measured,
                             inferred.why.limit));
  std::vector<ValueId> results;
  for (size_t k = 0; k < quants.size(); ++k) {
    (*inferred.value)[k].quant = quants[k];
    patch_.values.push_back({names[k], std::move((*inferred.value)[k]), std::nullopt});
    results.push_back(static_cast<ValueId>(graph_.values.size() + patch_.values.size()) - 1);
  }
  const ValueId first = results[0];
  patch_.nodes.push_back({std::move(op), std::move(inputs), std::move(results), {}});
  return first;
}

ValueId PatchBuilder::add_typed(Op op, std::vector<ValueId> inputs, Type type, std::string name) {
  patch_.values.push_back({std::move(name), std::move(type), std::nullopt});
  const auto result = static_cast<ValueId>(graph_.values.size() + patch_.values.size()) - 1;
  patch_.nodes.push_back({std::move(op), std::move(inputs), {result}, {}});
  return result;
}

PatchBuilder& PatchBuilder::replace(ValueId old_value, ValueId new_value) {
  patch_.replace.emplace_back(old_value, new_value);
  return *this;
}

Patch PatchBuilder::replace_root(ValueId new_value) {
  return replace(graph_.nodes[root_].outputs[0], new_value).done();
}

Patch PatchBuilder::replace_root(Op op, std::vector<ValueId> inputs) {
  const ValueId old_value = graph_.nodes[root_].outputs[0];
  return replace_root(add(std::move(op), std::move(inputs), graph_.type(old_value).quant));
}

}  // namespace deuteron
