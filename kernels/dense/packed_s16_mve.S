// SPDX-License-Identifier: Apache-2.0
@ Inner loops on packed weights with int16 results for the M-profile Vector Extension: contracts in
@ kernels/dense/packed_mve.h, loops and schedules in packed_mve.inc; here the ends of tiles.
@ Assembly, because gcc 12 spills where all sixteen registers are needed.
#include "kernels/dense/packed_mve.inc"

  .syntax unified
  .thumb
.set WINDOWS_FRAME, 32
.macro TAKE_SHIFTS
.endm

@ Eight sums -> four int16 at r5, four at r7: shifted left, multiplied, clamped. \first: first[],
@ then the multipliers, then y_max. r0 r2 r4: free, as all sums are. q7: y_min.
.macro FINISH a, b, first, by, s1, s2, s3, s4
  vmov \a[2], \a[0], r0, r4
  vmov \a[3], \a[1], r2, r6
  ldr r0, [sp, #16]
  vmov \b[2], \b[0], r8, r12
  vadd.i32 \a, \a, \first
  ldrd r4, r2, [r0, #36]
  vmov \b[3], \b[1], r10, r14
  vadd.i32 \b, \b, \first
  vldrw.u32 \first, [r1], #16
  vshl.s32 \a, r4
  vqrdmulh.s32 \a, \a, \first
  \s1
  vshl.s32 \b, r4
  vqrdmulh.s32 \b, \b, \first
  vdup.16 \first, r2
  vqmovnb.s32 \a, \a
  \s2
  vqmovnt.s32 \a, \b
  \s3
  vmax.s16 \a, \a, q7
  vmin.s16 \a, \a, \first
  \s4
  vstrh.32 \a, [r5], #8
  vshr.u32 \a, \a, #16
  vstrh.32 \a, [r7], #8
.endm

@ void deuteron_packed_windows_s16_mve(const MvePackedWindowsS16*)
@ offsets: x 0, step 4, y 8, y_step 12, packed 16, blocks 20, tiles 24, y_min 28, windows 32, shift
@   36, y_max 40
  .section .text.deuteron_packed_windows_s16_mve,"ax"
  .global deuteron_packed_windows_s16_mve
  .type deuteron_packed_windows_s16_mve, %function
  .balign 4
deuteron_packed_windows_s16_mve:
  ENTER_WINDOWS
  ldr r4, [r0, #28]
  vdup.16 q7, r4
  PACKED_WINDOWS 1, 4, 1
  .size deuteron_packed_windows_s16_mve, . - deuteron_packed_windows_s16_mve

@ void deuteron_packed_window_s16_mve(const MvePackedWindowS16*)
@ offsets: x 0, last 4, packed 8, y 12, blocks 16, pairs 20, second 24, y_min 28, shift 32, y_max 36
@ stack: 0 x, 4 blocks, 8 pairs left, 12 shift;  r9 second   q5 y_max   q6 last block   q7 y_min
  .section .text.deuteron_packed_window_s16_mve,"ax"
  .global deuteron_packed_window_s16_mve
  .type deuteron_packed_window_s16_mve, %function
  .balign 4
deuteron_packed_window_s16_mve:
  push {r4-r11, lr}
  sub sp, sp, #4
  vpush {d8-d15}
  sub sp, sp, #16
  ldrd r1, r2, [r0]
  vldrb.u8 q6, [r2]
  ldrd r3, r7, [r0, #8]
  ldrd r4, r5, [r0, #16]
  strd r1, r4, [sp]
  str r5, [sp, #8]
  ldrd r9, r6, [r0, #24]
  vdup.16 q7, r6
  ldr r6, [r0, #32]
  str r6, [sp, #12]
  ldr r6, [r0, #36]
  vdup.16 q5, r6
1:                                  @ two tiles
  SUMS_OF_ONE
                                    @ eight sums -> eight results
  vmov q0[2], q0[0], r0, r4
  vldrw.u32 q2, [r3], #16
  vmov q0[3], q0[1], r2, r6
  vldrw.u32 q3, [r3]
  vmov q1[2], q1[0], r8, r12
  vadd.i32 q0, q0, q2
  ldr r4, [sp, #12]
  vmov q1[3], q1[1], r10, r14
  vldrw.u32 q2, [r5], #16
  vshl.s32 q0, r4
  vqrdmulh.s32 q0, q0, q3
  vadd.i32 q1, q1, q2
  vldrw.u32 q3, [r5], #16
  vshl.s32 q1, r4
  vqrdmulh.s32 q1, q1, q3
  vqmovnb.s32 q0, q0
  vqmovnt.s32 q0, q1
  mov r3, r5
  vmax.s16 q0, q0, q7
  ldr r4, [sp, #8]
  vmin.s16 q0, q0, q5
  subs r4, #1
  vstrh.32 q0, [r7], #8
  str r4, [sp, #8]
  vshr.u32 q0, q0, #16
  vstrh.32 q0, [r7], #8
  bne 1b
  add sp, sp, #16
  vpop {d8-d15}
  add sp, sp, #4
  pop {r4-r11, pc}
  NO_BLOCKS_BEFORE
  .size deuteron_packed_window_s16_mve, . - deuteron_packed_window_s16_mve
