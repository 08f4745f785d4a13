// SPDX-License-Identifier: Apache-2.0
// A part of a life: what the packer and the plan have in common.
#pragma once
#include <cstdint>

namespace deuteron {

// Some bytes of an item, alive for a part of its life only.
struct PackPiece {
  int64_t begin = 0, end = 0;   // bytes of the item, begin < end
  int32_t first = 0, last = 0;  // alive in first..last, both included
};

}  // namespace deuteron
