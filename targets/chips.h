// SPDX-License-Identifier: Apache-2.0
// Chips that people own: the rows of boards/chips.txt.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deuteron {

struct ChipRegion {
  uint32_t base = 0, bytes = 0;
  bool operator==(const ChipRegion&) const = default;
};

struct Chip {
  std::string name;                    // "stm32f446re"
  std::string core;                    // a target: "cortex-m4"
  std::vector<ChipRegion> ram, flash;  // code may run from the first RAM
  uint32_t clock_hz = 0;               // after reset; 0: not known
  struct Waits {                       // at the highest clock; 0: not known
    uint32_t states = 0, clock_hz = 0, line_bytes = 0, cache_bytes = 0;
  } waits, ram_waits;                     // of the flash, of the RAM
  struct Console {                        // of a board with this chip; no name: not known
    std::string name, registers, tx, rx;  // "USART2", "stm32_2", "PA2", "PA3"
    uint32_t base = 0;
  } console;
  std::string source;                  // where the figures are from, as chips.txt says
  std::string ran;                     // "emulated", "never run"
  std::string npu;                     // beside the core, and not used: "Neutron N1-16"
  uint32_t highest_clock_hz() const {  // that the wait states are of; else after reset
    return std::max({waits.clock_hz, ram_waits.clock_hz,
                     waits.clock_hz + ram_waits.clock_hz == 0 ? clock_hz : 0});
  }
};

std::span<const Chip> all_chips();
// In any case of letters, and cut short where it is still one chip's. Null: there is none, or there
// are several.
const Chip* find_chip(std::string_view name);
std::vector<std::string> chips_called(std::string_view beginning);

// "0x20000000+128K,0x10000000+64K"; "-": none.
std::string text_of(std::span<const ChipRegion> regions);
// A target file: its core, its largest RAM for tensors, its flash for constants.
std::string recipe_of(const Chip& chip);

}  // namespace deuteron
