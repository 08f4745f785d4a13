// SPDX-License-Identifier: Apache-2.0
// See counter.h. The reads are in assembly because their distance must be known.
#include "runtime/ports/counter.h"

#include "runtime/ports/board.h"

namespace deuteron {
namespace {

constexpr uint32_t kReads = 64, kStep = 3;
static_assert(kReads * kStep >= 3 * kInstructionsPerTick,
              "every residue of the tick must be read once");
static_assert(kInstructionsPerTick % kStep != 0, "no common factor");
constexpr uintptr_t kCounter = kFpgaio + 0x18, kClock100Hz = kFpgaio + 0x14;

struct Stamp {
  uint32_t ticks[kReads];
  uint32_t hundredths;  // of a second; to tell how often `ticks` has gone round (every 2^32 ticks)
};

[[gnu::naked, gnu::noinline]] void read_stamp(Stamp*, uintptr_t, uintptr_t) {
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

[[gnu::naked, gnu::noinline]] void do_nothing(void*) { asm volatile("bx lr"); }

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

[[gnu::noinline]] uint64_t raw_count(void (*function)(void*), void* argument) {
  static Stamp before, after;
  read_stamp(&before, kCounter, kClock100Hz);
  function(argument);
  read_stamp(&after, kCounter, kClock100Hz);
  return between(before, after);
}

static_assert(sizeof(Stamp) * 2 == kPartBytes);
Stamp* parts = nullptr;  // two for each part
uint32_t parts_most = 0, parts_used = 0;

void part_of_nothing(void*) { count_part(do_nothing, nullptr); }

}  // namespace

void use_parts(void* memory, uint32_t bytes) {
  parts = static_cast<Stamp*>(memory);
  parts_most = memory ? bytes / kPartBytes : 0;
  parts_used = 0;
}

[[gnu::noinline]] void count_part(void (*function)(void*), void* argument) {
  if (parts_used == parts_most) return function(argument);
  Stamp* const stamps = parts + 2 * parts_used++;
  read_stamp(&stamps[0], kCounter, kClock100Hz);
  function(argument);
  read_stamp(&stamps[1], kCounter, kClock100Hz);
}

Parts take_parts() {
  Parts sum;
  const uint32_t used = parts_used;
  if (used == 0) return sum;
  const uint64_t own = raw_count(do_nothing, nullptr) - 1;
  for (uint32_t k = 0; k < used; k++)
    sum.instructions += between(parts[2 * k], parts[2 * k + 1]) - own;
  parts_used = 0;
  sum.overhead = used * (count_instructions(part_of_nothing, nullptr) - 1);
  parts_used = 0;
  return sum;
}

uint64_t count_instructions(void (*function)(void*), void* argument) {
  const uint64_t own = raw_count(do_nothing, nullptr) - 1;
  return raw_count(function, argument) - own;
}

}  // namespace deuteron
