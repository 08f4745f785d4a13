// SPDX-License-Identifier: Apache-2.0
// Estimates the cycles of a run on an emulated board: how often each block of instructions ran
// (block_counts.c), times what llvm-mca says that the block takes when it is repeated. An estimate,
// never a measurement: no wait states of memories, no overlap between blocks, a fixed price for
// each branch, and LLVM's model of the core (core_model.h). Needs llvm-objdump-19 and llvm-mca-19
// (Debian: llvm-19).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "boards/cycles/core_model.h"
#include "boards/emulate.h"

namespace deuteron {

struct CycleCount {
  std::string name;  // a call's operator, or a function
  uint64_t instructions = 0;
  double cycles = 0;
};

struct CycleEstimate {
  CycleCount whole;                   // of one run; of several samples the mean
  std::vector<CycleCount> calls;      // in the order of the program
  std::vector<CycleCount> functions;  // the most cycles first
  uint64_t not_priced = 0;  // instructions of blocks that llvm-mca does not take, at one cycle each
};

// `image`: the board's ELF file. `blocks`: what EmulatedRun::blocks has, of so many `samples`.
// `calls`: the operators of the program's calls.
std::optional<CycleEstimate> estimate_cycles(const CoreModel& core, std::span<const uint8_t> image,
                                             std::span<const uint8_t> blocks, uint64_t samples,
                                             const std::vector<std::string>& calls,
                                             Diagnostics& diagnostics);

// Of such a run, whose steps name the calls.
std::optional<CycleEstimate> estimate_cycles(const CoreModel& core, std::span<const uint8_t> image,
                                             const EmulatedRun& run, Diagnostics& diagnostics);

}  // namespace deuteron
