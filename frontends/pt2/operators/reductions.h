// SPDX-License-Identifier: Apache-2.0
// Parts of operators that reduce over axes.
#pragma once
#include "frontends/pt2/call/call.h"

namespace deuteron::pt2 {

// Reduce::kMean, .. over `axes`, which keep extent 1.
ValueId reduced(Call& c, i64 fn, ValueId x, Axes axes, std::string_view suffix);

// A reduction is computed in float32 only.
void check_dtype(Call& c);

}  // namespace deuteron::pt2
