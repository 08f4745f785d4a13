// SPDX-License-Identifier: Apache-2.0
@ The same as packed_rows_mve.S for filters with shifts.
#include "kernels/dense/packed_rows_mve.inc"

  .syntax unified
  .thumb
.set ROWS_FRAME, 104
@ To stack 96.
.macro TAKE_SHIFTS
  ldr r12, [r0, #36]
  str r12, [sp, #96]
.endm

@ As FINISH of packed_shifts_mve.S makes results.
.macro SCALE_FOURS
  vldrw.u32 q0, [r5, #-32]          @ first[]
  ldr r8, [sp, #88]
  vldrw.u32 q2, [sp]
  add r4, r0, r2
  vadd.i32 q2, q2, q0
  vldrw.u32 q1, [r5, #-16]          @ multipliers
  vqrdmulh.s32 q2, q2, q1
  vldrw.u32 q3, [sp, #16]
  vadd.i32 q3, q3, q0
  vldrw.u32 q4, [sp, #32]
  vqrdmulh.s32 q3, q3, q1
  vldrw.u32 q5, [sp, #48]
  vadd.i32 q4, q4, q0
  vadd.i32 q5, q5, q0
  vqrdmulh.s32 q4, q4, q1
  ldr r12, [sp, #96]
  vldrw.u32 q6, [r12], #16          @ shifts
  str r12, [sp, #96]
  vqrdmulh.s32 q5, q5, q1
  adds r12, r8, #128
  beq 8f
  mov r12, #1
  .irp sums, q2, q3, q4, q5
  vpt.s32 lt, \sums, zr
  vsubt.i32 \sums, \sums, r12
  .endr
8:
  vrshl.s32 q2, q2, q6
  vrshl.s32 q3, q3, q6
  vqmovnb.s32 q2, q2
  vrshl.s32 q4, q4, q6
  vqmovnt.s32 q2, q3
  vrshl.s32 q5, q5, q6
  add r6, r4, r2
  vqadd.s16 q2, q2, r8
  vqmovnb.s32 q4, q4
  vqmovnb.s16 q2, q2
  vqmovnt.s32 q4, q5
  vqadd.s16 q4, q4, r8
  vqmovnb.s16 q4, q4
.endm

@ void deuteron_packed_rows_shifts_mve(const MvePackedRows*)
  .section .text.deuteron_packed_rows_shifts_mve,"ax"
  .global deuteron_packed_rows_shifts_mve
  .type deuteron_packed_rows_shifts_mve, %function
  .balign 4
deuteron_packed_rows_shifts_mve:
  PACKED_ROWS
  .size deuteron_packed_rows_shifts_mve, . - deuteron_packed_rows_shifts_mve
