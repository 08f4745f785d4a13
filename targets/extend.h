// SPDX-License-Identifier: Apache-2.0
// `extends`: a target file takes from others what it does not say itself.
#pragma once
#include <toml++/toml.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

namespace deuteron {

struct Extended {
  toml::table root;                // every node knows its file and line
  std::vector<std::string> bases;  // all that were read, the nearest first
};

// Tables are joined key by key; anything else, lists too, is taken whole from the nearest file that
// has it: the file itself, then what it extends from the last to the first, each with what that
// extends. `format`, `base`, `name`, `description` and `extends` are a file's own. A base is a
// built-in name, or a path relative to the file that names it.
std::optional<Extended> read_extended(std::string_view toml, const std::string& file,
                                      Diagnostics& diagnostics);

std::optional<std::string> read_target_text(const std::string& path, Diagnostics& diagnostics);

}  // namespace deuteron
