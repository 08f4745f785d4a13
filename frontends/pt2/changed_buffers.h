// SPDX-License-Identifier: Apache-2.0
// Which buffers a model writes: they are its state.
#pragma once
#include <string>

#include "frontends/pt2/file/program.h"
#include "ir/graph.h"

namespace deuteron::pt2 {

// A parameter or buffer that the model writes.
struct ChangedBuffer {
  std::string output;  // the name of its new value; empty: what its own name stands for in the end
  Port input{-1, "", {}};
  State state;
};

// By the name of the placeholder: those whose new values a decomposed model names among its
// outputs. What operators in place write shows while they are imported (pt2/in_place.h).
ByName<ChangedBuffer> find_changed_buffers(const Program& program);

// What an operator in place writes, its first tensor; null: it has none.
const std::string* changed_operand(const ProgramNode& node);

}  // namespace deuteron::pt2
