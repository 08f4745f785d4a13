// SPDX-License-Identifier: Apache-2.0
// A recurrent layer in float, which no kernel computes, as what its steps are made of.
#pragma once
#include <optional>
#include <vector>

#include "ops/form.h"

namespace deuteron {

// The results of the layer, in their order. Nothing: it is none, or it has more steps than are
// worth a dozen calls each.
std::optional<std::vector<ValueId>> in_steps(const Op& op, FormBuilder& builder);

}  // namespace deuteron
