// SPDX-License-Identifier: Apache-2.0
// SysTick as a clock of 64 bits. Registers: Armv7-M Architecture Reference Manual (DDI 0403), B3.3;
// the same on every other M profile.
#include "runtime/ports/clocks.h"

namespace deuteron {
namespace {

volatile uint32_t& at(uintptr_t address) { return *reinterpret_cast<volatile uint32_t*>(address); }

constexpr uintptr_t kControl = 0xe000e010, kReload = 0xe000e014, kValue = 0xe000e018,
                    kInterruptState = 0xe000ed04;
constexpr uint32_t kEnable = 1, kInterrupt = 2, kProcessorClock = 4, kPending = 1u << 26;

volatile uint32_t wraps;
uint32_t period;

// A wrap whose interrupt has not been taken yet is still pending: then the value belongs to the
// next round.
uint64_t systick_now() {
  uint32_t was_masked;
  asm volatile("mrs %0, primask\ncpsid i" : "=r"(was_masked)::"memory");
  uint32_t rounds = wraps, value = at(kValue);
  if (at(kInterruptState) & kPending) {
    value = at(kValue);
    ++rounds;
  }
  if (!was_masked) asm volatile("cpsie i" ::: "memory");
  // A value of 0 is the last of its round. It is also what the counter holds before it first loads.
  return uint64_t{rounds} * period + (value == 0 ? period - 1 : period - 1 - value);
}

}  // namespace

extern "C" void systick_clock_handler() { wraps = wraps + 1; }

Clock systick_clock(uint64_t hz, uint32_t reload) {
  if (reload > 0xffffff) reload = 0xffffff;
  at(kControl) = 0;
  wraps = 0;
  period = reload + 1;
  at(kReload) = reload;
  at(kValue) = 0;
  at(kControl) = kEnable | kInterrupt | kProcessorClock;
  // until it has loaded: emulated ones take their time
  for (uint32_t turns = 0; at(kValue) == 0 && turns < 1u << 20; turns++) {}
  return {systick_now, 64, hz, "cycles", "SysTick"};
}

}  // namespace deuteron
