// SPDX-License-Identifier: Apache-2.0
#include "base/printable.h"

#include <fmt/format.h>

#include <cstdint>

namespace deuteron {

// The length of the well-formed UTF-8 sequence at the beginning of `text`, and its code point; 0:
// there is none.
static size_t decode(std::string_view text, uint32_t* point) {
  const auto at = [&](size_t k) { return static_cast<uint8_t>(text[k]); };
  const uint8_t first = at(0);
  const size_t length = first < 0x80                    ? 1
                        : first >= 0xc2 && first < 0xe0 ? 2
                        : first >= 0xe0 && first < 0xf0 ? 3
                        : first >= 0xf0 && first < 0xf5 ? 4
                                                        : 0;
  if (length == 0 || length > text.size()) return 0;
  *point = length == 1 ? first : first & (0x7fu >> length);
  for (size_t k = 1; k < length; ++k) {
    if ((at(k) & 0xc0) != 0x80) return 0;
    *point = *point << 6 | (at(k) & 0x3fu);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = *point >= 0xd800 && *point < 0xe000;
  return *point < kLeast[length] || *point > 0x10ffff || surrogate ? 0 : length;
}

static bool is_harmless(uint32_t point, Lines lines) {
  if (point < ' ') return point == '\t' || (point == '\n' && lines == Lines::kept);
  const bool control = point >= 0x7f && point < 0xa0, line = point == 0x2028 || point == 0x2029;
  const bool turns = (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
  return !control && !line && !turns;
}

std::string printable(std::string_view text, Lines lines) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    uint32_t point = 0;
    const size_t length = decode(text, &point);
    const bool line_end = lines == Lines::kept && text.starts_with("\r\n");
    const bool keep = line_end || (length > 0 && is_harmless(point, lines));
    const size_t taken = length > 0 ? length : 1;
    for (size_t k = 0; k < taken; ++k) {
      if (keep) result += text[k];
      else result += fmt::format("\\x{:02x}", static_cast<uint8_t>(text[k]));
    }
    text.remove_prefix(taken);
  }
  return result;
}

}  // namespace deuteron
