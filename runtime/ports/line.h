// SPDX-License-Identifier: Apache-2.0
// Text for the board's console, collected to a line; a line is written whole.
#pragma once
#include <cstddef>
#include <cstdint>

namespace deuteron {

class Line {
 public:
  explicit Line(const char* word) { text(word); }
  Line& text(const char*);
  Line& number(uint64_t);
  Line& signed_number(int64_t v) {
    return v < 0 ? text("-").number(0 - static_cast<uint64_t>(v))
                 : number(static_cast<uint64_t>(v));
  }
  Line& hex(uint32_t);
  void print();

 private:
  void put(char c) {
    if (used_ < sizeof text_ - 2) text_[used_++] = c;
  }
  char text_[320];
  size_t used_ = 0;
};

// The board's own: where the text goes. `text` ends with a line feed and a zero.
void write_console(const char* text);

}  // namespace deuteron
