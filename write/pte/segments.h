// SPDX-License-Identifier: Apache-2.0
// What lies behind the tables of a `.pte`: segments, each at a multiple of what a constant is
// aligned to, and the extended header that names their place.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "write/pte/constants.h"

namespace deuteron {

// Loaders take constants as they lie in the file.
inline constexpr size_t kSegmentAlignment = kConstantAlignment;
inline size_t aligned_segment(size_t bytes) {
  return (bytes + kSegmentAlignment - 1) / kSegmentAlignment * kSegmentAlignment;
}

// Between root offset and identifier, and the tables: magic, its length, then the bytes of tables
// with header, the begin of the segments and their bytes.
inline constexpr size_t kPrefixBytes = 8, kHeaderBytes = 32;
inline constexpr char kHeaderMagic[] = "eh00";
// `file`, the tables, gets the header and room for the segments. The begin of these.
size_t make_room(std::vector<uint8_t>& file, size_t segment_bytes);

}  // namespace deuteron
