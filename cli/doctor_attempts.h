// SPDX-License-Identifier: Apache-2.0
// `deuteron doctor --try`: the model compiled again with options that may help, each alone, and
// what it came to.
#pragma once
#include <vector>

#include "cli/compile_model.h"
#include "explain/doctor/finding.h"
#include "explain/doctor/write.h"
#include "explain/report/accuracy.h"

namespace deuteron {

std::optional<Accuracy> accuracy_of(const CompiledModel& model, int threads);

// Those that apply to the model and are not given already, in the order of the table; then one for
// each finding that names a limit of RAM.
std::vector<Attempt> try_options(const ModelOptions& options, const CompiledModel& model,
                                 const std::optional<Accuracy>& accuracy,
                                 const std::vector<Finding>& findings);

}  // namespace deuteron
