// SPDX-License-Identifier: Apache-2.0
/* A core without anything: from reset to main, the stack painted, and text and files by Arm's
 * semihosting. C99, no library but memcpy. */
#include <stdint.h>

#include "port.h"

extern uint32_t stack_bottom, stack_top, bss_begin, bss_end;
void reset(void);

static int call(int operation, const void* argument) {
  register int r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

void write_file(const char* name, const void* data, uint32_t bytes) {
  uint32_t length = 0;
  while (name[length] != 0) ++length;
  const uintptr_t open[3] = {(uintptr_t)name, 5 /* wb */, length};
  const int file = call(1, open);
  const uintptr_t write[3] = {(uintptr_t)file, (uintptr_t)data, bytes},
                  close[1] = {(uintptr_t)file};
  call(5, write);
  call(2, close);
}

uint32_t stack_used(void) {
  const uint32_t* p = &stack_bottom;
  while (p < &stack_top && *p == 0xdeadbea7u) ++p;
  return (uint32_t)(&stack_top - p) * 4u;
}

void paint_stack(void) {
  uint32_t here;
  for (volatile uint32_t* p = &stack_bottom; p + 16 < &here; ++p) *p = 0xdeadbea7u;
}

static void end(int code) {
  if (code != 0) call(0x18, (const void*)0x20024); /* an error */
  call(0x18, (const void*)0x20026);
  for (;;) {}
}

void reset(void) {
  *(volatile uint32_t*)0xe000ed88u |= 0xfu << 20; /* floats and vectors: CPACR */
  __asm__ volatile("dsb\n isb" ::: "memory");
  for (uint32_t* p = &bss_begin; p < &bss_end; ++p) *p = 0;
  end(run_models());
}

static void fault(void) { end(1); }

__attribute__((section(".vectors"), used)) static const uintptr_t vectors[16] = {
    (uintptr_t)&stack_top, (uintptr_t)reset, (uintptr_t)fault, (uintptr_t)fault,
    (uintptr_t)fault,      (uintptr_t)fault, (uintptr_t)fault};
