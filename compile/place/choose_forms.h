// SPDX-License-Identifier: Apache-2.0
// Which operators of a float model keep an exact form beside the NPU, though it has one of its own.
#pragma once
#include <string>

#include "compile/compilation.h"
#include "ir/rewrite/patch.h"

namespace deuteron {

// "layer_norm", "silu": how an operator is called in FormDecision.
std::string form_name(const Op& op);

// Passes that take operators apart ask this first.
bool keeps_exact_form(const RuleContext& context, const Node& node);
// One of the functions that are a table on the CPU though the NPU has them.
bool is_table(const FormDecision& forms, const Node& node);

}  // namespace deuteron
