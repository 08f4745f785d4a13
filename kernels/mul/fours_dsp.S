// SPDX-License-Identifier: Apache-2.0
@ Multiplication for the DSP extension: contracts in kernels/mul/fours_dsp.h. Assembly, because the
@ loops take all fourteen registers, and gcc 12 keeps no two results in flight, of which each waits
@ for its SMMLAR.
  .syntax unified
  .thumb

@ stack: 0 x, 4 y, 8 other, 12 end, 16 offset, 20 next
@   r0 x   r1 y   r2 right   r10 x_offset   r11 added   r12 multiplier   lr period
.macro ENTER
  push {r4-r11, lr}
  sub sp, #28
  ldm r0!, {r4-r9}
  stm sp, {r4-r9}
  ldm r0, {r2, r10, r11, r12, lr}
  ldm sp, {r0, r1, r9}
.endm
.macro LEAVE
  add sp, #28
  pop {r4-r11, pc}
.endm
@ Bytes 0 and 2 of four, or 1 and 3, which SXTAB16 has made of r3.   r5 those of x   r4 r6 r7 free
.macro TWO other, at
  smulbb r4, r5, \other
  smultt r5, r5, \other
  add r6, r11, r4, asr #31          @ halves go away from zero: one less from what is negative
  add r7, r11, r5, asr #31
  smmlar r6, r4, r12, r6
  smmlar r7, r5, r12, r7
  asrs r6, r2
  asrs r7, r2
  ssat r6, #8, r6
  ssat r7, #8, r7
  strb r6, [r1, #\at]
  strb r7, [r1, #\at + 2]
.endm

@ void deuteron_mul_row_dsp(const DspFours*)
  .section .text.deuteron_mul_row_dsp,"ax"
  .global deuteron_mul_row_dsp
  .type deuteron_mul_row_dsp, %function
  .balign 4
deuteron_mul_row_dsp:
  ENTER
  ldr lr, [sp, #16]
1:
  ldr r3, [r0], #4
  ldr r8, [r9], #4
  sxtab16 r5, r10, r3
  sxtab16 r7, lr, r8
  sxtab16 r7, r7, r8
  TWO r7, 0
  sxtab16 r7, lr, r8, ror #8
  sxtab16 r5, r10, r3, ror #8
  sxtab16 r7, r7, r8, ror #8
  ldr r3, [sp, #12]
  TWO r7, 1
  adds r1, #4
  cmp r1, r3
  blo 1b
  LEAVE
  .size deuteron_mul_row_dsp, . - deuteron_mul_row_dsp

@ void deuteron_mul_rows_dsp(const DspFours*)
  .section .text.deuteron_mul_rows_dsp,"ax"
  .global deuteron_mul_rows_dsp
  .type deuteron_mul_rows_dsp, %function
  .balign 4
deuteron_mul_rows_dsp:
  ENTER
1:                                  @ four of `other`
  ldr r4, [r9], #4
  adds r6, r0, #4
  ldr r5, [sp, #16]
  adds r7, r1, #4
  stm sp, {r6, r7, r9}
  sxtab16 r8, r5, r4
  sxtab16 r9, r5, r4, ror #8
  sxtab16 r8, r8, r4
  sxtab16 r9, r9, r4, ror #8
2:
  ldr r3, [r0]
  add r0, lr
  sxtab16 r5, r10, r3
  TWO r8, 0
  sxtab16 r5, r10, r3, ror #8
  ldr r3, [sp, #12]
  TWO r9, 1
  add r1, lr
  cmp r1, r3
  blo 2b
  ldm sp, {r0, r1, r9}
  ldr r3, [sp, #20]
  cmp r0, r3
  blo 1b
  LEAVE
  .size deuteron_mul_rows_dsp, . - deuteron_mul_rows_dsp
