// SPDX-License-Identifier: Apache-2.0
// Text that may come from a file, made fit for a terminal and for a file of text. Diagnostics go
// through it.
#pragma once
#include <string>
#include <string_view>

namespace deuteron {

enum class Lines { escaped, kept };

// Control characters (terminals obey escape sequences), characters that turn the direction of
// writing, and bytes that are not UTF-8 become \x1b and the like. Tabs stay; line ends stay if they
// are kept.
std::string printable(std::string_view text, Lines lines);

}  // namespace deuteron
