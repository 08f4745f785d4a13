// SPDX-License-Identifier: Apache-2.0
// The program from its JSON: which member becomes which field, each checked for kind and size.
#pragma once
#include <optional>
#include <string>

#include "frontends/pt2/file/json_tape.h"
#include "frontends/pt2/file/program.h"

namespace deuteron::pt2 {

// Empty: the first fault is in `diagnostics`, with its path in the document `where`. Weights and
// constants are documents of their own.
std::optional<Program> program_of_json(const Json& top, std::string where,
                                       Diagnostics& diagnostics);

// `folder`: of the archive, in which the weights' bytes lie.
std::optional<ByName<WeightEntry>> weights_of_json(const Json& top, const std::string& folder,
                                                   std::string where, Diagnostics& diagnostics);

}  // namespace deuteron::pt2
