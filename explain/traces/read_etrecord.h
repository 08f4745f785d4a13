// SPDX-License-Identifier: Apache-2.0
// Reads ETRecord files: what a program was made from. Ours carry the whole program map; of a stock
// record the names of nodes, their operators and modules are used, by debug handle.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "explain/traces/source_map.h"

namespace deuteron {

// What is wrong with the file is an error. `name` is for messages.
std::optional<SourceMap> read_etrecord(std::span<const std::byte> bytes, const std::string& name,
                                       Diagnostics& diagnostics);
std::optional<SourceMap> read_etrecord(const std::string& path, Diagnostics& diagnostics);

// Whether a zip file calls itself a record.
bool is_etrecord(std::span<const std::byte> bytes);

}  // namespace deuteron
