// Reads ETRecord files: what a program was made from. Ours carry the whole program map; of a stock record the names of nodes, their
// operators and modules are used, by debug handle.
#pragma once
#include <optional>
#include <string>

#include "inspect/source_map.h"

namespace deuteron {

// `path` is the record; what is wrong with it is an error.
std::optional<SourceMap> read_etrecord(const std::string& path, Diagnostics& diagnostics);

}  // namespace deuteron
