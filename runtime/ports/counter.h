// SPDX-License-Identifier: Apache-2.0
// Counts instructions exactly. Needs QEMU's `-icount shift=0`.
#pragma once
#include <cstdint>

#include "runtime/ports/board.h"

namespace deuteron {

// The time, to the instruction, and what lies between two. Reading one takes always as long.
void read_stamp(Stamp* stamp);
uint64_t between(const Stamp& a, const Stamp& b);

// Instructions that `function(argument)` executes, its return included, the call not. Up to 2^64.
uint64_t count_instructions(void (*function)(void*), void* argument);

// Parts of what is counted, each by itself: inside a function that count_instructions() runs,
// count_part() runs a function and keeps two stamps, which are looked at afterwards. `memory`: room
// for them, kPartBytes for each call; further calls are not told apart.
inline constexpr uint32_t kPartBytes = 2 * sizeof(Stamp);
void use_parts(void* memory, uint32_t bytes);
void count_part(void (*function)(void*), void* argument);

// Since the last time: what the parts took, and what keeping them apart took, which is in the outer
// count too.
struct Parts {
  uint64_t instructions = 0, overhead = 0;
};
Parts take_parts();

}  // namespace deuteron
