#include "frontends/pt2/changed_buffers.h"

#include "frontends/pt2_operators/import_table.h"

namespace deuteron::pt2 {

const std::string* changed_operand(const ProgramNode& node) {
  for (const auto& [name, argument] : node.arguments)
    if (argument.kind == Argument::Kind::tensor) return &argument.text;
  return nullptr;
}

ByName<ChangedBuffer> find_changed_buffers(const Program& program) {
  using K = ProgramInput::Kind;
  ByName<ChangedBuffer> changed;
  ByName<std::string> buffer;  // by what stands for it: its placeholder, and results of operators in place
  for (const ProgramInput& in : program.inputs)
    if (in.kind == K::buffer || in.kind == K::parameter || in.kind == K::constant) buffer[in.name] = in.name;
  for (const ProgramNode& node : program.nodes) {
    const FoundRow found = find_import(node.target);
    if (!found.row || !found.in_place) continue;
    const std::string* operand = changed_operand(node);
    const auto it = operand ? buffer.find(*operand) : buffer.end();
    if (it == buffer.end()) continue;
    const std::string placeholder = it->second;
    changed.try_emplace(placeholder);
    for (const std::string& output : node.outputs) buffer[output] = placeholder;
  }
  for (const ProgramOutput& out : program.outputs)
    for (const ProgramInput& in : program.inputs)
      if (out.kind == ProgramOutput::Kind::buffer_mutation && in.key == out.key && in.kind != K::user) changed[in.name].output = out.name;
  return changed;
}

}  // namespace deuteron::pt2
