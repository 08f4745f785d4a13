// SPDX-License-Identifier: Apache-2.0
// What a page draws of a file without a record: a model as it was read, a program by its calls. A
// part of the map that a compilation makes (explain/report/program_map.h), in its keys.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "explain/inspect/pte.h"
#include "ir/graph.h"

namespace deuteron {

nlohmann::json map_of_model(const Graph& imported, const std::string& path);
// With read_call_tensors().
nlohmann::json map_of_program(const PteSummary& program, const std::string& path,
                              const std::string& id);

}  // namespace deuteron
