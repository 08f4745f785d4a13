// SPDX-License-Identifier: Apache-2.0
// A piece of a board's address space.
#pragma once
#include <cstdint>

namespace deuteron {

struct Region {
  uintptr_t base;
  uint32_t bytes;
};

}  // namespace deuteron
