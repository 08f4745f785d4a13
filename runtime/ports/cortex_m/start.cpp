// SPDX-License-Identifier: Apache-2.0
// From reset to main: clear .bss, paint the stack, switch to it, and say what happened on a fault.
// Threads use the process stack, handlers the main stack, so an overflow of the first can still be
// reported from the second.
#include <cstdint>

#include "runtime/ports/cortex_m/memory_protection.h"
#include "runtime/ports/semihosting.h"
#include "runtime/ports/stack.h"

extern "C" {
extern uint32_t stack_guard, stack_limit, stack_top, handler_stack_top;
int main();
void reset();
void fault();
void fault_report(const uint32_t* frame, uint32_t exc_return);
void start_on_process_stack();
}

namespace deuteron {
namespace {

volatile uint32_t& at(uintptr_t address) { return *reinterpret_cast<volatile uint32_t*>(address); }

// System control block, Armv7-M and Armv8-M Architecture Reference Manuals.
constexpr uintptr_t kCcr = 0xe000ed14, kShcsr = 0xe000ed24, kCfsr = 0xe000ed28, kHfsr = 0xe000ed2c,
                    kMmfar = 0xe000ed34, kBfar = 0xe000ed38, kCpacr = 0xe000ed88;

const char* name_of_exception(uint32_t number) {
  switch (number) {
    case 2:
      return "NMI";
    case 3:
      return "HardFault";
    case 4:
      return "MemManage";
    case 5:
      return "BusFault";
    case 6:
      return "UsageFault";
    case 7:
      return "SecureFault";
    default:
      return "interrupt";
  }
}

}  // namespace

}  // namespace deuteron

using namespace deuteron;

extern "C" {

[[noreturn]] void prepare_and_run() { end_board(static_cast<BoardExit>(main())); }

[[gnu::naked]] void start_on_process_stack() {
  asm volatile(
      "ldr r0, =stack_top\n"
      "msr psp, r0\n"
#if __ARM_ARCH >= 8
      "ldr r0, =stack_limit\n"
      "msr psplim, r0\n"
#endif
      "mrs r0, control\n"
      "movs r1, #2\n"
      "orrs r0, r1\n"
      "msr control, r0\n"
      "isb\n"
      "bl prepare_and_run\n");
}

void reset() {
#if defined(__ARM_FP)
  at(kCpacr) |= 0xfu << 20;  // floating point and MVE
  asm volatile("dsb\nisb" ::: "memory");
#endif
  at(kShcsr) |= 7u << 16;  // MemManage, BusFault and UsageFault by themselves
  at(kCcr) |= 1u << 4;     // an integer division by zero faults, as on the host
  prepare_memory();
  protect_memory();
  start_on_process_stack();
}

[[gnu::naked]] void fault() {
  asm volatile(
      "mov r1, lr\n"
      "movs r0, #4\n"
      "tst r1, r0\n"
      "mrs r0, msp\n"
      "beq 1f\n"
      "mrs r0, psp\n"
      "1: ldr r2, =handler_stack_top\n"
      "mov sp, r2\n"
      "ldr r2, =fault_report\n"
      "bx r2\n");
}

void fault_report(const uint32_t* frame, uint32_t) {
  uint32_t number;
  asm volatile("mrs %0, ipsr" : "=r"(number));
  const uint32_t cfsr = at(kCfsr);
  Line line("@fault ");
  line.text(name_of_exception(number));
  // A frame that could not be stacked (bits STKERR, MSTKERR, STKOF) says nothing about the program
  // counter.
  constexpr uint32_t kNotStacked = 1u << 12 | 1u << 4 | 1u << 20;
  const bool framed = (cfsr & kNotStacked) == 0 && frame >= &stack_limit && frame + 8 <= &stack_top;
  line.text(" pc ").hex(framed ? frame[6] : 0).text(" lr ").hex(framed ? frame[5] : 0);
  line.text(" cfsr ").hex(cfsr).text(" hfsr ").hex(at(kHfsr));
  line.text(" address ").hex(cfsr & 0x8000 ? at(kBfar) : cfsr & 0x80 ? at(kMmfar) : 0);
  const uintptr_t data_address = cfsr & 0x80 ? at(kMmfar) : 0;
  const bool in_guard = data_address >= reinterpret_cast<uintptr_t>(&stack_guard) &&
                        data_address < reinterpret_cast<uintptr_t>(&stack_limit);
  line.text((cfsr & kNotStacked) || in_guard || frame < &stack_limit || stack_overflowed()
                ? " stack overflowed"
                : " stack good")
      .print();
  end_board(BoardExit::fault);
}

#define FAULT reinterpret_cast<const void*>(&fault)
#define FOUR_FAULTS FAULT, FAULT, FAULT, FAULT
#ifdef DEUTERON_TRACE  // one of the tracer's clocks counts its wraps by interrupt
extern void systick_clock_handler();
#define SYSTICK reinterpret_cast<const void*>(&systick_clock_handler)
#else
#define SYSTICK FAULT
#endif
[[gnu::section(".vectors"), gnu::used]] const void* const vectors[16] = {
    &handler_stack_top,
    reinterpret_cast<const void*>(&reset),
    FOUR_FAULTS,
    FOUR_FAULTS,
    FOUR_FAULTS,
    FAULT,
    SYSTICK};

}  // extern "C"
