// SPDX-License-Identifier: Apache-2.0
// The pass list and its driver.
#pragma once
#include <span>
#include <string_view>

#include "compile/pass.h"

namespace deuteron {

std::span<const Pass> pipeline();

// Runs the list on context.graph from one pass to another, both of them included; an empty name:
// from the first, to the last. Verifies after every pass; obeys skip, stop, dump and intermediates.
// False when a pass reported an error or was told to stop.
bool run_passes(PassContext& context, std::string_view from = {}, std::string_view to = {});

}  // namespace deuteron
