// The pass list and its driver.
#pragma once
#include <span>

#include "passes/pass.h"

namespace deuteron {

std::span<const Pass> pipeline();

// Runs the list on context.graph; verifies after every pass; obeys skip, stop, dump and intermediates. False when a pass reported an error
// or was told to stop.
bool run_pipeline(PassContext& context);

}  // namespace deuteron
