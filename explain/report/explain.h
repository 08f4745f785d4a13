// SPDX-License-Identifier: Apache-2.0
// Why one operator of the user's model went where it did: `--explain NODE` of compile and analyze.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "explain/report/program_report.h"

namespace deuteron {

// The user's operators that `wanted` names: by node name, module, or index ("41").
std::vector<i32> sources_called(const Graph& graph, const std::string& wanted);
// One that matches nothing is an error, with the nearest names.
void check_explain(const Graph& graph, const std::vector<std::string>& wanted,
                   Diagnostics& diagnostics);

std::string explain_text(const Compilation& compilation, const ProgramReport& program,
                         const std::vector<std::string>& wanted);
nlohmann::ordered_json explain_json(const Compilation& compilation, const ProgramReport& program,
                                    const std::vector<std::string>& wanted);

}  // namespace deuteron
