// SPDX-License-Identifier: Apache-2.0
// Numbers as decimal text, for code that has no library to do it.
#pragma once
#include <cstdint>

namespace deuteron {

class Decimal {
 public:
  explicit Decimal(uint64_t v);
  const char* text() const { return first_; }

 private:
  char room_[21] = {};
  char* first_ = room_ + 20;
};

}  // namespace deuteron
