// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/cut.h"

#include <algorithm>
#include <set>

namespace deuteron::onnx {
namespace {

// A branch or a body also reads values around it.
void add_inputs(const ModelNode& node, std::set<std::string>& names) {
  names.insert(node.inputs.begin(), node.inputs.end());
  for (const Attribute& a : node.attributes)
    if (a.graph) {
      for (const ModelNode& inner : a.graph->nodes) add_inputs(inner, names);
      for (const ModelPort& port : a.graph->outputs) names.insert(port.name);
    }
}

std::vector<std::string> names_of(const std::vector<ModelPort>& ports) {
  std::vector<std::string> names;
  for (const ModelPort& port : ports) names.push_back(port.name);
  return names;
}

// A value in the middle has no shape in the file: float32, of the extents that --input-shape says.
std::vector<ModelPort> ports_of(const std::vector<std::string>& names,
                                const std::vector<ModelPort>& known) {
  std::vector<ModelPort> ports;
  for (const std::string& name : names) {
    const auto port = std::ranges::find(known, name, &ModelPort::name);
    ports.push_back(port != known.end() ? *port : ModelPort{name, Element::f32, false, {}, {}});
  }
  return ports;
}

}  // namespace

bool cut(Model& model, const ModelPart& part, const std::string& name, Diagnostics& diagnostics) {
  if (!part.is_cut()) return true;
  ModelGraph& graph = model.graph;
  std::vector<NamedStep> steps;
  for (const ModelNode& node : graph.nodes) {
    std::set<std::string> inputs;
    add_inputs(node, inputs);
    steps.push_back({node.name, {inputs.begin(), inputs.end()}, node.outputs});
  }
  const auto cut =
      cut_model(steps, names_of(graph.inputs), names_of(graph.outputs), part, name, diagnostics);
  if (!cut) return false;
  std::vector<ModelNode> nodes;
  for (size_t k = 0; k < graph.nodes.size(); ++k)
    if (cut->steps[k]) nodes.push_back(std::move(graph.nodes[k]));
  graph.nodes = std::move(nodes);
  graph.inputs = ports_of(cut->inputs, graph.inputs);
  graph.outputs = ports_of(cut->outputs, graph.outputs);
  return true;
}

}  // namespace deuteron::onnx
