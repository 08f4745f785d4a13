// SPDX-License-Identifier: Apache-2.0
// Words of the command line that an image of a test gets on a board.
#pragma once
#include <cstdint>

namespace deuteron {

// The next word of a text, ended by a zero.
inline char* take_word(char*& text) {
  while (*text == ' ') ++text;
  char* word = text;
  while (*text != ' ' && *text != 0) ++text;
  if (*text == ' ') *text++ = 0;
  return word;
}

inline uint32_t number_of(const char* digits) {
  uint32_t n = 0;
  for (; *digits >= '0' && *digits <= '9'; ++digits)
    n = n * 10 + static_cast<uint32_t>(*digits - '0');
  return n;
}

}  // namespace deuteron
