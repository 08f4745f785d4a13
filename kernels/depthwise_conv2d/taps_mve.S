// SPDX-License-Identifier: Apache-2.0
@ A depthwise window, a tap after the other, for the M-profile Vector Extension: contract in
@ kernels/depthwise_conv2d/taps_mve.h. Assembly, because gcc 12 moves the predicate for each load,
@ and keeps pointers on the stack.
  .syntax unified
  .thumb

@ Four sums, whose channels are every other one.   q7 places
.macro SCALES multiplier, shift
  vpstt
  vldrwt.u32 \multiplier, [r1, q7]
  vldrwt.u32 \shift, [r2, q7]
.endm
@ A tap. The odd products of the one before are in q5: they stand between loads, and are added also
@ where predicates leave lanes out, of which no channel is.
@   r1 r2 x and filter, which go on by r3 and r4   r8 x_offset   q0 q1 sums
.macro TAP from:vararg
  vpsttt
  vldrbt.s16 q2, [\from]
  vaddt.i32 q1, q1, q5
  vldrbt.s16 q3, [r2]
  vadd.i16 q2, q2, r8
  add r1, r3
  vmullb.s16 q4, q2, q3
  add r2, r4
  vmullt.s16 q5, q2, q3
  vadd.i32 q0, q0, q4
.endm
@ Of lr channels the odd ones; VCTP.16 is true for the first byte of an even one that is there.
@   r5 free
.macro ODD
  lsrs r5, lr, #1
  vctp.32 r5
.endm

@ void deuteron_taps_mve(const MveTaps*)
@ offsets: x 0, filter 4, y 8, bias 12, multiplier 16, shift 20, others 24, channels 28, rows 32,
@   taps 36, step 40, filter_step 44, row 48, filter_row 52, x_offset 56, y_zero 60, y_min 64, y_max
@   68
@ r0 arguments   r5 rows   r6 r7 x and filter of a row   r9 taps   r10 row   r11 filter_row
@   r12 channel   q6 others
  .section .text.deuteron_taps_mve, "ax", %progbits
  .global deuteron_taps_mve
  .type deuteron_taps_mve, %function
  .balign 4
deuteron_taps_mve:
  push {r4-r11, lr}
  sub sp, #4
  vpush {d8-d15}
  movs r2, #0
  vidup.u32 q7, r2, #8
  ldrd r1, lr, [r0, #24]
  cbz r1, 1f
  vldrh.u16 q6, [r1]
1:
  ldrd r9, r3, [r0, #36]
  ldrd r4, r10, [r0, #44]
  ldrd r11, r8, [r0, #52]
  mov r12, #0
2:                                  @ eight channels, of lr
  ldrd r6, r7, [r0]
  ldr r1, [r0, #12]
  vmov.i32 q0, #0
  vmov.i32 q1, #0
  vmov.i32 q5, #0
  vctp.16 lr
  cbz r1, 3f
  add r1, r1, r12, lsl #2
  vpst
  vldrwt.u32 q0, [r1, q7]
  adds r1, #4
  ODD
  vpst
  vldrwt.u32 q1, [r1, q7]
  vctp.16 lr
3:
  ldr r5, [r0, #32]
  add r6, r12
  add r7, r12
  cbz r5, 8f
4:                                  @ a row
  ldr lr, [r0, #24]
  mov r1, r6
  mov r2, r7
  cmp lr, #0
  dls lr, r9
  bne 6f
5:
  TAP r1
  le lr, 5b
  b 7f
6:
  TAP r1, q6
  le lr, 6b
7:
  add r6, r10
  add r7, r11
  subs r5, #1
  bne 4b
8:
  ldrd r1, r2, [r0, #16]
  ldr lr, [r0, #28]
  ldr r6, [r0, #60]
  add r1, r1, r12, lsl #2
  add r2, r2, r12, lsl #2
  sub lr, lr, r12
  vadd.i32 q1, q1, q5
  SCALES q2, q3
  adds r1, #4
  adds r2, #4
  ODD
  SCALES q4, q5
  vqrdmulh.s32 q0, q0, q2
  ldrd r1, r2, [r0, #64]
  vqrdmulh.s32 q1, q1, q4
  vand q2, q0, q3                   @ what is negative and has a shift loses one
  vand q4, q1, q5
  vshr.s32 q2, q2, #31
  vshr.s32 q4, q4, #31
  vqadd.s32 q0, q0, q2
  vqadd.s32 q1, q1, q4
  vrshl.s32 q0, q0, q3
  vrshl.s32 q1, q1, q5
  vdup.16 q2, r1
  vqmovnb.s32 q0, q0
  vdup.16 q3, r2
  ldr r1, [r0, #8]
  vqmovnt.s32 q0, q1
  add r1, r12
  vqadd.s16 q0, q0, r6
  vmax.s16 q0, q0, q2
  vmin.s16 q0, q0, q3
  vctp.16 lr
  vpst
  vstrbt.16 q0, [r1]
  add r12, r12, #8
  subs lr, #8
  bgt 2b
  vpop {d8-d15}
  add sp, #4
  pop {r4-r11, pc}
  .size deuteron_taps_mve, . - deuteron_taps_mve
