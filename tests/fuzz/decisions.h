// SPDX-License-Identifier: Apache-2.0
// The fuzzer's bytes as a row of decisions; zeros behind their end.
#pragma once
#include <cstdint>
#include <iterator>
#include <vector>

#include "base/tensor/type.h"

namespace deuteron::test {

class Decisions {
 public:
  Decisions(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}
  uint8_t byte() { return at_ == end_ ? 0 : *at_++; }
  i64 below(i64 n) { return n <= 1 ? 0 : (n > 256 ? byte() * 256 + byte() : byte()) % n; }
  template <class T>
  const T& one_of(const std::vector<T>& from) {
    return from[static_cast<size_t>(below(static_cast<i64>(from.size())))];
  }
  bool maybe() { return byte() & 1; }
  // Finite, often round, sometimes huge or tiny.
  float number() {
    static constexpr float kOdd[] = {0,     -0.0f,  1,   -1,  0.5f,   1e-30f, -1e-45f,
                                     1e30f, -3e38f, 127, 128, 255.5f, 1e-5f,  2147483648.0f};
    const uint8_t b = byte();
    if (b < 2 * std::size(kOdd)) return kOdd[b / 2];
    return (static_cast<float>(b) - 140.0f) / 32.0f;
  }
  bool at_end() const { return at_ == end_; }

 private:
  const uint8_t *at_, *end_;
};

}  // namespace deuteron::test
