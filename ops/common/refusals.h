// SPDX-License-Identifier: Apache-2.0
// Refusals that many int8 lowerings share; nothing when fine.
#pragma once
#include <optional>

#include "ops/op.h"

namespace deuteron {

std::optional<Refusal> require_int8(const Type& t, const char* operand, const char* rule);
std::optional<Refusal> require_same_quant(const Type& a, const Type& b, const char* rule);

}  // namespace deuteron
