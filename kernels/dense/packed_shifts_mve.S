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
  PACKED_WINDOWS 0
  .size deuteron_packed_windows_shifts_mve, . - deuteron_packed_windows_shifts_mve
