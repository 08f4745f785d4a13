// Numbers as decimal text, for code that has no library to do it.
#pragma once
#include <cstdint>

namespace deuteron {

class Decimal {
 public:
  [[gnu::noinline]] explicit Decimal(uint64_t v) {
    do {
      *--first_ = static_cast<char>('0' + v % 10);
      v /= 10;
    } while (v);
  }
  const char* text() const { return first_; }

 private:
  char room_[21] = {};
  char* first_ = room_ + 20;
};

}  // namespace deuteron
