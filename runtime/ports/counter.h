// Counts instructions exactly. Needs QEMU's `-icount shift=0`.
// A tick of the board's counter is 40 or 50 instructions. A stamp reads it 64 times, every three instructions: as three has no factor in
// common with the tick, the places where the value changes tell the first read's time to the instruction.
#pragma once
#include <cstdint>

namespace deuteron {

// Instructions that `function(argument)` executes, its return included, the call not. Up to 2^64.
uint64_t count_instructions(void (*function)(void*), void* argument);

}  // namespace deuteron
