// SPDX-License-Identifier: Apache-2.0
// Inner loop of LSTM and GRU cells for cores with Thumb-1: contract in rows_thumb1_scalar.h.
// Assembly, because gcc 12 keeps no sums in the upper registers. Empty for other cores.
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1
#include "kernels/dense/thumb1_scalar.inc"

@ An element of the vector and four rows: 14 instructions, 4 products.
@   r0 end of the vector   r1-r4 ends of the rows   r5 element, below 0
@     r6 element of the vector   r7 weight   r8-r11 sums
.macro ELEMENT
  ldrsb r6, [r0, r5]
  FOUR_FILTERS
.endm

@ stack: 0 entry, 4 call
  FUNCTION deuteron_rows_4_thumb1
  ENTER 8
  str r0, [sp, #4]
  movs r7, r0
  CLEAR
  ldr r5, [r7, #20]
  rsbs r1, r5, #0
  ENTRY 0, ELEMENT_BYTES, 1f
  ldm r7!, {r0-r4}
  adds r0, r0, r5
  adds r1, r1, r5
  adds r2, r2, r5
  adds r3, r3, r5
  adds r4, r4, r5
  rsbs r5, r5, #0
  ldr r7, [sp]
  mov pc, r7
  .balign 4
1:
  .rept AT_ONCE
  ELEMENT
  .endr
  bne 1b
  ldr r4, [sp, #4]
  adds r4, #24
  mov r0, r8
  mov r1, r9
  mov r2, r10
  mov r3, r11
  stm r4!, {r0-r3}
  LEAVE 8
  .size deuteron_rows_4_thumb1, . - deuteron_rows_4_thumb1
#endif
