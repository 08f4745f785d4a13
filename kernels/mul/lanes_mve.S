// SPDX-License-Identifier: Apache-2.0
@ Multiplication for the M-profile Vector Extension: contracts in kernels/mul/lanes_mve.h. Assembly,
@ because what makes bytes of eight products waits for itself step by step, and gcc 12 does not put
@ the next products in between.
  .syntax unified
  .thumb

@ r0 arguments   r1 x   r2 other   r3 y   r4 x_zero   r5 other_zero   r6 multiplier   r7 shift
@ r8 where there is a shift 1, or -1 for a multiplier below 0: VQDMLAH takes 1 from what becomes
@ negative, so that halves go away from zero
@ r9 y_zero   r10 from a row to the next   r2 the same of x, behind the first rows
@ offsets: x_zero 8, other_zero 12, y_zero 16, multiplier 20, shift 24
.macro ENTER
  push {r4-r10, lr}
  vpush {d8-d13}
  ldrd r4, r5, [r0, #8]
  ldrd r9, r6, [r0, #16]
  ldr r7, [r0, #24]
  ldr lr, [sp, #80]
  asr r8, r6, #31
  cmp r7, #0
  ite eq
  moveq r8, #0
  orrne r8, r8, #1
.endm
.macro LEAVE
  vpop {d8-d13}
  pop {r4-r10, pc}
.endm
.macro PRODUCTS
  vmullb.s16 q2, q0, q1
  vmullt.s16 q3, q0, q1
  vqrdmulh.s32 q4, q2, r6
  vqrdmulh.s32 q5, q3, r6
  vqdmlah.s32 q4, q2, r8
  vqdmlah.s32 q5, q3, r8
.endm
.macro FINISH
  vrshl.s32 q4, r7
  vrshl.s32 q5, r7
  vqmovnb.s32 q4, q4
  vqmovnt.s32 q4, q5
  vqadd.s16 q4, q4, r9
  vqmovnb.s16 q4, q4
.endm

  .section .text.deuteron_mul_row_mve,"ax"
  .global deuteron_mul_row_mve
  .type deuteron_mul_row_mve, %function
  .balign 4
deuteron_mul_row_mve:
  ENTER
  mov r10, lr                       @ not by LETP: halves of a last product would be left out
1:
  vctp.16 r10
  vpstt
  vldrbt.s16 q0, [r1], #8
  vldrbt.s16 q1, [r2], #8
  vsub.i16 q0, q0, r4
  vsub.i16 q1, q1, r5
  PRODUCTS
  FINISH
  vpst
  vstrbt.16 q4, [r3], #8
  subs r10, #8
  bgt 1b
  LEAVE
  .size deuteron_mul_row_mve, . - deuteron_mul_row_mve

  .section .text.deuteron_mul_rows_mve,"ax"
  .global deuteron_mul_rows_mve
  .type deuteron_mul_rows_mve, %function
  .balign 4
deuteron_mul_rows_mve:
  ENTER
  ldr r10, [r0, #4]
  vldrb.s16 q1, [r2]
  vldrb.s16 q0, [r1]
  vsub.i16 q1, q1, r5
  vsub.i16 q0, q0, r4
  PRODUCTS
  subs lr, #2
  blt 2f
  add r1, r10
  mov r2, r10
  vldrb.s16 q0, [r1]
  vsub.i16 q0, q0, r4
  wls lr, lr, 3f
1:                                  @ the products of a row, between the steps of the one before
  vrshl.s32 q4, r7
  add r1, r2
  vmullb.s16 q2, q0, q1
  vqmovnb.s32 q6, q4
  vqrdmulh.s32 q4, q2, r6
  vrshl.s32 q5, r7
  vmullt.s16 q3, q0, q1
  vqmovnt.s32 q6, q5
  vqrdmulh.s32 q5, q3, r6
  vldrb.s16 q0, [r1]
  vqadd.s16 q6, q6, r9
  vqdmlah.s32 q4, q2, r8
  vqmovnb.s16 q6, q6
  vqdmlah.s32 q5, q3, r8
  vsub.i16 q0, q0, r4
  vstrb.16 q6, [r3]
  add r3, r10
  le lr, 1b
3:                                  @ the last one has none behind it: it loads itself again
  cbz r2, 2f
  movs r2, #0
  mov lr, #1
  b 1b
2:
  FINISH
  vstrb.16 q4, [r3]
  LEAVE
  .size deuteron_mul_rows_mve, . - deuteron_mul_rows_mve
