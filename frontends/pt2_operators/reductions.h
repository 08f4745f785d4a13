// Parts of operators that reduce over axes.
#pragma once
#include "frontends/pt2_call/call.h"

namespace deuteron::pt2 {

// Reduce::kMean, .. over `axes`, which keep extent 1.
ValueId reduced(Call& c, i64 fn, ValueId x, Axes axes, std::string_view suffix);

// A reduction is computed in float32 only.
void check_dtype(Call& c);

// (x - mean(x))^2, and x - mean(x)
ValueId deviation_squared(Call& c, ValueId x, const Axes& axes, ValueId* deviation);

}  // namespace deuteron::pt2
