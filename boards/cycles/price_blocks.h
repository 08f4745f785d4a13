// SPDX-License-Identifier: Apache-2.0
// Cycles of one turn of each block of an image, by llvm-mca.
#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "boards/cycles/core_model.h"

namespace deuteron {

struct CodeBlock {
  uint32_t address = 0, instructions = 0;
  auto operator<=>(const CodeBlock&) const = default;
};

struct BlockPrice {
  double cycles = 0;
  bool is_priced = true;  // false: llvm-mca does not take it; one cycle for each instruction
};

// For each block, in order. `image`: an ELF file.
std::optional<std::vector<BlockPrice>> price_blocks(const CoreModel& core,
                                                    std::span<const uint8_t> image,
                                                    std::span<const CodeBlock> blocks,
                                                    Diagnostics& diagnostics);

// One line of a disassembly: what llvm-mca does not know of it, and whether it stays among what
// llvm-mca prices.
struct InstructionPrice {
  double extra = 0;
  bool is_for_mca = true;
};
InstructionPrice price_outside_mca(const CoreModel& core, const std::string& instruction);

}  // namespace deuteron
