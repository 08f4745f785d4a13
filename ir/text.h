// SPDX-License-Identifier: Apache-2.0
// The text form of a graph: prints and parses; golden tests, --intermediates and reproducers use
// it. Grammar: docs/formats.md.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/diagnostic.h"
#include "ir/graph.h"

namespace deuteron {

struct TextOptions {
  bool all_constants = false;  // false: constants above 64 elements print as `random(seed)`, a
                               // stand-in with the same type
  bool no_weights = false;  // so do floats of more than one element, whatever their number: nobody
                            // learns a model from its text
};
std::string print(const Graph& graph, const TextOptions& options = {});
std::optional<Graph> parse(std::string_view text, const std::string& file_name,
                           Diagnostics& diagnostics);

}  // namespace deuteron
