// SPDX-License-Identifier: Apache-2.0
// Where a chip has memory.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "targets/chips.h"

namespace deuteron {

// What a chip has, or what the user says that it has.
struct ChipMemory {
  using Piece = ChipRegion;
  std::vector<Piece> ram, flash;  // the runner lies in the first of either
  uint32_t clock_hz = 0;          // after reset; 0: not known
  std::string chip, core;         // "stm32f446re", "cortex-m4"; "": no chip was named
};

// "ram=0x20000000+128K,flash=0x08000000+512K", several of a kind are allowed; or a chip of
// boards/chips.txt. nullopt, with what is wrong.
std::optional<ChipMemory> parse_memory(std::string_view text, std::string& problem);

}  // namespace deuteron
