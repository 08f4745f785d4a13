// SPDX-License-Identifier: Apache-2.0
// Bytes of a weight: shared, read-only, possibly a part of a memory-mapped file that `owner` keeps
// open.
#pragma once
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"

namespace deuteron {

struct Constant {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;  // dense, little-endian, in the storage order of the value's
                                     // shape; aligned for its dtype

  template <class T>
  std::span<const T> as() const {
    DEUTERON_CHECK(bytes.size() % sizeof(T) == 0 &&
                   reinterpret_cast<uintptr_t>(bytes.data()) % alignof(T) == 0);
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  bool operator==(const Constant& o) const {
    return bytes.size() == o.bytes.size() &&
           (bytes.data() == o.bytes.data() ||
            std::memcmp(bytes.data(), o.bytes.data(), bytes.size()) == 0);
  }
};

template <class T>
Constant constant_of(std::vector<T> data) {
  auto owner = std::make_shared<const std::vector<T>>(std::move(data));
  return {owner, std::as_bytes(std::span<const T>(*owner))};
}

}  // namespace deuteron
