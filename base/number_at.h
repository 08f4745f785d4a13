// SPDX-License-Identifier: Apache-2.0
// A number of a foreign file, little-endian, at any place.
#pragma once
#include <cstddef>
#include <cstring>
#include <span>

namespace deuteron {

// 0 where it would reach beyond the end.
template <class T, class Byte>
T number_at(std::span<const Byte> bytes, size_t at) {
  static_assert(sizeof(Byte) == 1);
  T value{};
  if (at <= bytes.size() && sizeof value <= bytes.size() - at)
    std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace deuteron
