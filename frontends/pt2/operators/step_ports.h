// SPDX-License-Identifier: Apache-2.0
// The int8 tensors at the border of a model that is a part of a larger one: what is cut there lies
// between a quantize and its dequantize.
#pragma once
#include <optional>
#include <string>

#include "frontends/pt2/call/import_state.h"
#include "frontends/pt2/file/program.h"

namespace deuteron::pt2 {

struct StepInput {
  Quant quant;
  i32 reader = -1;  // the node that dequantizes it
};

// How the model reads an int8 input; nothing where no dequantize does.
std::optional<StepInput> step_input(const Program& program, const std::string& input);

// A float as steps, and steps as a float: beside the port, which has the model's type
// (Port::steps).
ValueId add_quantize(ImportState& state, ValueId v, const Quant& quant, const std::string& name,
                     Origin origin);
ValueId add_dequantize(ImportState& state, ValueId v, const std::string& name);

}  // namespace deuteron::pt2
