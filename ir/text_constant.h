// SPDX-License-Identifier: Apache-2.0
// What the text form needs to print a name or a constant's bytes and to read them again.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/tensor/constant.h"
#include "base/tensor/type.h"

namespace deuteron {

// A letter or underscore, then letters, digits, underscores and dots; not a word of the grammar.
bool is_plain_name(std::string_view name);
std::string in_quotes(std::string_view text);
std::string name_text(std::string_view name);  // as it is, or quoted

// A stand-in for data of this type, the same on every machine: floats in [-1, 1), s32 and s64 in
// -1000..1000, other integers over their range.
Constant random_constant(const Type& type, uint64_t seed);
uint64_t seed_of(std::string_view name);

std::string base64(std::span<const std::byte> bytes);
std::optional<std::vector<std::byte>> from_base64(std::string_view text);

// Aligned for every dtype.
Constant constant_of_bytes(std::span<const std::byte> bytes);

}  // namespace deuteron
