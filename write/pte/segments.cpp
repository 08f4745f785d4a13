// SPDX-License-Identifier: Apache-2.0
#include "write/pte/segments.h"

#include <cstring>

namespace deuteron {

static void put(std::vector<uint8_t>& out, size_t at, uint64_t value, size_t bytes) {
  for (size_t k = 0; k < bytes; ++k) out[at + k] = static_cast<uint8_t>(value >> (8 * k));
}

size_t make_room(std::vector<uint8_t>& file, size_t segment_bytes) {
  uint32_t root;
  std::memcpy(&root, file.data(), sizeof root);
  file.insert(file.begin() + kPrefixBytes, kHeaderBytes, 0);
  const size_t base = aligned_segment(file.size());
  put(file, 0, root + kHeaderBytes, 4);
  std::memcpy(file.data() + kPrefixBytes, kHeaderMagic, 4);
  put(file, 12, kHeaderBytes, 4);
  put(file, 16, file.size(), 8);
  put(file, 24, base, 8);
  put(file, 32, segment_bytes, 8);
  file.resize(base + segment_bytes);
  return base;
}

}  // namespace deuteron
