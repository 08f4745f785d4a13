// SPDX-License-Identifier: Apache-2.0
// Inner loops on weights packed as scalar_1x4 for cores with Thumb-1: contracts in packed_scalar.h.
// Empty for other cores.
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1
#include "kernels/dense/thumb1_scalar.inc"

@ The sum r2 becomes a byte: 23 instructions without a shift. A shift of r9, 0 or less, to the
@ right: one less from what is negative sends halves away from zero.
@   r1-r4 are lost   r5 r6 lower and upper half of the doubled multiplier   r8 y_zero   r9 shift
.macro ROUND shifted
  HIGH_WORD lsrs
  .if \shifted
  mov r4, r9
  rsbs r4, r4, #0
  beq 8f
  asrs r1, r2, #31
  adds r2, r2, r1
  asrs r2, r2, r4
  movs r1, #0
  adcs r2, r1
8:
  .endif
  add r2, r8
  sxtb r3, r2
  cmp r3, r2
  beq 9f
  asrs r2, r2, #31
  movs r3, #127
  eors r2, r3
9:
.endm

@ stack: 0 4 8 12 sums, 16 20 24 28 y, 32 windows, 36 shifts, 40 length, 44 filters, 48 y_zero, 52
@   entry, 56 multiplier,
@        60 filter
  FUNCTION deuteron_packed_windows_scalar
  ENTER 68
  movs r7, r0
  ldm r7!, {r1, r6}
  ldm r7!, {r2-r5}
  str r1, [sp, #32]
  str r2, [sp, #36]
  str r3, [sp, #40]
  str r4, [sp, #44]
  str r5, [sp, #48]
  ldm r7!, {r1, r2, r4, r5}
  add r0, sp, #16
  stm r0!, {r1, r2, r4, r5}
  movs r1, #0
  str r1, [sp, #60]
  lsrs r1, r3, #1
  rsbs r1, r1, #0
  ENTRY 52, ELEMENTS_BYTES, 2f
1:                                  @ a filter at r6
  movs r0, #1
  lsls r0, r0, #15
  mov r12, r0
  ldm r6!, {r0, r1}
  str r1, [sp, #56]
  rsbs r0, r0, #0                   @ sums begin with what is added to them
  mov r9, r0
  mov r11, r0
  lsls r1, r0, #16
  adds r1, r1, r0
  mov r8, r1
  mov r10, r1
  ldr r2, [sp, #40]
  adds r6, r6, r2
  rsbs r5, r2, #0
  ldr r7, [sp, #32]
  ldr r0, [sp, #52]
  mov pc, r0
  .balign 4
2:
  .rept AT_ONCE
  ELEMENTS
  .endr
  bne 2b
  SUMS
  mov r7, sp
  stm r7!, {r0-r3}
  ldr r7, [sp, #60]
  ldr r0, [sp, #48]
  mov r8, r0
  mov r12, r6                       @ the next filter
  ldr r5, [sp, #56]
  ldr r0, [sp, #36]
  cmp r0, #0
  bne 5f
  lsrs r6, r5, #16
  uxth r5, r5
  .irp k, 0, 4, 8, 12
  ldr r2, [sp, #\k]
  ROUND 0
  ldr r1, [sp, #(16 + \k)]
  strb r2, [r1, r7]
  .endr
4:
  mov r6, r12
  adds r7, #1
  str r7, [sp, #60]
  ldr r0, [sp, #44]
  cmp r0, r7
  beq 7f
  b 1b
7:
  LEAVE 68
5:
  ldm r0!, {r1}
  str r0, [sp, #36]
  mov r9, r1
  lsls r5, r5, #1
  lsrs r6, r5, #16
  uxth r5, r5
  movs r0, #0
6:
  mov r2, sp
  ldr r2, [r2, r0]
  ROUND 1
  add r1, sp, #16
  ldr r1, [r1, r0]
  strb r2, [r1, r7]
  adds r0, #4
  cmp r0, #16
  bne 6b
  b 4b
  .size deuteron_packed_windows_scalar, . - deuteron_packed_windows_scalar

@ An element of one window and four filters: 14 instructions, 4 products.
@   r0 end of the window   r1-r4 ends of the filters   r5 element, below 0   r6 element
@     r7 weight   r8-r11 sums
.macro ELEMENT
  ldrsb r6, [r0, r5]
  FOUR_FILTERS
.endm

@ stack: 0 4 8 12 sums, 16 end of the window, 20 next filter, 24 shifts, 28 length, 32 step, 36
@   filters that are left, 40 y_zero, 44 y, 48 entry
  FUNCTION deuteron_packed_window_scalar
  ENTER 52
  ldm r0!, {r1-r7}
  ldr r0, [r0]
  adds r1, r1, r4
  str r1, [sp, #16]
  str r2, [sp, #20]
  str r3, [sp, #24]
  str r4, [sp, #28]
  str r5, [sp, #32]
  str r6, [sp, #36]
  str r7, [sp, #40]
  str r0, [sp, #44]
  rsbs r1, r4, #0
  ENTRY 48, ELEMENT_BYTES, 2f
1:                                  @ four filters
  ldr r1, [sp, #20]
  ldr r5, [sp, #28]
  ldr r6, [sp, #32]
  ldr r0, [r1]
  mov r8, r0
  adds r2, r1, r6
  ldr r0, [r2]
  mov r9, r0
  adds r3, r2, r6
  ldr r0, [r3]
  mov r10, r0
  adds r4, r3, r6
  ldr r0, [r4]
  mov r11, r0
  adds r6, r4, r6
  str r6, [sp, #20]
  movs r6, r5
  adds r6, #8
  adds r1, r1, r6
  adds r2, r2, r6
  adds r3, r3, r6
  adds r4, r4, r6
  rsbs r5, r5, #0
  ldr r0, [sp, #16]
  ldr r7, [sp, #48]
  mov pc, r7
  .balign 4
2:
  .rept AT_ONCE
  ELEMENT
  .endr
  bne 2b
  mov r0, r8
  mov r2, r9
  mov r3, r10
  mov r4, r11
  mov r7, sp
  stm r7!, {r0, r2, r3, r4}
  ldr r0, [sp, #40]
  mov r8, r0
  ldr r0, [sp, #28]
  subs r1, r1, r0
  subs r1, #4
  mov r10, r1                       @ the multiplier
  movs r7, #0
3:
  mov r1, r10
  ldr r5, [r1]
  ldr r2, [sp, #32]
  adds r1, r1, r2
  mov r10, r1
  movs r1, #0
  ldr r0, [sp, #24]
  cmp r0, #0
  beq 4f
  lsls r5, r5, #1
  ldr r1, [r0]
  cmp r2, #0
  beq 4f
  adds r0, #4
  str r0, [sp, #24]
4:
  mov r9, r1
  lsrs r6, r5, #16
  uxth r5, r5
  mov r2, sp
  ldr r2, [r2, r7]
  ROUND 1
  ldr r0, [sp, #44]
  strb r2, [r0]
  adds r0, #1
  str r0, [sp, #44]
  adds r7, #4
  cmp r7, #16
  bne 3b
  ldr r0, [sp, #36]
  subs r0, #4
  str r0, [sp, #36]
  beq 5f
  b 1b
5:
  LEAVE 52
  .size deuteron_packed_window_scalar, . - deuteron_packed_window_scalar
#endif
