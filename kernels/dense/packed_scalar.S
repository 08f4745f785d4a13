// SPDX-License-Identifier: Apache-2.0
// Inner loops on weights packed as scalar_1x4 for Cortex-M3: contracts in packed_scalar.h. Empty
// for cores without Thumb-2, and for those that have the DSP extension.
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB >= 2
  .syntax unified
  .thumb

.macro FUNCTION name
  .section .text.\name,"ax"
  .global \name
  .type \name, %function
  .balign 4
\name:
.endm
@ Where the first turn of a loop of eight steps begins, at sp + \at, with r3 the negative number of
@ steps: those that are no multiple are left out.
.macro ENTRY at, bytes, loop
  and r3, r3, #7
  movs r2, #\bytes
  mul r3, r3, r2
  adr r2, \loop
  add r3, r3, r2
  orr r3, r3, #1
  str r3, [sp, #\at]
.endm

@ Not of the procedure call standard: r12 becomes the result of the sum r12, multiplier r11, shift
@ r2 (0 or less), zero point r8; r0 is lost.
  .section .text.deuteron_packed_finish_scalar,"ax"
  .type deuteron_packed_finish_scalar, %function
  .balign 4
deuteron_packed_finish_scalar:
  smull r0, r12, r12, r11
  adds r0, r0, #0x40000000
  adc r12, r12, #0
  lsl r12, r12, #1
  orr r12, r12, r0, lsr #31
  rsbs r0, r2, #0
  beq 1f
  add r12, r12, r12, asr #31        @ one less from what is negative sends halves away from zero
  asrs r12, r12, r0
  adc r12, r12, #0
1:
  add r12, r12, r8
  ssat r12, #8, r12
  bx lr
  .size deuteron_packed_finish_scalar, . - deuteron_packed_finish_scalar

@ Without a shift: the high word of the product with the doubled multiplier r11, and the bit below
@ it.   r12 is lost
.macro ROUND value
  smull r12, \value, \value, r11
  add \value, \value, r12, lsr #31
  add \value, \value, r8
  ssat \value, #8, \value
.endm

@ Two elements of four windows: 11 instructions, 8 products. Of a pair's products the word is P =
@ 32768 - A - 65536 * B, where A and B are sums of two products and 32768 - A fits 16 bits without a
@ sign: P / 65536, rounded down, is -B.
@   r0 windows   r1 weights   r2 r3 r12 lr words of the pairs
@     r4 r6 what sums begin with, less the words   r5 r7 sums of the upper windows
@   r8 weight   r9 32768   r10 end of the windows   r11 multiplier
.macro ELEMENTS
  ldm.w r0!, {r2, r3, r12, lr}
  ldrsb.w r8, [r1], #1
  mls r2, r2, r8, r9
  mls r3, r3, r8, r9
  ldrsb.w r8, [r1], #1
  mls r2, r12, r8, r2
  mls r3, lr, r8, r3
  subs.n r4, r4, r2
  sub.w r5, r5, r2, asr #16
  subs.n r6, r6, r3
  sub.w r7, r7, r3, asr #16
.endm

@ stack: 0 windows, 4 shifts, 8 32768 for each step, 12 entry, 16 y_zero, 20 24 28 32 y, 36 end of
@   the filters
  FUNCTION deuteron_packed_windows_scalar
  push {r4-r11, lr}
  sub sp, sp, #44
  ldm r0, {r0-r9}
  str r0, [sp]
  str r2, [sp, #4]
  add r12, sp, #16
  stm r12, {r5-r9}
  add r10, r0, r3, lsl #3
  lsl r5, r3, #14
  str r5, [sp, #8]
  add r5, r3, #8
  mla r5, r4, r5, r1
  str r5, [sp, #36]
  lsrs r3, r3, #1
  rsbs r3, r3, #0
  ENTRY 12, 40, 2f
  mov r9, #32768
1:                                  @ a filter at r1
  ldrd r5, r11, [r1], #8
  ldr r2, [sp, #8]
  add r4, r2, r5, lsl #16           @ so that what is left of the words, less 65536 * the upper sum,
                                    @ begins with r5 too
  add r4, r4, r5
  mov r6, r4
  mov r7, r5
  ldr r0, [sp]
  ldr pc, [sp, #12]
  .balign 4
2:
  .rept 8
  ELEMENTS
  .endr
  cmp r0, r10
  bne 2b
  sub r4, r4, r5, lsl #16
  sub r6, r6, r7, lsl #16
  ldr r0, [sp, #4]
  ldr r8, [sp, #16]
  cbnz r0, 4f
  ROUND r4
  ROUND r5
  ROUND r6
  ROUND r7
3:
  add r12, sp, #20
  ldm r12, {r0, r2, r3, lr}
  strb r4, [r0], #1
  strb r5, [r2], #1
  strb r6, [r3], #1
  strb r7, [lr], #1
  stm r12, {r0, r2, r3, lr}
  ldr r0, [sp, #36]
  cmp r1, r0
  bne 1b
  add sp, sp, #44
  pop {r4-r11, pc}
4:
  ldr r2, [r0], #4
  str r0, [sp, #4]
  .irp sum, r4, r5, r6, r7
  mov r12, \sum
  bl deuteron_packed_finish_scalar
  mov \sum, r12
  .endr
  b 3b
  .size deuteron_packed_windows_scalar, . - deuteron_packed_windows_scalar

@ An element of one window and four filters: 9 instructions, 4 products.
@   r0 window   r1 r2 r3 r10 weights   r4-r7 sums   r8 element   r9 weight   r11 end of the window
.macro ELEMENT
  ldrsb.w r8, [r0], #1
  ldrsb.w r9, [r1], #1
  mla r4, r8, r9, r4
  ldrsb.w r9, [r2], #1
  mla r5, r8, r9, r5
  ldrsb.w r9, [r3], #1
  mla r6, r8, r9, r6
  ldrsb.w r9, [r10], #1
  mla r7, r8, r9, r7
.endm

@ stack: 0 window, 4 next filter, 8 shifts, 12 length, 16 step, 20 filters that are left, 24 y_zero,
@   28 y, 32 entry
  FUNCTION deuteron_packed_window_scalar
  push {r4-r11, lr}
  sub sp, sp, #36
  ldm r0, {r0-r7}
  stm sp, {r0-r7}
  rsbs r3, r3, #0
  ENTRY 32, 36, 2f
  ldr r3, [sp, #12]
  add r11, r0, r3
1:                                  @ four filters
  ldrd r0, r1, [sp]
  ldr r8, [sp, #16]
  add r2, r1, r8
  add r3, r2, r8
  add r10, r3, r8
  add r8, r10, r8
  str r8, [sp, #4]
  ldr r4, [r1], #8
  ldr r5, [r2], #8
  ldr r6, [r3], #8
  ldr r7, [r10], #8
  ldr pc, [sp, #32]
  .balign 4
2:
  .rept 8
  ELEMENT
  .endr
  cmp r0, r11
  bne 2b
  ldr r10, [sp, #12]
  sub r10, r1, r10
  ldrd r8, r9, [sp, #24]            @ y_zero, y
  ldr r1, [sp, #16]
  .irp sum, r4, r5, r6, r7
  ldr r11, [r10, #-4]
  add r10, r10, r1
  ldr r3, [sp, #8]
  cmp r3, #0
  bne 4f
  ROUND \sum
3:
  strb \sum, [r9], #1
  .subsection 1
4:
  ldr r2, [r3]
  cbz r1, 5f
  adds r3, r3, #4
  str r3, [sp, #8]
5:
  mov r12, \sum
  bl deuteron_packed_finish_scalar
  mov \sum, r12
  b 3b
  .previous
  .endr
  str r9, [sp, #28]
  ldr r0, [sp]
  ldr r3, [sp, #12]
  add r11, r0, r3
  ldr r3, [sp, #20]
  subs r3, r3, #4
  str r3, [sp, #20]
  bne 1b
  add sp, sp, #36
  pop {r4-r11, pc}
  .size deuteron_packed_window_scalar, . - deuteron_packed_window_scalar
#endif
