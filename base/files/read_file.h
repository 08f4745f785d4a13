// SPDX-License-Identifier: Apache-2.0
// Whole files of the user's, with a diagnostic for everything that can be wrong about one.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"

namespace deuteron {

// A missing file, a folder, something that is not a regular file (a pipe could make us wait for
// ever), an unreadable or an empty file is an error.
bool check_regular_file(const std::string& path, Diagnostics& diagnostics);
std::optional<std::vector<std::byte>> read_file(const std::string& path, Diagnostics& diagnostics);

}  // namespace deuteron
