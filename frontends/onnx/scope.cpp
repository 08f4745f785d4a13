// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/scope.h"

namespace deuteron::onnx {

Scope::Scope(const ModelNode& call, const Function& f, std::string prefix)
    : is_model_(false), is_function_(true), prefix_(std::move(prefix)) {
  for (size_t k = 0; k < f.inputs.size(); ++k)
    names_[f.inputs[k]] = k < call.inputs.size() ? call.inputs[k] : "";
  for (const Attribute& a : f.defaults) attributes_[a.name] = a;
  for (const Attribute& a : call.attributes) attributes_[a.name] = a;
}

// Attributes of a function around it keep their meaning.
Scope::Scope(const Scope& outer, const ModelGraph& branch, std::string prefix)
    : is_model_(false),
      is_function_(outer.is_function_),
      prefix_(std::move(prefix)),
      names_(outer.names_),
      attributes_(outer.attributes_) {
  const auto own = [&](const std::string& name) {
    if (!name.empty()) names_[name] = prefix_ + "/" + name;
  };
  for (const ModelPort& p : branch.inputs) own(p.name);
  for (const ModelTensor& t : branch.initializers) own(t.name);
  for (const ModelNode& node : branch.nodes)
    for (const std::string& output : node.outputs) own(output);
  if (is_function_) prefix_ = outer.prefix_;
}

std::string Scope::name(const std::string& inner) const {
  if (is_model_ || inner.empty()) return inner;
  const auto it = names_.find(inner);
  if (it != names_.end()) return it->second;
  return is_function_ ? prefix_ + "/" + inner : inner;
}

ModelNode Scope::renamed(const ModelNode& node) const {
  ModelNode result = node;
  if (is_model_) return result;
  for (std::string& input : result.inputs) input = name(input);
  for (std::string& output : result.outputs) output = name(output);
  std::vector<Attribute> attributes;
  for (Attribute& a : result.attributes) {
    if (a.reference.empty()) {
      attributes.push_back(std::move(a));
      continue;
    }
    const auto it = attributes_.find(a.reference);
    if (it == attributes_.end()) continue;  // left out by the call: it has its default
    attributes.push_back(it->second);
    attributes.back().name = a.name;
  }
  result.attributes = std::move(attributes);
  return result;
}

}  // namespace deuteron::onnx
