// SPDX-License-Identifier: Apache-2.0
// `deuteron doctor --try`: the model compiled again with options that may help, each alone, and
// what it came to.
#pragma once
#include <vector>

#include "cli/compile_model.h"
#include "cli/run_on_board.h"
#include "explain/doctor/finding.h"
#include "explain/doctor/write.h"
#include "explain/report/accuracy.h"

namespace deuteron {

std::optional<Accuracy> accuracy_of(const CompiledModel& model, int threads);

// --on: what the program takes there, cycles or instructions, on made-up inputs.
std::optional<i64> count_there(const CompiledModel& model, const Where& where,
                               Diagnostics& diagnostics);

// Those that apply to the model and are not given already, in the order of the table; then one for
// each finding that names a limit of RAM. `counted_there`: of the program itself, 0 on the host.
std::vector<Attempt> try_options(const ModelOptions& options, const CompiledModel& model,
                                 const std::optional<Accuracy>& accuracy,
                                 const std::vector<Finding>& findings, const Where& where,
                                 i64 counted_there);

}  // namespace deuteron
