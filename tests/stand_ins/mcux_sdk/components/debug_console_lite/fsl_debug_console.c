// SPDX-License-Identifier: Apache-2.0
#include "fsl_debug_console.h"

/* Semihosting, SYS_WRITEC. */
int DbgConsole_Putchar(int ch) {
  const char c = (char)ch;
  register int r0 __asm__("r0") = 3;
  register const char* r1 __asm__("r1") = &c;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return ch;
}
