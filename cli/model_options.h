// SPDX-License-Identifier: Apache-2.0
// Numbers in the texts of a model's options (ModelOptions); the options themselves are declared in cli/compile_model.h.
#pragma once
#include <optional>
#include <string_view>

namespace deuteron {

// From 0 to 9999, without an exponent: "27.5"; nothing for another text.
std::optional<double> read_number(std::string_view text);
// The same before a %, as a share: "10%" is 0.1.
std::optional<double> read_percent(std::string_view text);

}  // namespace deuteron
