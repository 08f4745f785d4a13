// SPDX-License-Identifier: Apache-2.0
/* Instructions by which a board's runner shows the emulator what to count (block_counts.c).
   NOP-compatible hints that no compiler emits: every Cortex-M executes them as NOP (Armv7-M
   Architecture Reference Manual, A7.7.88; Armv6-M, A6.7.40), and so does QEMU. */
#pragma once
#define DEUTERON_MARK_BEGIN 0xbfb0 /* a call of the program begins */
#define DEUTERON_MARK_END 0xbfc0   /* it has ended */
#define DEUTERON_MARK_PAUSE \
  0xbfd0 /* what follows is not the processor's own work: the NPU is played */
#define DEUTERON_MARK_RESUME 0xbfe0 /* it is again */
