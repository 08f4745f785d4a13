// SPDX-License-Identifier: Apache-2.0
// The runner behind a debug probe: how it is entered, how it calls the host, and what counts its
// cycles. The values of map.h are the host's. Registers: Armv7-M Architecture Reference Manual (DDI
// 0403), B3; where Armv6-M and Armv8-M have them, they have them there too.
#include "runtime/ports/board.h"
#include "runtime/ports/clocks.h"
#include "runtime/ports/cortex_m/memory_protection.h"
#include "runtime/ports/counter.h"

extern "C" {
extern const uint32_t deuteron_vectors[16];  // runtime/ports/cortex_m/start.cpp, by its place
[[gnu::naked, gnu::noipa]] void deuteron_enter();
[[gnu::naked, gnu::noipa]] int32_t deuteron_host_call(uint32_t, const void*);
void deuteron_quiet();
void deuteron_restart();
}

namespace deuteron {
namespace {

volatile uint32_t& at(uintptr_t address) { return *reinterpret_cast<volatile uint32_t*>(address); }

constexpr uintptr_t kSystick = 0xe000e010, kIrqDisable = 0xe000e180, kIrqClear = 0xe000e280,
                    kInterruptState = 0xe000ed04, kVectors = 0xe000ed08, kReset = 0xe000ed0c,
                    kMpu = 0xe000ed94;
constexpr uint32_t kClearPendSv = 1u << 27, kClearSystick = 1u << 25, kResetRequest = 0x05fa0004;

// A Cortex-M0 has its vectors at 0 and nowhere else: ours stand there when the runner lies in that
// flash.
bool has_vectors() {
  if (at(kVectors) == reinterpret_cast<uintptr_t>(deuteron_vectors)) return true;
  for (uint32_t k = 0; k < 16; k++) {
    uintptr_t where = 4 * k;
    asm volatile("" : "+r"(where));  // 0 is an address like any other here
    if (at(where) != deuteron_vectors[k]) return false;
  }
  return true;
}

uint64_t stands_still() { return 0; }

Clock chosen_clock() {
  if (deuteron_clock_kind == 1) return dwt_clock(deuteron_clock_hz);
  if (deuteron_clock_kind == 2 && has_vectors()) return systick_clock(deuteron_clock_hz);
  return {stands_still, 64, 0, "cycles", "no counter"};
}

[[gnu::noinline]] uint64_t raw_count(const Clock& clock, void (*function)(void*), void* argument) {
  const uint64_t before = clock.now();
  function(argument);
  const uint64_t after = clock.now();
  if (clock.bits < 64) return (after - before) & ((uint64_t{1} << clock.bits) - 1);
  return after > before ? after - before : 0;
}

}  // namespace

Clock board_clock() { return chosen_clock(); }

// Nothing of this board is played by its processor.
void use_parts(void*, uint32_t) {}
void count_part(void (*function)(void*), void* argument) { function(argument); }
Parts take_parts() { return {}; }

// A clock that is read twice at once may seem to stand: what reading takes is the least of several
// times.
uint64_t count_instructions(void (*function)(void*), void* argument) {
  const Clock clock = chosen_clock();
  uint64_t own = raw_count(clock, do_nothing, nullptr);
  for (int k = 0; k < 3; k++)
    if (const uint64_t again = raw_count(clock, do_nothing, nullptr); again < own) own = again;
  const uint64_t all = raw_count(clock, function, argument);
  return all > own ? all - own : 0;
}

// Whose RAM is open to whom is the user's: nothing is closed.
void protect_memory() {}

}  // namespace deuteron

using namespace deuteron;

// No interrupt of what ran before, no memory protection of it.
extern "C" void deuteron_quiet() {
  at(kSystick) = 0;
  at(kMpu) = 0;
  for (uint32_t k = 0; k < 8; k++) at(kIrqDisable + 4 * k) = at(kIrqClear + 4 * k) = 0xffffffff;
  at(kInterruptState) = kClearPendSv | kClearSystick;
  at(kVectors) = reinterpret_cast<uintptr_t>(deuteron_vectors);
  asm volatile("dsb\nisb" ::: "memory");
}

// Here the host starts the processor, with any stack.
extern "C" void deuteron_enter() {
  asm volatile(
      "cpsid i\n"
      "movs r0, #0\n"
      "msr control, r0\n"  // the main stack, privileged
      "isb\n"
#if __ARM_ARCH >= 8
      "msr msplim, r0\n"
#endif
      "ldr r0, =handler_stack_top\n"
      "mov sp, r0\n"
      "bl deuteron_quiet\n"
      "cpsie i\n"
      "ldr r0, =reset\n"
      "bx r0\n");
}

// The host has a breakpoint here: it does what is asked for (runtime/ports/semihosting.h), sets r0
// and goes on at lr.
extern "C" int32_t deuteron_host_call(uint32_t, const void*) {
  asm volatile(
      "nop\n"
      "bx lr\n");
}

// Here the host leaves it: the chip starts anew with its own firmware.
extern "C" void deuteron_restart() {
  asm volatile("dsb" ::: "memory");
  at(kReset) = kResetRequest;
  for (;;) asm volatile("");
}
