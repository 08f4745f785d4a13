// SPDX-License-Identifier: Apache-2.0
// einsum of real or complex operands.
#pragma once
#include <vector>

#include "frontends/pt2/call/call.h"

namespace deuteron::pt2 {

// Of the call's `equation`. Real where all operands are. Refuses an equation that does not fit its
// operands.
Call::Complex einsum(Call& c, const std::vector<Call::Complex>& operands);

}  // namespace deuteron::pt2
