// SPDX-License-Identifier: Apache-2.0
// Runs a compiled program on an emulated bare-metal board (QEMU) with the board runner that is
// carried inside this program. Exact instruction counts; always ends within a limit; leaves nothing
// behind. Thread-safe; several may run at once.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "runtime/ports/job.h"

namespace deuteron {

// A load that leaves the line of the one before it takes so many cycles. What the processor has
// never written is constants; `line_bytes` 0: that memory answers at once.
struct LineWait {
  uint32_t cycles = 0, line_bytes = 0;
};
struct MemoryWaits {
  LineWait constants, variables;
};

struct EmulateOptions {
  // wall clock for the whole run; 0: from the estimated work, anew for each sample
  double timeout_seconds = 0;
  // count each call by itself; `steps` is filled and `instructions` are the sums
  bool by_step = false;
  // by_step, and `blocks` is filled: for boards/cycles/estimate_cycles.h
  bool count_blocks = false;
  // Memories that answer late, by the plugin: their cycles are added to `steps` and `instructions`.
  std::optional<MemoryWaits> waits = {};  // with count_blocks
  std::string qemu = {};                  // another emulator; empty: that of the board's cores
  uint32_t profile_events = 0;            // room for so many events of a profile; 0: no profile
  JobClock clock = JobClock::board;
  uint32_t clock_argument = 0;
  // another runner for the board; empty: the one inside this program
  std::span<const uint8_t> image = {};
};

struct StepCount {
  std::string op;  // "cortex_m::quantized_add"
  uint64_t instructions = 0;
};

struct EmulatedRun {
  bool ok = false;
  Diagnostic error;  // when not ok
  std::vector<std::vector<std::vector<uint8_t>>>
      outputs;  // [sample][output]: bytes in storage order
  std::vector<uint64_t>
      instructions;  // [sample]: of Program::run alone, less those that play the NPU
  std::vector<uint64_t> npu_instructions;  // [sample]: of the simulation of the NPU; 0 without one
  std::vector<std::vector<StepCount>> steps;     // [sample][call], by_step only
  uint64_t load_instructions = 0;                // of Program::load
  uint64_t planned_bytes = 0, tables_bytes = 0;  // on the board
  uint64_t stack_used_bytes = 0, stack_bytes = 0;
  std::vector<uint8_t> profile;  // an ETDump
  std::vector<uint8_t> blocks;   // what boards/cycles/block_counts.c wrote
  uint64_t profile_events = 0, profile_dropped = 0;
  double seconds = 0;  // wall clock
};

using Sample = std::vector<std::vector<uint8_t>>;  // [input]: bytes in the program's storage order

EmulatedRun run_emulated(std::string_view board, std::span<const uint8_t> program,
                         std::span<const Sample> samples, const EmulateOptions& options = {});

// The runner's self-tests: any kind of job, its argument, and for `echo` the bytes that come back
// as outputs[0][0].
EmulatedRun run_board_self_test(std::string_view board, JobKind kind, uint32_t argument,
                                std::span<const uint8_t> bytes, const EmulateOptions& options = {});

}  // namespace deuteron
