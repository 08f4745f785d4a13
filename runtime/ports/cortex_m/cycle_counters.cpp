// SPDX-License-Identifier: Apache-2.0
// DWT and PMU. Registers: Armv8-M Architecture Reference Manual (DDI 0553), sections D1.2
// (DWT_CTRL, DWT_CYCCNT, DEMCR, PMU_*).
#include "runtime/ports/clocks.h"

namespace deuteron {
namespace {

volatile uint32_t& at(uintptr_t address) { return *reinterpret_cast<volatile uint32_t*>(address); }

constexpr uintptr_t kDemcr = 0xe000edfc;
constexpr uint32_t kTraceEnable = 1u << 24;

constexpr uintptr_t kDwtCtrl = 0xe0001000, kDwtCycles = 0xe0001004, kDwtLock = 0xe0001fb0;
constexpr uint32_t kUnlock = 0xc5acce55;  // Armv7-M: the lock access register, where there is one
constexpr uint32_t kCyclesEnable = 1;

constexpr uintptr_t kPmuCycles = 0xe000307c, kPmuEnableSet = 0xe0003c00, kPmuCtrl = 0xe0003e04;
constexpr uint32_t kPmuCycleCounter = 1u << 31, kPmuEnable = 1, kPmuResetCycles = 1u << 2;

uint64_t dwt_now() { return at(kDwtCycles); }
uint64_t pmu_now() { return at(kPmuCycles); }

}  // namespace

Clock dwt_clock(uint64_t hz) {
  at(kDemcr) |= kTraceEnable;
  at(kDwtLock) = kUnlock;
  at(kDwtCtrl) |= kCyclesEnable;
  return {dwt_now, 32, hz, "cycles", "DWT_CYCCNT"};
}

Clock pmu_clock(uint64_t hz) {
  at(kDemcr) |= kTraceEnable;
  at(kPmuCtrl) |= kPmuEnable | kPmuResetCycles;
  at(kPmuEnableSet) = kPmuCycleCounter;
  return {pmu_now, 32, hz, "cycles", "PMU_CCNTR"};
}

Clock clock_of(JobClock which, uint64_t hz, uint32_t argument) {
  return which == JobClock::dwt       ? dwt_clock(hz)
         : which == JobClock::pmu     ? pmu_clock(hz)
         : which == JobClock::systick ? systick_clock(hz, argument)
                                      : board_clock();
}

}  // namespace deuteron
