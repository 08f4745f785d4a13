// SPDX-License-Identifier: Apache-2.0
@ The inner loop over many windows for filters with shifts: contract in
@ kernels/dense/packed_shifts_dsp.h, loops in packed_dsp.inc; here the end of a tile. Assembly,
@ because gcc 12 does not keep the fourteen registers of a tile.
#include "kernels/dense/packed_dsp.inc"

  .syntax unified
  .thumb
.set WINDOWS_FRAME, 36

@ One filter of both windows: doubled sums times the multiplier \by, half a step and the zero point
@ added, shifted right by all but the last bit, which SSAT shifts out. \sign: halves go away from
@ zero, so what is negative loses one first; with a zero point of -128 that is left out, as what is
@ not positive becomes -128.   lr 2 * y_zero + 1   r12 the shift, not negated   r0: free
.macro SCALE s0, s1, by, sign
  mvn r12, r12
  lsl r0, lr, r12
  .if \sign
  smmulr \s0, \s0, \by
  smmulr \s1, \s1, \by
  add \s0, \s0, \s0, asr #31
  add \s1, \s1, \s1, asr #31
  add \s0, \s0, r0
  add \s1, \s1, r0
  .else
  smmlar \s0, \s0, \by, r0
  smmlar \s1, \s1, \by, r0
  .endif
  asr \s0, \s0, r12
  asr \s1, \s1, r12
.endm
@ Two filters: A doubled is the difference, 256 * A, shifted by 7. Their shifts lie \at behind those
@ of the tile; \next: bytes to go on by.
.macro FINISH_PAIR a0, b0, a1, b1, at, next, sign
  ldm r1!, {r0, r2, r3}             @ first[a], multiplier[a], multiplier[b]
  ldr r12, [sp, #28]
  sub \a0, \a0, \b0
  sub \a1, \a1, \b1
  lsl r0, r0, #1
  ldr r12, [r12, #(\at + 4)]
  add \a0, r0, \a0, asr #7
  add \a1, r0, \a1, asr #7
  SCALE \a0, \a1, r2, \sign
  ldr r0, [sp, #28]
  lsl \b0, \b0, #1
  ldr r12, [r0, #\at]
  lsl \b1, \b1, #1
  .if \next
  adds r0, #\next
  str r0, [sp, #28]
  .endif
  SCALE \b0, \b1, r3, \sign
.endm

@ Stack 28: the shifts of the tile.
.macro ENTER_RESULTS
  ldr r7, [r0, #28]
  lsls r6, r6, #1
  str r7, [sp, #28]
  adds r6, #1
.endm
.macro FINISH_TILE
  ldr lr, [sp, #20]
  cmn lr, #255
  bne 5f
  FINISH_PAIR r4, r5, r6, r7, 0, 0, 0
  FINISH_PAIR r8, r9, r10, r11, 8, 16, 0
4:
.endm

@ void deuteron_packed_windows_shifts_dsp(const DspPackedWindows*)
  .section .text.deuteron_packed_windows_shifts_dsp,"ax"
  .global deuteron_packed_windows_shifts_dsp
  .type deuteron_packed_windows_shifts_dsp, %function
  .balign 4
deuteron_packed_windows_shifts_dsp:
  PACKED_WINDOWS ", asr #1"
5:                                  @ a zero point of more than -128
  FINISH_PAIR r4, r5, r6, r7, 0, 0, 1
  FINISH_PAIR r8, r9, r10, r11, 8, 16, 1
  b 4b
  .size deuteron_packed_windows_shifts_dsp, . - deuteron_packed_windows_shifts_dsp
