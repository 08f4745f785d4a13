// SPDX-License-Identifier: Apache-2.0
// Sizes as torch.export writes them: SymPy's own notation, "Add(Mul(Integer(2), Symbol('s0',
// integer=True)), Integer(1))".
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor/type.h"

namespace deuteron::pt2 {

using Symbols = std::map<std::string, i64, std::less<>>;

// Nothing when a symbol has no value, a function is not known, or the result is no whole number of
// at most 2^40.
std::optional<i64> size_of(std::string_view expression, const Symbols& symbols);

// Each once, in the order in which they stand there.
std::vector<std::string> symbols_in(std::string_view expression);

}  // namespace deuteron::pt2
