// SPDX-License-Identifier: Apache-2.0
@ Inner loops of int16 convolution for the M-profile Vector Extension: contracts in
@ kernels/conv2d/s16/windows_mve.h, blocks and loops in kernels/dense/packed_mve.inc, whose vectors
@ hold half as many elements here. Assembly, because gcc 12 spills where all sixteen registers are
@ needed.
#include "kernels/dense/packed_mve.inc"

  .syntax unified
  .thumb
.set WINDOWS_FRAME, 32

@ void deuteron_s16_windows_mve(const MveS16Windows*)
@ offsets: x 0, step 4, y 8, y_step 12, packed 16, blocks 20, tiles 24, y_min 28, windows 32, y_max
@   36
@ q6 y_min   q7 y_max
  .section .text.deuteron_s16_windows_mve,"ax"
  .global deuteron_s16_windows_mve
  .type deuteron_s16_windows_mve, %function
  .balign 4
deuteron_s16_windows_mve:
  ENTER_WINDOWS
  ldr r4, [r0, #28]
  vdup.32 q6, r4
  ldr r4, [r0, #36]
  vdup.32 q7, r4
  READ_WINDOWS 3f, 4
1:
  TAKE_WINDOWS
2:                                  @ a tile
  ldr r3, [sp, #8]
  ldrd r9, r11, [sp]
  vldrb.u8 q2, [r1], #16
  BLOCK vmladav, s16
  cbz r3, 4f
  ldr pc, [sp, #24]
4:
  b 5f
  .balign 4
3:
  .rept 4
  BLOCK vmladava, s16
  .endr
  subs r3, #1
  bne 3b
5:                                  @ eight sums -> four results at r5, four at r7. VQRDMULH rounds
                                    @ halves up. q2: first[]
  vmov q4[2], q4[0], r0, r4
  vmov q4[3], q4[1], r2, r6
  vmov q5[2], q5[0], r8, r12
  vadd.i32 q4, q4, q2
  vmov q5[3], q5[1], r10, r14
  vadd.i32 q5, q5, q2
  vldrw.u32 q2, [r1], #16
  vqrdmulh.s32 q4, q4, q2
  vqrdmulh.s32 q5, q5, q2
  vmax.s32 q4, q4, q6
  vmin.s32 q4, q4, q7
  vmax.s32 q5, q5, q6
  vstrh.32 q4, [r5], #8
  vmin.s32 q5, q5, q7
  vstrh.32 q5, [r7], #8
  ldr r3, [sp, #20]
  cmp r1, r3
  bne 2b
  GO_ON_FROM 1b, 1
  .size deuteron_s16_windows_mve, . - deuteron_s16_windows_mve

@ void deuteron_s16_window_mve(const MveS16Window*)
@ offsets: x 0, packed 4, y 8, blocks 12, pairs 16, second 20, y_min 24, y_max 28
@ stack: 0 x, 4 blocks, 8 pairs left;  r7 y   r9 second   q6 y_min   q7 y_max
  .section .text.deuteron_s16_window_mve,"ax"
  .global deuteron_s16_window_mve
  .type deuteron_s16_window_mve, %function
  .balign 4
deuteron_s16_window_mve:
  push {r4-r11, lr}
  sub sp, sp, #4
  vpush {d8-d15}
  sub sp, sp, #16
  ldrd r1, r3, [r0]
  ldrd r7, r4, [r0, #8]
  ldrd r5, r9, [r0, #16]
  strd r1, r4, [sp]
  str r5, [sp, #8]
  ldrd r4, r6, [r0, #24]
  vdup.32 q6, r4
  vdup.32 q7, r6
1:                                  @ two tiles
  ldrd r1, r11, [sp]
  add r5, r3, r9
  BLOCKS_OF_ONE s16, 4f
4:                                  @ eight sums -> eight results
  vmov q0[2], q0[0], r0, r4
  vldrw.u32 q2, [r3], #16
  vmov q0[3], q0[1], r2, r6
  vldrw.u32 q3, [r3]
  vmov q1[2], q1[0], r8, r12
  vadd.i32 q0, q0, q2
  vmov q1[3], q1[1], r10, r14
  vldrw.u32 q2, [r5], #16
  vqrdmulh.s32 q0, q0, q3
  vadd.i32 q1, q1, q2
  vldrw.u32 q3, [r5], #16
  vqrdmulh.s32 q1, q1, q3
  vmax.s32 q0, q0, q6
  vmin.s32 q0, q0, q7
  vmax.s32 q1, q1, q6
  vstrh.32 q0, [r7], #8
  vmin.s32 q1, q1, q7
  vstrh.32 q1, [r7], #8
  mov r3, r5
  ldr r4, [sp, #8]
  subs r4, #1
  str r4, [sp, #8]
  bne 1b
  add sp, sp, #16
  vpop {d8-d15}
  add sp, sp, #4
  pop {r4-r11, pc}
  .size deuteron_s16_window_mve, . - deuteron_s16_window_mve
