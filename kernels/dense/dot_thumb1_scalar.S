// SPDX-License-Identifier: Apache-2.0
// Inner loops for cores with Thumb-1: contracts in dot_thumb1_scalar.h. Assembly, because gcc 12
// keeps no sums in the upper registers, which only additions, comparisons and moves can name. Empty
// for other cores.
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1
#include "kernels/dense/thumb1_scalar.inc"

@ stack: 0 windows, 4 length, 8 filters that are left, 12 sums, 16 entry
  FUNCTION deuteron_dot_4_thumb1
  ENTER 20
  ldr r1, [r0]
  ldr r6, [r0, #4]
  ldr r2, [r0, #8]
  ldr r3, [r0, #12]
  ldr r4, [r0, #16]
  str r1, [sp]
  str r2, [sp, #4]
  str r3, [sp, #8]
  str r4, [sp, #12]
  movs r0, #1
  lsls r0, r0, #15
  mov r12, r0
  lsrs r1, r2, #1
  rsbs r1, r1, #0                   @ pairs of elements
  ENTRY 16, ELEMENTS_BYTES, 3f
1:                                  @ a filter that begins at r6
  ldr r2, [sp, #4]
  adds r6, r6, r2
  rsbs r5, r2, #0
  ldr r7, [sp]
  CLEAR
  lsrs r2, r2, #1
  bcc 2f                            @ an odd element by itself
  ldm r7!, {r0, r1}
  ldrsb r4, [r6, r5]
  muls r0, r4, r0
  muls r1, r4, r1
  UPPER r0, r8, r9
  UPPER r1, r10, r11
  adds r5, #1
  beq 4f
2:
  ldr r0, [sp, #16]
  mov pc, r0
  .balign 4
3:
  .rept AT_ONCE
  ELEMENTS
  .endr
  bne 3b
4:
  ldr r4, [sp, #12]
  SUMS
  stm r4!, {r0-r3}
  str r4, [sp, #12]
  ldr r0, [sp, #8]
  subs r0, #1
  str r0, [sp, #8]
  bne 1b
  LEAVE 20
  .size deuteron_dot_4_thumb1, . - deuteron_dot_4_thumb1

@ A sum of window k becomes a byte: 25 instructions.
@   r0 next sum   r1-r4 are lost   r5 r6 lower and upper half of the doubled multiplier
@     r7 filter   r8 y_zero   r9 what the sum begins with
.macro FINISH k
  ldm r0!, {r2}
  add r2, r9
  HIGH_WORD asrs
  add r2, r8
  sxtb r3, r2
  cmp r3, r2
  bne 4f
3:
  ldr r1, [sp, #(4 * \k)]
  strb r2, [r1, r7]
  .subsection 1
4:
  asrs r2, r2, #31
  movs r3, #127
  eors r2, r3
  b 3b
  .previous
.endm

@ stack: 0 4 8 12 bytes of the windows
  FUNCTION deuteron_finish_4_thumb1
  ENTER 16
  movs r7, r0
  adds r7, #20
  ldm r7!, {r1-r4}
  mov r5, sp
  stm r5!, {r1-r4}
  ldr r1, [r0, #16]
  mov r8, r1
  ldr r1, [r0, #4]
  mov r10, r1
  ldr r1, [r0, #8]
  mov r11, r1
  ldr r1, [r0, #12]
  mov r12, r1
  ldr r0, [r0]
  movs r7, #0
1:
  lsls r1, r7, #2
  mov r2, r10
  ldr r2, [r2, r1]
  mov r9, r2
  mov r2, r11
  ldr r2, [r2, r1]
  lsls r2, r2, #1
  uxth r5, r2
  lsrs r6, r2, #16
  FINISH 0
  FINISH 1
  FINISH 2
  FINISH 3
  adds r7, #1
  cmp r7, r12
  bne 1b
  LEAVE 16
  .size deuteron_finish_4_thumb1, . - deuteron_finish_4_thumb1

@ An element of one window and four filters: 14 instructions, 4 products.
@   r0 next element   r1-r4 ends of the filters   r5 element, below 0   r6 window   r7 weight
@     r8-r11 sums
.macro ELEMENT
  ldm r0!, {r6}
  FOUR_FILTERS
.endm

@ stack: 0 window, 4 length, 8 filters that are left, 12 sums, 16 entry
  FUNCTION deuteron_dot_1x4_thumb1
  ENTER 20
  ldr r1, [r0]
  ldr r4, [r0, #4]
  ldr r2, [r0, #8]
  ldr r3, [r0, #12]
  ldr r5, [r0, #16]
  str r1, [sp]
  str r2, [sp, #4]
  str r3, [sp, #8]
  str r5, [sp, #12]
  rsbs r1, r2, #0
  ENTRY 16, ELEMENT_BYTES, 2f
1:                                  @ four filters that begin at r4
  ldr r0, [sp, #4]
  adds r1, r4, r0
  adds r2, r1, r0
  adds r3, r2, r0
  adds r4, r3, r0
  rsbs r5, r0, #0
  CLEAR
  ldr r7, [sp, #16]
  ldr r0, [sp]
  mov pc, r7
  .balign 4
2:
  .rept AT_ONCE
  ELEMENT
  .endr
  bne 2b
  ldr r7, [sp, #12]
  mov r0, r8
  mov r1, r9
  mov r2, r10
  mov r3, r11
  stm r7!, {r0-r3}
  str r7, [sp, #12]
  ldr r0, [sp, #8]
  subs r0, #4
  str r0, [sp, #8]
  bne 1b
  LEAVE 20
  .size deuteron_dot_1x4_thumb1, . - deuteron_dot_1x4_thumb1
#endif
