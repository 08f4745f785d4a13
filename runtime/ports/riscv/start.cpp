// SPDX-License-Identifier: Apache-2.0
// From reset to main: clear .bss, paint the stack, switch to it, and say what happened on a fault,
// in machine mode. Handlers have a stack of their own, so an overflow of main's can still be
// reported. Registers: RISC-V Privileged Architecture 20211203, 3.1 and 3.7.
#include <cstdint>

#include "runtime/ports/board.h"
#include "runtime/ports/semihosting.h"
#include "runtime/ports/stack.h"

extern "C" {
extern uint32_t stack_guard, stack_limit, stack_top, handler_stack_top;
int main();
void reset();
void prepare();
void fault();
[[noreturn]] void prepare_and_run();
[[noreturn]] void fault_report(uint32_t sp, uint32_t ra);
}

namespace deuteron {
namespace {

uint32_t address_of(const uint32_t& symbol) { return reinterpret_cast<uint32_t>(&symbol); }

// Of the address register of physical memory protection: `bytes` is a power of two and divides
// `from`.
constexpr uint32_t power_of_two(uint32_t from, uint32_t bytes) {
  return from >> 2 | ((bytes >> 3) - 1);
}

const char* name_of_cause(uint32_t cause) {
  constexpr const char* kNames[] = {
      "InstructionMisaligned", "InstructionAccessFault", "IllegalInstruction", "Breakpoint",
      "LoadMisaligned",        "LoadAccessFault",        "StoreMisaligned",    "StoreAccessFault"};
  return cause < sizeof kNames / sizeof kNames[0] ? kNames[cause] : "Trap";
}

// The guard below the stack is closed, and code is not written to. What no memory has faults
// anyway.
void protect_memory() {
  constexpr uint32_t kRead = 1, kExecute = 4, kPowerOfTwo = 3 << 3, kLocked = 1 << 7;  // and for us
  const uint32_t guard_bytes = address_of(stack_limit) - address_of(stack_guard);
  asm volatile("csrw pmpaddr0, %0" ::"r"(power_of_two(address_of(stack_guard), guard_bytes)));
  asm volatile(
      "csrw pmpaddr1, %0" ::"r"(power_of_two(static_cast<uint32_t>(kCode.base), kCode.bytes)));
  asm volatile("csrw pmpcfg0, %0" ::"r"((kLocked | kPowerOfTwo | kRead | kExecute) << 8 | kLocked |
                                        kPowerOfTwo));
}

}  // namespace

}  // namespace deuteron

using namespace deuteron;

extern "C" {

void prepare_and_run() { end_board(static_cast<BoardExit>(main())); }

void prepare() {
  prepare_memory();
  protect_memory();
}

// The first instructions of the image.
[[gnu::naked, gnu::section(".vectors"), gnu::used]] void reset() {
  asm volatile(
      "la t0, fault\n"
      "csrw mtvec, t0\n"
      "la sp, handler_stack_top\n"
      "csrw mscratch, sp\n"
      "call prepare\n"
      "la sp, stack_top\n"
      "tail prepare_and_run\n");
}

[[gnu::naked, gnu::aligned(4)]] void fault() {
  asm volatile(
      "csrrw sp, mscratch, sp\n"
      "csrr a0, mscratch\n"
      "mv a1, ra\n"
      "tail fault_report\n");
}

void fault_report(uint32_t sp, uint32_t ra) {
  uint32_t cause, pc, address;
  asm volatile("csrr %0, mcause\ncsrr %1, mepc\ncsrr %2, mtval"
               : "=r"(cause), "=r"(pc), "=r"(address));
  const bool overflowed = sp < address_of(stack_limit) || stack_overflowed() ||
                          (address >= address_of(stack_guard) && address < address_of(stack_limit));
  Line("@fault ")
      .text(name_of_cause(cause))
      .text(" pc ")
      .hex(pc)
      .text(" lr ")
      .hex(ra)
      .text(" mcause ")
      .hex(cause)
      .text(" address ")
      .hex(address)
      .text(overflowed ? " stack overflowed" : " stack good")
      .print();
  end_board(BoardExit::fault);
}

}  // extern "C"
