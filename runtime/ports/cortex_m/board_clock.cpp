// SPDX-License-Identifier: Apache-2.0
// The board's free-running counter as a clock of instructions. A tick of it is 40 or 50
// instructions: a read waits for the next tick and counts its turns of four instructions, which
// gives the time of the call. What the read itself takes is then left out: the clock stands while
// it is looked at, so events do not contain the cost of timing them.
#include "runtime/ports/board.h"
#include "runtime/ports/clocks.h"

namespace deuteron {
namespace {

constexpr uint32_t kTurn = 4;  // instructions of a turn
static_assert(kInstructionsPerTick > kTurn, "or a tick might pass unseen");

// Waits until the counter changes; gives the turns in r0 and the new value in r1.
[[gnu::naked, gnu::noinline]] uint64_t wait_for_tick(uintptr_t) {
  asm volatile(
      "mov r3, r0\n"
      "movs r0, #0\n"
      "ldr r2, [r3]\n"
      "1: adds r0, #1\n"
      "ldr r1, [r3]\n"
      "cmp r1, r2\n"
      "beq 1b\n"
      "bx lr\n");
}

uint64_t ticks;  // widened
uint64_t lost;   // instructions spent in reads
uint32_t last;
uint32_t around;  // instructions of a read beside its turns

uint64_t board_now() {
  const uint64_t waited = wait_for_tick(kFpgaio + 0x18);
  const uint32_t turns = static_cast<uint32_t>(waited), value = static_cast<uint32_t>(waited >> 32);
  ticks += static_cast<uint32_t>(value - last);
  last = value;
  const uint64_t instructions = ticks * kInstructionsPerTick;
  const uint64_t reading = kTurn * turns + around;
  const uint64_t now = instructions - kTurn * turns - lost;
  lost += reading;
  return now;
}

}  // namespace

void hide_from_board_clock(void (*function)(void*), void* argument) {
  const uint64_t from = board_now();
  function(argument);
  lost += board_now() - from;
}

// Reads one after the other are to see no time pass.
Clock board_clock() {
  constexpr uint32_t kPairs = 64;
  ticks = lost = around = 0;
  uint64_t sum = 0;
  for (uint32_t i = 0; i < kPairs; ++i) {
    const uint64_t a = board_now(), b = board_now();
    sum += b - a;
  }
  around = static_cast<uint32_t>((sum + kPairs / 2) / kPairs);
  return {board_now, 64, 1000000000, "instructions", "FPGAIO_counter"};
}

}  // namespace deuteron
