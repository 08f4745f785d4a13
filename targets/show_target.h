// SPDX-License-Identifier: Apache-2.0
// A target in full, with all that it extends: as a file that reads back to the same target, and as
// JSON.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "targets/target.h"

namespace deuteron {

// `stages`: the names of the compiler's passes, which are the same for every recipe.
std::string target_as_toml(const Target& target, const std::vector<std::string>& stages);
nlohmann::ordered_json target_as_json(const Target& target, const std::vector<std::string>& stages);

}  // namespace deuteron
