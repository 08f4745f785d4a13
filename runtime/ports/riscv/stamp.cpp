// SPDX-License-Identifier: Apache-2.0
// The counter of instructions as stamps, and as the clock of traces. With `-icount shift=0` QEMU
// counts each one.
#include "runtime/ports/clocks.h"
#include "runtime/ports/counter.h"

namespace deuteron {
namespace {

// The upper half that belongs to the lower one: the counter may have gone round between them.
uint64_t time_of(const Stamp& s) {
  return uint64_t{s.lower >> 31 != 0 ? s.upper_before : s.upper} << 32 | s.lower;
}

uint64_t lost;    // instructions spent in reads
uint64_t around;  // of one read, which always takes the same way

uint64_t board_now() {
  Stamp s;
  read_stamp(&s);
  const uint64_t now = time_of(s) - lost;
  lost += around;
  return now;
}

uint64_t stands_still() { return 0; }

}  // namespace

void read_stamp(Stamp* stamp) {
  uint32_t before, lower, upper;
  asm volatile(
      "csrr %0, minstreth\n"
      "csrr %1, minstret\n"
      "csrr %2, minstreth\n"
      : "=r"(before), "=r"(lower), "=r"(upper)::"memory");
  *stamp = {before, lower, upper};
}

uint64_t between(const Stamp& a, const Stamp& b) { return time_of(b) - time_of(a); }

void hide_from_board_clock(void (*function)(void*), void* argument) {
  const uint64_t from = board_now();
  function(argument);
  lost += board_now() - from;
}

// Reads one after the other see no time pass.
Clock board_clock() {
  lost = around = 0;
  const uint64_t a = board_now();
  around = board_now() - a;
  return {board_now, 64, 1000000000, "instructions", "minstret"};
}

// DWT, PMU and SysTick are a Cortex-M's.
Clock clock_of(JobClock which, uint64_t, uint32_t) {
  if (which == JobClock::board) return board_clock();
  return {stands_still, 64, 0, "cycles", "of a Cortex-M"};
}

}  // namespace deuteron
