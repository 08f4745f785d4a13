// SPDX-License-Identifier: Apache-2.0
// What the runner and the counter want of an emulated Cortex-M beside its memories: calls to the
// host, the time to the instruction, and what only assembly can do.
#pragma once
#include <cstdint>

namespace deuteron {

// Semihosting (runtime/ports/semihosting.h).
inline int32_t call_host(uint32_t number, const void* block) {
  register uint32_t r0 asm("r0") = number;
  register const void* r1 asm("r1") = block;
  asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return static_cast<int32_t>(r0);
}

// One instruction (boards/cycles/marks.h).
template <int kCode>
inline void mark() {
  asm volatile(".inst.n %c0" ::"i"(kCode) : "memory");
}

[[gnu::naked, gnu::noinline]] inline void do_nothing(void*) { asm volatile("bx lr"); }

// r0: turns, at least 1; 2 * turns + 1 instructions
[[gnu::naked, gnu::noinline]] inline void loop_of_two(void*) {
  asm volatile(
      "1: subs r0, #1\n"
      "bne 1b\n"
      "bx lr\n");
}

inline void execute_nothing_defined() { asm volatile("udf #0"); }

// The board's counter, read often enough to know where in a tick it was; and a second one, which
// tells how often the first has gone round (every 2^32 ticks).
struct Stamp {
  uint32_t ticks[64];
  uint32_t hundredths;  // of a second
};

}  // namespace deuteron
