// SPDX-License-Identifier: Apache-2.0
@ What becomes of the sums of depthwise channels, for the M-profile Vector Extension: contract in
@ kernels/depthwise_conv2d/finish_mve.h. Assembly, because gcc 12 moves four vectors through the
@ stack on their way to VST4, which is much where a layer has few windows.
  .syntax unified
  .thumb

@ The sum of a channel's 16 taps -> a lane of q1.
.macro TAPS lane
  vldrb.u8 q0, [r0], #16
  vaddv.s8 lr, q0
  vmov.32 q1[\lane], lr
.endm
@ 16 taps before the others, of 64.
.macro TAPS_BEFORE
  vldrb.u8 q0, [r0, #-16]!
  vaddva.s8 lr, q0
.endm

@ void deuteron_finishes_mve(const MveFinishes*)
@ r0 taps   r1 bias   r2 multiplier   r3 shift   r4 to   r5 count   r6 x_offset   r7 wide
@   r8 left   r10 above
@ q0 added   q1 first   q2 multiplier   q3 shift   q4 shift to the top byte   q6 y_zero
@   q7 zero_and_half
  .section .text.deuteron_finishes_mve, "ax", %progbits
  .global deuteron_finishes_mve
  .type deuteron_finishes_mve, %function
  .balign 4
deuteron_finishes_mve:
  push {r4-r11, lr}
  vpush {d8-d15}
  ldm r0, {r0-r8, r10-r12}
  vdup.32 q6, r11
  vdup.32 q7, r12
  mov r9, #24
  mov r12, #0x20000000              @ no sum reaches it
1:
  cmp r7, #0
  bne 5f
  TAPS 0
  TAPS 1
  TAPS 2
  TAPS 3
2:
  vctp.32 r5
  vpstt
  vldrwt.u32 q2, [r2], #16
  vldrwt.u32 q3, [r3], #16
  vmul.i32 q1, q1, r6
  cbz r1, 4f
  vpstt
  vldrwt.u32 q0, [r1], #16
  vaddt.i32 q1, q1, q0
4:
  vadd.i32 q4, q3, r9
  vpt.i32 ne, q3, zr
  vaddt.i32 q4, q3, r8
  vneg.s32 q0, q3
  vqabs.s32 q5, q1
  vshl.s32 q0, q7, q0
  vpt.s32 gt, q3, r10
  vcmpt.s32 lt, q5, r12
  vshr.s32 q0, q0, #1
  vpsel q3, q4, q3
  vpsel q0, q0, q6
  vst40.32 {q0, q1, q2, q3}, [r4]
  vst41.32 {q0, q1, q2, q3}, [r4]
  vst42.32 {q0, q1, q2, q3}, [r4]
  vst43.32 {q0, q1, q2, q3}, [r4]!
  subs r5, #4
  bgt 1b
  vpop {d8-d15}
  pop {r4-r11, pc}
5:                                  @ 64 taps each, the last channel first: each sum moves those
                                    @ before it up by a lane
  add r0, r0, #256
  mov r11, #4
6:
  mov lr, #0
  TAPS_BEFORE
  TAPS_BEFORE
  TAPS_BEFORE
  TAPS_BEFORE
  vshlc q1, lr, #32
  subs r11, #1
  bne 6b
  add r0, r0, #256
  b 2b
  .size deuteron_finishes_mve, . - deuteron_finishes_mve
