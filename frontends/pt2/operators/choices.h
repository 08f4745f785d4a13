// SPDX-License-Identifier: Apache-2.0
// Choosing between values by a mask that is computed.
#pragma once
#include "frontends/pt2/call/call.h"

namespace deuteron::pt2 {

// `yes` where the mask holds, else `no`, by a call of the portable kernel; all broadcast to the
// result. Constants far below zero are minus infinity.
ValueId chosen_by_kernel(Call& c, ValueId mask, ValueId yes, ValueId no, const Type& result);

}  // namespace deuteron::pt2
