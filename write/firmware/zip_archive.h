// SPDX-License-Identifier: Apache-2.0
// Files as one zip, the same bytes wherever and whenever it is made: sorted names, one date,
// nothing compressed (what zlib makes of the same bytes depends on its version).
#pragma once
#include <map>
#include <optional>
#include <string>

namespace deuteron {

// Path in the archive, and content. Null: more than such an archive can hold, 65534 files or 4 GB.
std::optional<std::string> zip_archive(const std::map<std::string, std::string>& files);

}  // namespace deuteron
