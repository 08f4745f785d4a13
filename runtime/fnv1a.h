// SPDX-License-Identifier: Apache-2.0
// FNV-1a, 64 bits: what names a program in its profile and record, and compares outputs of a board
// with the host's.
#pragma once
#include <cstddef>
#include <cstdint>

namespace deuteron {

inline uint64_t fnv1a(const void* data, size_t bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < bytes; ++i)
    hash = (hash ^ static_cast<const uint8_t*>(data)[i]) * 0x100000001b3u;
  return hash;
}

}  // namespace deuteron
