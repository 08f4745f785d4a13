// SPDX-License-Identifier: Apache-2.0
// Options that were given and do nothing.
#pragma once
#include "base/diagnostic.h"

namespace deuteron {

struct ModelOptions;
struct Target;

// A warning for each option of the NPU that is given for a target without one.
void warn_of_npu_options(const ModelOptions& options, const Target& target,
                         Diagnostics& diagnostics);

}  // namespace deuteron
