// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/changed_buffers.h"

namespace deuteron::pt2 {

const std::string* changed_operand(const ProgramNode& node) {
  for (const auto& [name, argument] : node.arguments)
    if (argument.kind == Argument::Kind::tensor) return &argument.text;
  return nullptr;
}

ByName<ChangedBuffer> find_changed_buffers(const Program& program) {
  using K = ProgramInput::Kind;
  ByName<ChangedBuffer> changed;
  for (const ProgramOutput& out : program.outputs)
    for (const ProgramInput& in : program.inputs)
      if (out.kind == ProgramOutput::Kind::buffer_mutation && in.key == out.key &&
          in.kind != K::user)
        changed[in.name].output = out.name;
  return changed;
}

}  // namespace deuteron::pt2
