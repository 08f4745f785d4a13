// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/cut.h"

#include <algorithm>

namespace deuteron::pt2 {
namespace {

bool works_in_place(const std::string& target) {  // "aten.add_.Tensor"
  const size_t last = target.rfind('.');
  return last != std::string::npos && last > 0 && target[last - 1] == '_';
}

NamedStep step_of(const ProgramNode& node) {
  NamedStep step{node.name, {}, node.outputs, works_in_place(node.target)};
  for (const auto& [name, a] : node.arguments) {
    if (a.kind == Argument::Kind::tensor) step.inputs.push_back(a.text);
    step.inputs.insert(step.inputs.end(), a.names.begin(), a.names.end());
  }
  for (const auto* more : {&node.sizes, &node.numbers})
    step.outputs.insert(step.outputs.end(), more->begin(), more->end());
  return step;
}

}  // namespace

bool cut(Program& program, const ModelPart& part, const std::string& name,
         Diagnostics& diagnostics) {
  if (!part.is_cut()) return true;
  std::vector<NamedStep> steps;
  for (const ProgramNode& node : program.nodes) steps.push_back(step_of(node));
  std::vector<std::string> inputs, outputs;
  for (const ProgramInput& in : program.inputs)
    if (in.kind == ProgramInput::Kind::user) inputs.push_back(in.name);
  for (const ProgramOutput& out : program.outputs)
    if (out.kind == ProgramOutput::Kind::tensor) outputs.push_back(out.name);
  // Buffers that live from call to call are changed whatever the outputs are.
  steps.push_back({"", {}, {}, true});
  for (const ProgramOutput& out : program.outputs)
    if (out.kind == ProgramOutput::Kind::buffer_mutation) steps.back().inputs.push_back(out.name);
  const auto cut = cut_model(steps, inputs, outputs, part, name, diagnostics);
  if (!cut) return false;
  std::vector<ProgramNode> nodes;
  for (size_t k = 0; k < program.nodes.size(); ++k)
    if (cut->steps[k]) nodes.push_back(std::move(program.nodes[k]));
  program.nodes = std::move(nodes);
  std::vector<ProgramInput> users;
  for (const std::string& value : cut->inputs)
    users.push_back({ProgramInput::Kind::user, value, value});
  std::erase_if(program.inputs,
                [](const ProgramInput& in) { return in.kind == ProgramInput::Kind::user; });
  program.inputs.insert(program.inputs.end(), users.begin(), users.end());
  std::erase_if(program.outputs, [](const ProgramOutput& out) {
    return out.kind != ProgramOutput::Kind::buffer_mutation;
  });
  for (const std::string& value : cut->outputs)
    program.outputs.push_back({ProgramOutput::Kind::tensor, value, ""});
  return true;
}

}  // namespace deuteron::pt2
