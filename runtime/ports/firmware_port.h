// SPDX-License-Identifier: Apache-2.0
// What the main program of a firmware project (write/firmware/project/main.cpp) wants of its board:
// boards/*/port.cpp.
#pragma once
#include <cstdint>

#include "runtime/ports/job.h"

namespace deuteron {

// Before anything else: clocks, the console, what the NPU reads in the memory that it reaches.
void start_board();

// What `function(argument)` took. On an emulated board instructions, those that play the NPU apart;
// on a chip cycles of the processor, the time that it waits for the NPU included.
struct RunCost {
  uint64_t own = 0, npu_simulation = 0;
};
extern const char* const kCostUnit;  // "instructions", "cycles"
RunCost cost_of(void (*function)(void*), void* argument);

// The bytes of an output, for a board that has somewhere to put them; false: they could not be
// written.
bool keep_output(const void* data, uint32_t bytes);

// The last words, before main returns.
BoardExit stop_board(BoardExit);

}  // namespace deuteron
