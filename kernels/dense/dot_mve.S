// SPDX-License-Identifier: Apache-2.0
@ Inner loops for the M-profile Vector Extension: contracts in kernels/dense/dot_mve.h. Assembly,
@ because gcc 12 spills where all sixteen registers are needed: every even core register is a sum of
@ VMLADAVA (which takes only even ones), every odd one a pointer or the counter.
@
@ Order of a block, for Cortex-M55: a vector instruction takes two cycles and overlaps with its
@ neighbour when that uses the other pipe, so loads stand between multiply-accumulates. No load runs
@ ahead of its block: nothing behind the weights is read. What is left of a filter after whole
@ blocks is loaded under a predicate, which makes the other lanes zero.
  .syntax unified
  .thumb

@ 16 elements of 2 windows and 4 filters: 6 loads, 8 multiply-accumulates.
@   r1 windows   r3 r5 r7 r9 filters   r0 r2 r4 r6 sums of the first window
@     r8 r10 r12 r14 of the second
.macro BLOCK_2X4 op
  vldrb.u8 q1, [r1, #16]
  vldrb.u8 q0, [r1], #32
  vldrb.u8 q2, [r3], #16
  \op\().s8 r0, q0, q2
  vldrb.u8 q3, [r5], #16
  \op\().s8 r8, q1, q2
  vldrb.u8 q4, [r7], #16
  \op\().s8 r2, q0, q3
  vldrb.u8 q5, [r9], #16
  \op\().s8 r10, q1, q3
  \op\().s8 r4, q0, q4
  \op\().s8 r12, q1, q4
  \op\().s8 r6, q0, q5
  \op\().s8 r14, q1, q5
.endm

@ What requantize() of kernels/integer/requantize.h does behind the doubling high product (VQRDMULH:
@ it rounds halves up), for shifts of 0 and below: a rounding shift right, where one less is taken
@ from what is negative, so that halves go away from zero. A shift of 0 takes nothing.
.macro SHIFT v, shift, tmp
  vand \tmp, \v, \shift
  vshr.s32 \tmp, \tmp, #31
  vqadd.s32 \v, \v, \tmp
  vrshl.s32 \v, \v, \shift
.endm

@ void deuteron_dot_2x4_mve(const MveDot2x4*)
@ offsets: x 0, weight 4, length 8, row_step 12, rescale 16, y0 20, y1 24, tiles 28, y_zero 32,
@   y_min 36, y_max 40, is_shifted 44, more 48
@ stack: 0 x, 4 row_step, 8 blocks, 12 rest, 16 y0, 20 y1, 24 rescale, 28 its end, 32 y_zero, 36
@   is_shifted, 40 more
  .section .text.deuteron_dot_2x4_mve,"ax"
  .global deuteron_dot_2x4_mve
  .type deuteron_dot_2x4_mve, %function
  .balign 4
deuteron_dot_2x4_mve:
  push {r4-r11, lr}
  sub sp, sp, #4
  vpush {d8-d15}
  sub sp, sp, #48
  ldrd r1, r9, [r0]
  ldrd r3, r4, [r0, #8]
  strd r1, r4, [sp]
  lsrs r5, r3, #4
  and r3, r3, #15
  strd r5, r3, [sp, #8]
  ldrd r5, r6, [r0, #20]
  strd r5, r6, [sp, #16]
  ldr r5, [r0, #16]
  ldr r6, [r0, #28]
  add r6, r6, r6, lsl #1
  add r6, r5, r6, lsl #4            @ 48 bytes a tile
  strd r5, r6, [sp, #24]
  ldrd r5, r6, [r0, #32]
  ldrd r7, r8, [r0, #40]
  strd r5, r8, [sp, #32]
  ldrd r5, r8, [r0, #48]
  strd r5, r8, [sp, #40]
  vdup.16 q6, r6
  vdup.16 q7, r7
1:                                  @ a tile of four filters, the first of them at r9
  ldrd r1, r0, [sp]
  mov r3, r9
  ldr r11, [sp, #8]
  add r5, r9, r0
  add r7, r5, r0
  add r9, r7, r0
  cmp r11, #0
  beq 6f
  BLOCK_2X4 vmladav
  lsrs r11, r11, #1                 @ two blocks a turn; carry: the blocks left are even in number
  bcc 3f
  beq 4f
2:
  BLOCK_2X4 vmladava
3:
  BLOCK_2X4 vmladava
  subs r11, #1
  bne 2b
4:
  ldr r11, [sp, #12]
  cmp r11, #0
  beq 5f
  b 7f
6:
  movs r0, #0
  movs r2, #0
  movs r4, #0
  movs r6, #0
  mov r8, r0
  mov r10, r0
  mov r12, r0
  mov r14, r0
  ldr r11, [sp, #12]
7:                                  @ the rest of the filters
  vctp.8 r11
  vpstttt
  vldrbt.u8 q2, [r3]
  vldrbt.u8 q3, [r5]
  vldrbt.u8 q4, [r7]
  vldrbt.u8 q5, [r9]
  add r9, r11
  vldrb.u8 q0, [r1]
  vldrb.u8 q1, [r1, #16]
  vmladava.s8 r0, q0, q2
  vmladava.s8 r2, q0, q3
  vmladava.s8 r4, q0, q4
  vmladava.s8 r6, q0, q5
  vmladava.s8 r8, q1, q2
  vmladava.s8 r10, q1, q3
  vmladava.s8 r12, q1, q4
  vmladava.s8 r14, q1, q5
5:                                  @ eight sums -> four bytes of each window
  ldr r1, [sp, #24]
  vmov q0[2], q0[0], r0, r4
  vmov q0[3], q0[1], r2, r6
  vldrw.u32 q2, [r1], #16
  vmov q1[2], q1[0], r8, r12
  vadd.i32 q0, q0, q2
  vmov q1[3], q1[1], r10, r14
  ldrd r0, r3, [sp, #40]
  vadd.i32 q1, q1, q2
  vldrw.u32 q3, [r1], #16
  vadd.i32 q0, q0, r0
  vadd.i32 q1, q1, r3
  ldrd r0, r3, [sp, #32]
  vqrdmulh.s32 q0, q0, q3
  vqrdmulh.s32 q1, q1, q3
  cbz r3, 8f
  vldrw.u32 q4, [r1]
  SHIFT q0, q4, q5
  SHIFT q1, q4, q5
8:
  adds r1, #16
  ldrd r5, r7, [sp, #16]
  vadd.i32 q0, q0, r0
  vadd.i32 q1, q1, r0
  ldr r0, [sp, #28]
  vqmovnb.s32 q0, q0
  vqmovnt.s32 q0, q1
  str r1, [sp, #24]
  vmax.s16 q0, q0, q6
  cmp r1, r0
  vmin.s16 q0, q0, q7
  vstrb.32 q0, [r5], #4
  vshr.u32 q0, q0, #16
  vstrb.32 q0, [r7], #4
  strd r5, r7, [sp, #16]
  bne 1b
  add sp, sp, #48
  vpop {d8-d15}
  add sp, sp, #4
  pop {r4-r11, pc}
  .size deuteron_dot_2x4_mve, . - deuteron_dot_2x4_mve

@ 16 elements of a window and 4 filters: 5 loads, 4 multiply-accumulates, 4 sums of weights.
@   r1 window   r3 r5 r7 r9 filters   r0 r2 r4 r6 sums   r8 r10 r12 r14 sums of the weights
.macro BLOCK_1X4 op, sum
  vldrb.u8 q0, [r1], #16
  vldrb.u8 q1, [r3], #16
  \op\().s8 r0, q0, q1
  vldrb.u8 q2, [r5], #16
  \sum\().s8 r8, q1
  vldrb.u8 q3, [r7], #16
  \op\().s8 r2, q0, q2
  vldrb.u8 q4, [r9], #16
  \sum\().s8 r10, q2
  \op\().s8 r4, q0, q3
  \sum\().s8 r12, q3
  \op\().s8 r6, q0, q4
  \sum\().s8 r14, q4
.endm

@ void deuteron_dot_1x4_mve(const MveDot1x4*)
@ offsets: x 0, weight 4, length 8, row_step 12, first 16, multiplier 20, shift 24, x_offset 28,
@   more 32, y 36, tiles 40, y_zero 44, y_min 48,
@          y_max 52, is_shifted 56
@ stack: 0 x, 4 row_step, 8 blocks, 12 rest, 16 first, 20 multiplier, 24 shift, 28 y, 32 x_offset,
@   36 more, 40 is_shifted, 44 y_zero, 48 end of y
  .section .text.deuteron_dot_1x4_mve,"ax"
  .global deuteron_dot_1x4_mve
  .type deuteron_dot_1x4_mve, %function
  .balign 4
deuteron_dot_1x4_mve:
  push {r4-r11, lr}
  sub sp, sp, #4
  vpush {d8-d15}
  sub sp, sp, #56
  ldrd r1, r9, [r0]
  ldrd r3, r4, [r0, #8]
  strd r1, r4, [sp]
  ldrd r5, r6, [r0, #28]
  strd r5, r6, [sp, #32]
  ldr r5, [r0, #56]
  ldr r6, [r0, #44]
  strd r5, r6, [sp, #40]
  lsrs r5, r3, #4
  and r3, r3, #15
  strd r5, r3, [sp, #8]
  ldrd r5, r6, [r0, #16]
  strd r5, r6, [sp, #16]
  ldr r5, [r0, #24]
  ldrd r6, r7, [r0, #36]
  strd r5, r6, [sp, #24]
  add r6, r6, r7, lsl #2
  str r6, [sp, #48]
  ldrd r6, r7, [r0, #48]
  vdup.32 q6, r6
  vdup.32 q7, r7
1:                                  @ a tile of four filters, the first of them at r9
  ldrd r1, r0, [sp]
  mov r3, r9
  ldr r11, [sp, #8]
  add r5, r9, r0
  add r7, r5, r0
  add r9, r7, r0
  cmp r11, #0
  beq 6f
  BLOCK_1X4 vmladav, vaddv
  sub r11, r11, #1
  tst r11, #1
  beq 2f
  BLOCK_1X4 vmladava, vaddva
2:
  tst r11, #2
  beq 3f
  BLOCK_1X4 vmladava, vaddva
  BLOCK_1X4 vmladava, vaddva
3:
  lsrs r11, r11, #2                 @ four blocks a turn
  beq 4f
9:
  .rept 4
  BLOCK_1X4 vmladava, vaddva
  .endr
  subs r11, #1
  bne 9b
4:
  ldr r11, [sp, #12]
  cmp r11, #0
  beq 5f
  b 7f
6:
  movs r0, #0
  movs r2, #0
  movs r4, #0
  movs r6, #0
  mov r8, r0
  mov r10, r0
  mov r12, r0
  mov r14, r0
  ldr r11, [sp, #12]
7:                                  @ the rest of the filters
  vctp.8 r11
  vpstttt
  vldrbt.u8 q1, [r3]
  vldrbt.u8 q2, [r5]
  vldrbt.u8 q3, [r7]
  vldrbt.u8 q4, [r9]
  vpst
  vldrbt.u8 q0, [r1]
  add r9, r11
  vmladava.s8 r0, q0, q1
  vaddva.s8 r8, q1
  vmladava.s8 r2, q0, q2
  vaddva.s8 r10, q2
  vmladava.s8 r4, q0, q3
  vaddva.s8 r12, q3
  vmladava.s8 r6, q0, q4
  vaddva.s8 r14, q4
5:                                  @ four sums -> four bytes
  ldrd r1, r3, [sp, #16]            @ first, multiplier
  ldrd r5, r7, [sp, #24]            @ shift, y
  vmov q0[2], q0[0], r0, r4
  vmov q0[3], q0[1], r2, r6
  ldrd r4, r6, [sp, #32]            @ x_offset, more
  vmov q1[2], q1[0], r8, r12
  vmov q1[3], q1[1], r10, r14
  vldrw.u32 q2, [r1], #16
  vmla.s32 q0, q1, r4
  vadd.i32 q2, q2, r6
  vldrw.u32 q3, [r3], #16
  vadd.i32 q0, q0, q2
  strd r1, r3, [sp, #16]
  ldrd r3, r0, [sp, #40]
  vqrdmulh.s32 q0, q0, q3
  cbz r3, 8f
  vldrw.u32 q4, [r5], #16
  SHIFT q0, q4, q5
8:
  vadd.i32 q0, q0, r0
  vmax.s32 q0, q0, q6
  ldr r0, [sp, #48]
  vmin.s32 q0, q0, q7
  vstrb.32 q0, [r7], #4
  strd r5, r7, [sp, #24]
  cmp r7, r0
  bne 1b
  add sp, sp, #56
  vpop {d8-d15}
  add sp, sp, #4
  pop {r4-r11, pc}
  .size deuteron_dot_1x4_mve, . - deuteron_dot_1x4_mve

@ void deuteron_interleave_mve(const int8_t* a, const int8_t* b, int32_t blocks, int8_t* to, int32_t
@   rows, int32_t row_step)
  .section .text.deuteron_interleave_mve,"ax"
  .global deuteron_interleave_mve
  .type deuteron_interleave_mve, %function
  .balign 4
deuteron_interleave_mve:
  push {r4-r7, lr}
  ldrd r4, r5, [sp, #20]            @ rows, row_step
1:
  mov r6, r0
  mov r7, r1
  dls lr, r2
2:
  vldrb.u8 q0, [r6], #16
  vldrb.u8 q1, [r7], #16
  vstrb.8 q1, [r3, #16]
  vstrb.8 q0, [r3], #32
  le lr, 2b
  add r0, r5
  add r1, r5
  subs r4, #1
  bne 1b
  pop {r4-r7, pc}
  .size deuteron_interleave_mve, . - deuteron_interleave_mve
