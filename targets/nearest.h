// SPDX-License-Identifier: Apache-2.0
// What the user may have meant: the known names nearest to one that is not known.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deuteron {

// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`; capitals
// count as small letters.
size_t edit_distance(std::string_view a, std::string_view b);

// At most `count` of `known`, nearest first, none that is further than a third of its length (at
// least 2); equals by the prefix that they share with `name`, then in the order of `known`.
std::vector<std::string> nearest(std::string_view name, std::span<const std::string> known,
                                 size_t count = 3);

// "did you mean `a` or `b`?", or "known: a, b, c" when nothing is near.
std::string suggestion(std::string_view name, std::span<const std::string> known);
// The same where a name may also be that of a target's file.
std::string target_suggestion(std::string_view name, std::span<const std::string> known);

}  // namespace deuteron
