// SPDX-License-Identifier: Apache-2.0
@ Four windows against four filters on packed weights for the M-profile Vector Extension: contracts
@ in kernels/dense/packed_rows_mve.h, loops and schedules in packed_rows_mve.inc; here the ends of
@ tiles. Assembly, because gcc 12 spills where all sixteen registers are needed.
#include "kernels/dense/packed_rows_mve.inc"

  .syntax unified
  .thumb
.set ROWS_FRAME, 96
.macro TAKE_SHIFTS
.endm

@ As FINISH_AND_MEET of packed_mve.S makes results.
.macro SCALE_FOURS
  vldrw.u32 q0, [r5, #-32]          @ first[]
  ldr r8, [sp, #88]
  vldrw.u32 q2, [sp]
  add r4, r0, r2
  vldrw.u32 q1, [r5, #-16]          @ multipliers
  vadd.i32 q2, q2, q0
  vldrw.u32 q3, [sp, #16]
  vqrdmlash.s32 q2, q1, r8
  vadd.i32 q3, q3, q0
  vldrw.u32 q4, [sp, #32]
  vadd.i32 q4, q4, q0
  vldrw.u32 q5, [sp, #48]
  vqmovnb.s32 q2, q2
  vqrdmlash.s32 q3, q1, r8
  vadd.i32 q5, q5, q0
  vqrdmlash.s32 q4, q1, r8
  add r6, r4, r2
  vqmovnt.s32 q2, q3
  vqrdmlash.s32 q5, q1, r8
  vqmovnb.s32 q4, q4
  vqmovnb.s16 q2, q2
  vqmovnt.s32 q4, q5
  vqmovnb.s16 q4, q4
.endm

@ void deuteron_packed_rows_mve(const MvePackedRows*)
  .section .text.deuteron_packed_rows_mve,"ax"
  .global deuteron_packed_rows_mve
  .type deuteron_packed_rows_mve, %function
  .balign 4
deuteron_packed_rows_mve:
  PACKED_ROWS
  .size deuteron_packed_rows_mve, . - deuteron_packed_rows_mve
