// SPDX-License-Identifier: Apache-2.0
// Stamps of a board whose counter has ticks of 40 or 50 instructions. A stamp reads it 64 times,
// every three instructions: as three has no factor in common with the tick, the places where the
// value changes tell the first read's time to the instruction. The reads are in assembly because
// their distance must be known.
#include "runtime/ports/counter.h"

namespace deuteron {
namespace {

constexpr uint32_t kReads = sizeof Stamp::ticks / sizeof Stamp::ticks[0], kStep = 3;
static_assert(kReads * kStep >= 3 * kInstructionsPerTick,
              "every residue of the tick must be read once");
static_assert(kInstructionsPerTick % kStep != 0, "no common factor");
constexpr uintptr_t kCounter = kFpgaio + 0x18, kClock100Hz = kFpgaio + 0x14;

[[gnu::naked, gnu::noinline]] void read_counters(Stamp*, uintptr_t, uintptr_t) {
  asm volatile(
      ".rept 64\n"
      "ldr r3, [r1]\n"
      "stm r0!, {r3}\n"
      "nop\n"
      ".endr\n"
      "ldr r3, [r2]\n"
      "str r3, [r0]\n"
      "bx lr\n");
}

// In instructions since the counter was last zero, up to a constant that is the same for every
// stamp.
uint64_t time_of(const Stamp& s) {
  int64_t low = INT64_MIN, high = INT64_MAX;
  for (uint32_t k = 0; k < kReads; k++) {
    const int64_t ticks = static_cast<uint32_t>(s.ticks[k] - s.ticks[0]);
    const int64_t from = ticks * kInstructionsPerTick - kStep * k;
    if (from > low) low = from;
    if (from + kInstructionsPerTick - 1 < high) high = from + kInstructionsPerTick - 1;
  }
  return static_cast<uint64_t>(high) + uint64_t{kInstructionsPerTick} * s.ticks[0];
}

}  // namespace

void read_stamp(Stamp* stamp) { read_counters(stamp, kCounter, kClock100Hz); }

uint64_t between(const Stamp& a, const Stamp& b) {
  const uint32_t ticks = b.ticks[0] - a.ticks[0];
  const uint64_t ticks_by_clock =
      (b.hundredths - a.hundredths) * uint64_t{10000000 / kInstructionsPerTick};
  const uint64_t rounds =
      ticks_by_clock > ticks ? (ticks_by_clock - ticks + (uint64_t{1} << 31)) >> 32 : 0;
  const uint64_t phases = time_of(b) - uint64_t{kInstructionsPerTick} * b.ticks[0] -
                          (time_of(a) - uint64_t{kInstructionsPerTick} * a.ticks[0]);
  return ((rounds << 32) + ticks) * kInstructionsPerTick + phases;
}

}  // namespace deuteron
