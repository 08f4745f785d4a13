// SPDX-License-Identifier: Apache-2.0
@ Inner loops on packed weights for the M-profile Vector Extension: contracts in
@ kernels/dense/packed_mve.h, loops and schedules in packed_mve.inc; here the ends of tiles, for
@ int8 results. Assembly, because gcc 12 spills where all sixteen registers are needed.
#include "kernels/dense/packed_mve.inc"

  .syntax unified
  .thumb
.set WINDOWS_FRAME, 32
.macro TAKE_SHIFTS
.endm

@ Eight sums -> four bytes at r5, four at r7. VQRDMULH rounds halves up; VQMOVN saturates. \first:
@ first[]; \by: multipliers, which may be the same register. q7: y_zero. Each step waits for the one
@ before: \s1 to \s4 stand in between.
.macro FINISH a, b, first, by, s1, s2, s3, s4
  vmov \a[2], \a[0], r0, r4
  vmov \a[3], \a[1], r2, r6
  vmov \b[2], \b[0], r8, r12
  vadd.i32 \a, \a, \first
  vmov \b[3], \b[1], r10, r14
  .ifc \by, \first
  vadd.i32 \b, \b, \first
  vldrw.u32 \by, [r1], #16
  .else
  vldrw.u32 \by, [r1], #16
  vadd.i32 \b, \b, \first
  .endif
  vqrdmulh.s32 \a, \a, \by
  \s1
  vqrdmulh.s32 \b, \b, \by
  vqmovnb.s32 \a, \a
  \s2
  vqmovnt.s32 \a, \b
  \s3
  vqadd.s16 \a, \a, q7
  vqmovnb.s16 \a, \a
  \s4
  vstrb.32 \a, [r5], #4
  vshr.u32 \a, \a, #16
  vstrb.32 \a, [r7], #4
.endm

@ void deuteron_packed_windows_mve(const MvePackedWindows*)
@ offsets: x 0, step 4, y 8, y_step 12, packed 16, blocks 20, tiles 24, y_zero 28, windows 32
  .section .text.deuteron_packed_windows_mve,"ax"
  .global deuteron_packed_windows_mve
  .type deuteron_packed_windows_mve, %function
  .balign 4
deuteron_packed_windows_mve:
  ENTER_WINDOWS
  ldr r4, [r0, #28]
  vdup.16 q7, r4
  PACKED_WINDOWS 0
  .size deuteron_packed_windows_mve, . - deuteron_packed_windows_mve

.macro SHIFT sums, by, rest
  vand \rest, \sums, \by
  vshr.s32 \rest, \rest, #31
  vqadd.s32 \sums, \sums, \rest
  vrshl.s32 \sums, \sums, \by
.endm

@ All of a function for one window.
@ offsets: x 0, last 4, packed 8, y 12, blocks 16, pairs 20, second 24, y_zero 28, shifts 32, with
@   \active also left out 36, more 40
@ stack: 0 x, 4 blocks, 8 pairs left, 12 shifts, 16 left out, 20 more;  r9 second   q6 last block
@   q7 y_zero
.macro ONE_WINDOW active, frame
  push {r4-r11, lr}
  sub sp, sp, #4
  vpush {d8-d15}
  sub sp, sp, #\frame
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
  .if \active
  vmov.i8 q3, #128
  ldrd r4, r5, [r0, #36]
  veor q6, q6, q3
  strd r4, r5, [sp, #16]
  .endif
1:                                  @ two tiles
  .if \active
  vmov.i8 q3, #128
  SUMS_OF_ONE u8, veor q0, q0, q3
  ldrd r1, r11, [sp, #16]
  add r3, r3, r1
  add r5, r5, r1
  .else
  SUMS_OF_ONE
  .endif
                                    @ eight sums -> eight bytes
  vmov q0[2], q0[0], r0, r4
  vldrw.u32 q2, [r3], #16
  vmov q0[3], q0[1], r2, r6
  vldrw.u32 q3, [r3]
  vmov q1[2], q1[0], r8, r12
  vadd.i32 q0, q0, q2
  vmov q1[3], q1[1], r10, r14
  vldrw.u32 q2, [r5], #16
  .if \active
  vadd.i32 q0, q0, r11
  .endif
  ldr r4, [sp, #12]
  vadd.i32 q1, q1, q2
  vldrw.u32 q4, [r5], #16
  .if \active
  vadd.i32 q1, q1, r11
  .endif
  cmp r4, #0
  bne 8f                            @ the filters have shifts
  vqrdmulh.s32 q0, q0, q3
  vqrdmulh.s32 q1, q1, q4
7:
  vqmovnb.s32 q0, q0
  vqmovnt.s32 q0, q1                @ results of both tiles in turns
  mov r3, r5
  ldr r4, [sp, #8]
  vqadd.s16 q0, q0, q7
  vqmovnb.s16 q0, q0
  subs r4, #1
  vstrb.32 q0, [r7], #4
  str r4, [sp, #8]
  vshr.u32 q0, q0, #16
  vstrb.32 q0, [r7], #4
  bne 1b
  add sp, sp, #\frame
  vpop {d8-d15}
  add sp, sp, #4
  pop {r4-r11, pc}
  NO_BLOCKS_BEFORE
8:                                  @ what is negative and has a shift loses one first, so that
                                    @ halves go away from zero
  ldr r6, [r4]
  vldrw.u32 q2, [r4], #16
  vldrw.u32 q5, [r4], #16
  str r4, [sp, #12]
  cmp r6, #0
  bgt 9f
  vqrdmulh.s32 q0, q0, q3
  vqrdmulh.s32 q1, q1, q4
  SHIFT q0, q2, q3
  SHIFT q1, q5, q3
  b 7b
9:                                  @ rounded once: VQDMULH cuts off, and VRSHL, which reads the low
                                    @ byte of a shift, rounds halves up
  vqdmulh.s32 q0, q0, q3
  vqdmulh.s32 q1, q1, q4
  vrshl.s32 q0, q0, q2
  vrshl.s32 q1, q1, q5
  b 7b
.endm

@ void deuteron_packed_window_mve(const MvePackedWindow*)
  .section .text.deuteron_packed_window_mve,"ax"
  .global deuteron_packed_window_mve
  .type deuteron_packed_window_mve, %function
  .balign 4
deuteron_packed_window_mve:
  ONE_WINDOW 0, 16
  .size deuteron_packed_window_mve, . - deuteron_packed_window_mve

@ void deuteron_packed_active_mve(const MvePackedActive*)
  .section .text.deuteron_packed_active_mve,"ax"
  .global deuteron_packed_active_mve
  .type deuteron_packed_active_mve, %function
  .balign 4
deuteron_packed_active_mve:
  ONE_WINDOW 1, 24
  .size deuteron_packed_active_mve, . - deuteron_packed_active_mve
