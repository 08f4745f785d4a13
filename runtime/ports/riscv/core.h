// SPDX-License-Identifier: Apache-2.0
// What the runner and the counter want of an emulated RISC-V core of 32 bits beside its memories:
// calls to the host, the time to the instruction, and what only assembly can do.
#pragma once
#include <cstdint>

namespace deuteron {

// Semihosting (runtime/ports/semihosting.h): three instructions of four bytes, on one page. Source:
// RISC-V International, "RISC-V Semihosting", 0.3.
inline int32_t call_host(uint32_t number, const void* block) {
  register uint32_t a0 asm("a0") = number;
  register const void* a1 asm("a1") = block;
  asm volatile(
      ".option push\n.option norvc\n.balign 16\n"
      "slli zero, zero, 0x1f\n"
      "ebreak\n"
      "srai zero, zero, 7\n"
      ".option pop\n"
      : "+r"(a0)
      : "r"(a1)
      : "memory");
  return static_cast<int32_t>(a0);
}

// No cycles are estimated from blocks: there is no model of such a core (boards/cycles).
template <int kCode>
inline void mark() {}

[[gnu::naked, gnu::noinline]] inline void do_nothing(void*) { asm volatile("ret"); }

// a0: turns, at least 1; 2 * turns + 1 instructions
[[gnu::naked, gnu::noinline]] inline void loop_of_two(void*) {
  asm volatile(
      "1: addi a0, a0, -1\n"
      "bnez a0, 1b\n"
      "ret\n");
}

inline void execute_nothing_defined() { asm volatile("unimp"); }

// The counter of instructions, whose halves are read one after the other.
struct Stamp {
  uint32_t upper_before, lower, upper;
};

}  // namespace deuteron
