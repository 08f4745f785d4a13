// SPDX-License-Identifier: Apache-2.0
// Clocks for the event tracer (runtime/trace.h) on bare metal. Each switches its counter on and
// gives a Clock; whether it goes is what Trace::start() finds out. `hz`: the processor's clock.
#pragma once
#include "runtime/ports/job.h"
#include "runtime/trace.h"

namespace deuteron {

// The cycle counter of the data watchpoint unit: Armv7-M and Armv8-M with the main extension, where
// the chip has it. 32 bits: a call may take up to 2^32 cycles (13 s at 324 MHz).
Clock dwt_clock(uint64_t hz);

// The cycle counter of the performance monitoring unit: Armv8.1-M (Cortex-M52, M55, M85). 32 bits.
Clock pmu_clock(uint64_t hz);

// SysTick, which every core has: counts down from `reload` (up to 2^24 - 1) and wraps; the wraps
// are counted by an interrupt, so no call is too long. The firmware puts systick_clock_handler()
// into its vector table (entry 15) and leaves interrupts on while it runs programs.
Clock systick_clock(uint64_t hz, uint32_t reload = 0xffffff);
extern "C" void systick_clock_handler();

// On QEMU's boards with `-icount shift=0`: instructions, to four of them. Time that passes while
// the clock is being read is not counted.
Clock board_clock();
// Runs function(argument) while that clock stands: what the board's processor does in the place of
// a machine that it does not have.
void hide_from_board_clock(void (*function)(void*), void* argument);

// The one that a job asks for.
Clock clock_of(JobClock which, uint64_t hz, uint32_t argument);

}  // namespace deuteron
