// SPDX-License-Identifier: Apache-2.0
// --stream AXIS[=FRAMES]: what the user asks for.
#pragma once
#include <optional>
#include <string>

#include "base/tensor/type.h"

namespace deuteron {

struct StreamOption {
  i64 axis = 0;    // of the input, as the user has it
  i64 frames = 0;  // of a step; 0: the fewest that there can be
};
// Nothing: neither `AXIS` nor `AXIS=FRAMES`.
std::optional<StreamOption> parse_stream(const std::string& text);

}  // namespace deuteron
