// SPDX-License-Identifier: Apache-2.0
@ The inner loop over many windows for filters with shifts: contract in
@ kernels/dense/packed_shifts_mve.h, loops and schedules in packed_mve.inc; here the end of a tile.
@ Assembly, because gcc 12 spills where all sixteen registers are needed.
#include "kernels/dense/packed_mve.inc"

  .syntax unified
  .thumb
.set WINDOWS_FRAME, 40
.macro TAKE_SHIFTS
  ldr r3, [r0, #36]
  str r3, [sp, #36]
.endm

@ As FINISH of packed_mve.S, and VRSHL behind the product. It rounds halves up, and halves are to go
@ away from zero: what is negative loses one first. With a zero point of -128 that is left out, as
@ what is not positive becomes -128. Stack: 32 1 where negative products lose one, else 0, 36
@ shifts.
.macro FINISH a, b, first, by, s1, s2, s3, s4
  vmov \a[2], \a[0], r0, r4
  vmov \a[3], \a[1], r2, r6
  ldrd r0, r2, [sp, #32]
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
  vldrw.u32 \by, [r2], #16
  str r2, [sp, #36]
  cbz r0, 14f
  vpt.s32 lt, \a, zr
  vsubt.i32 \a, \a, r0
  vpt.s32 lt, \b, zr
  vsubt.i32 \b, \b, r0
14:
  vrshl.s32 \a, \a, \by
  \s2
  vrshl.s32 \b, \b, \by
  vqmovnb.s32 \a, \a
  \s3
  vqmovnt.s32 \a, \b
  vqadd.s16 \a, \a, q7
  vqmovnb.s16 \a, \a
  \s4
  vstrb.32 \a, [r5], #4
  vshr.u32 \a, \a, #16
  vstrb.32 \a, [r7], #4
.endm

@ The same, and the first two blocks of the next tile in between. VQDMLAH takes r6 from what is
@ negative. Then r9 r11 windows, q2 weights, r3 turns.
.macro FINISH_AND_MEET
  ldrd r9, r11, [sp]
  vmov q4[2], q4[0], r0, r4
  vldrb.u8 q3, [r1, #16]
  vmov q5[2], q5[0], r8, r12
  vmov q4[3], q4[1], r2, r6
  vldrb.u8 q1, [r11], #16
  vmov q5[3], q5[1], r10, r14
  vldrb.u8 q0, [r9], #16
  vmladav.s8 r8, q1, q3
  vadd.i32 q4, q4, q2
  vmladav.s8 r0, q0, q3
  vadd.i32 q5, q5, q2
  vldrw.u32 q2, [r1], #32
  ldrd r6, r3, [sp, #32]
  vqrdmulh.s32 q4, q4, q2
  vldrb.u8 q3, [r1], #16
  vqrdmulh.s32 q5, q5, q2
  vldrw.u32 q6, [r3], #16
  vqdmlah.s32 q4, q4, r6
  vldrb.u8 q2, [r1], #16
  vqdmlah.s32 q5, q5, r6
  vrshl.s32 q4, q4, q6
  vmladav.s8 r10, q1, q3
  vrshl.s32 q5, q5, q6
  vmladav.s8 r2, q0, q3
  vqmovnb.s32 q4, q4
  vmladav.s8 r12, q1, q2
  vldrb.u8 q3, [r1], #16
  vmladav.s8 r4, q0, q2
  vqmovnt.s32 q4, q5
  vmladav.s8 r14, q1, q3
  vldrb.u8 q2, [r1], #16
  vmladav.s8 r6, q0, q3
  vldrb.u8 q1, [r11], #16
  vmladava.s8 r8, q1, q2
  vqadd.s16 q4, q4, q7
  vldrb.u8 q0, [r9], #16
  vmladava.s8 r0, q0, q2
  vldrb.u8 q3, [r1], #16
  vqmovnb.s16 q4, q4
  vmladava.s8 r10, q1, q3
  str r3, [sp, #36]
  vmladava.s8 r2, q0, q3
  vldrb.u8 q5, [r1], #16
  vmladava.s8 r12, q1, q5
  vstrb.32 q4, [r5], #4
  vmladava.s8 r4, q0, q5
  vshr.u32 q4, q4, #16
  vldrb.u8 q3, [r1], #16
  vmladava.s8 r14, q1, q3
  vstrb.32 q4, [r7], #4
  vmladava.s8 r6, q0, q3
  ldr r3, [sp, #8]
  vldrb.u8 q2, [r1], #16
.endm

@ void deuteron_packed_windows_shifts_mve(const MvePackedWindows*)
@ offsets: x 0, step 4, y 8, y_step 12, packed 16, blocks 20, tiles 24, y_zero 28, windows 32,
@   shifts 36
  .section .text.deuteron_packed_windows_shifts_mve,"ax"
  .global deuteron_packed_windows_shifts_mve
  .type deuteron_packed_windows_shifts_mve, %function
  .balign 4
deuteron_packed_windows_shifts_mve:
  ENTER_WINDOWS
  ldr r4, [r0, #28]
  vdup.16 q7, r4
  adds r4, #128
  it ne
  movne r4, #1
  str r4, [sp, #32]
  PACKED_WINDOWS 0, 8, 2
  .size deuteron_packed_windows_shifts_mve, . - deuteron_packed_windows_shifts_mve
