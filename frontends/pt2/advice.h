// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace deuteron::pt2 {

// What a user can do about an operator that has no import. What is said was tried:
// frontends/pt2/make_decomposable.py.
std::string advice_for(std::string_view target);

}  // namespace deuteron::pt2
