// SPDX-License-Identifier: Apache-2.0
@ Inner loops on packed weights for the DSP extension: contracts in kernels/dense/packed_dsp.h,
@ loops and the proof in packed_dsp.inc; here the ends of tiles, and one window. Assembly, because
@ gcc 12 does not keep the fourteen registers of a tile.
#include "kernels/dense/packed_dsp.inc"

  .syntax unified
  .thumb
.set WINDOWS_FRAME, 28

@ Two filters of both windows: A, then requantized by SMMLAR with the doubled multiplier: halves
@ up, and the zero point added.  lr y_zero
.macro FINISH_PAIR a0, b0, a1, b1
  ldm r1!, {r2, r3, r12}            @ first[a], 2 * multiplier[a], 2 * multiplier[b]
  sub \a0, \a0, \b0
  sub \a1, \a1, \b1
  add \a0, r2, \a0, asr #8
  add \a1, r2, \a1, asr #8
  smmlar \a0, \a0, r3, lr
  smmlar \a1, \a1, r3, lr
  smmlar \b0, \b0, r12, lr
  smmlar \b1, \b1, r12, lr
.endm
.macro ENTER_RESULTS
.endm
.macro FINISH_TILE
  ldr lr, [sp, #20]
  FINISH_PAIR r4, r5, r6, r7
  FINISH_PAIR r8, r9, r10, r11
.endm

@ void deuteron_packed_windows_dsp(const DspPackedWindows*)
  .section .text.deuteron_packed_windows_dsp,"ax"
  .global deuteron_packed_windows_dsp
  .type deuteron_packed_windows_dsp, %function
  .balign 4
deuteron_packed_windows_dsp:
  PACKED_WINDOWS
  .size deuteron_packed_windows_dsp, . - deuteron_packed_windows_dsp

@ Two elements of a window and 8 filters: 15 instructions, 16 products. The window is loaded first,
@ so that nothing waits for what is loaded last. On Cortex-M4 LDM of two words takes three cycles,
@ and two LDR behind another one take two, where the second word is met first: \loads: ldr spends an
@ instruction on that. A quad is a step of each kind, 31 instructions.
@   r0 window   r1 lr weights of both tiles   r4 r5, r6 r7 the sums 256 * A + B and B of the first
@     tile   r8 r9, r10 r11 of the second
@   \more: an instruction that finds r3 free
.macro STEP_OF_ONE loads, more:vararg
  ldr r2, [r0], #4
  .ifc \loads, ldr
  ldr r12, [r1, #4]
  ldr r3, [r1], #8
  smlad r6, r2, r12, r6
  sxtb16 r12, r12
  smlad r4, r2, r3, r4
  sxtb16 r3, r3
  .else
  ldm r1!, {r3, r12}
  smlad r4, r2, r3, r4
  sxtb16 r3, r3
  smlad r6, r2, r12, r6
  sxtb16 r12, r12
  .endif
  smlad r7, r2, r12, r7
  smlad r5, r2, r3, r5
  ldm lr!, {r3, r12}
  smlad r8, r2, r3, r8
  sxtb16 r3, r3
  smlad r10, r2, r12, r10
  sxtb16 r12, r12
  smlad r9, r2, r3, r9
  \more
  smlad r11, r2, r12, r11
.endm
.equ QUADS_OF_ONE, 8                @ in a turn
.equ QUAD_OF_ONE_BYTES, 124
@ Two filters -> two bytes at \at of r2.   r0 y_zero   \from: weights
.macro FINISH_PAIR_OF_ONE a, b, from, at_a, at_b
  sub \a, \a, \b
  ldm \from!, {r3, r12}
  add \a, r3, \a, asr #8
  ldr r3, [\from], #4
  smmlar \a, \a, r12, r0
  smmlar \b, \b, r3, r0
  ssat \a, #8, \a
  ssat \b, #8, \b
  strb \a, [r2, #\at_a]
  strb \b, [r2, #\at_b]
.endm

@ The same with shifts, which stack 28 points to: the doubled sum times the multiplier, then halves
@ away from zero: what is negative and has a shift loses one first, and the last bit that is shifted
@ out is added. The carry is 0 where the shift is. A positive shift is rounded once: the product is
@ cut off, and as ASR reads the low byte, which is the same, nothing loses one.   r2: free
.macro SHIFT_BY sum, shift
  and r2, \sum, \shift
  rsb \shift, \shift, #0
  adds \sum, \sum, r2, asr #31
  asrs \sum, \sum, \shift
  adc \sum, \sum, r0
  ssat \sum, #8, \sum
.endm
.macro SCALE sum, by, shift
  cmp \shift, #0
  ite gt
  smmulgt \sum, \sum, \by
  smmulrle \sum, \sum, \by
.endm
.macro FINISH_PAIR_SHIFTED a, b, from, at_a, at_b
  sub \a, \a, \b
  ldm \from!, {r3, r12}
  add \a, r3, \a, asr #8
  ldr r2, [sp, #28]
  lsl \a, \a, #1
  ldr r3, [r2, #4]
  lsl \b, \b, #1
  SCALE \a, r12, r3
  ldr r12, [\from], #4
  SHIFT_BY \a, r3
  ldr r2, [sp, #28]
  ldr r3, [r2], #8
  str r2, [sp, #28]
  SCALE \b, r12, r3
  SHIFT_BY \b, r3
  ldr r2, [sp, #8]
  strb \b, [r2, #\at_b]
  strb \a, [r2, #\at_a]
.endm

@ void deuteron_packed_window_dsp(const DspPackedWindow*)
@ offsets: x 0, quads 4, packed 8, y 12, pairs 16, second 20, y_zero 24, shifts 28, left out 32
@ stack: 0 x, 4 its end, 8 y, 12 pairs left, 16 second, 20 y_zero, 24 where the first turn begins,
@   28 shifts, 32 left out
  .section .text.deuteron_packed_window_dsp,"ax"
  .global deuteron_packed_window_dsp
  .type deuteron_packed_window_dsp, %function
  .balign 4
deuteron_packed_window_dsp:
  push {r4-r11, lr}
  sub sp, sp, #36
  ldrd r4, r5, [r0]
  add r6, r4, r5, lsl #3
  strd r4, r6, [sp]
  rsb r5, r5, #0                    @ the first turn leaves out what the quads lack to whole turns
  and r5, r5, #(QUADS_OF_ONE - 1)
  movs r6, #QUAD_OF_ONE_BYTES
  mul r5, r5, r6
  adr r6, 3f
  add r5, r5, r6
  orr r5, r5, #1
  str r5, [sp, #24]
  ldr r1, [r0, #8]
  ldrd r4, r5, [r0, #12]
  strd r4, r5, [sp, #8]
  ldrd r4, r5, [r0, #20]
  strd r4, r5, [sp, #16]
  ldrd r4, r5, [r0, #28]
  strd r4, r5, [sp, #28]
1:                                  @ two tiles
  ldr r0, [sp]
  ldr r2, [sp, #16]
  add lr, r1, r2
  ldrd r4, r6, [r1], #8
  ldrd r8, r10, [lr], #8
  mov r5, r4
  mov r7, r6
  mov r9, r8
  mov r11, r10
  ldr pc, [sp, #24]
  .balign 4
3:
  .rept QUADS_OF_ONE - 1
  STEP_OF_ONE ldr
  STEP_OF_ONE ldm
  .endr
  STEP_OF_ONE ldr
  STEP_OF_ONE ldm, ldr r3, [sp, #4]
  cmp r0, r3
  bne 3b
  ldrd r12, r2, [sp, #28]
  add r1, r1, r2
  add lr, lr, r2
  ldrd r2, r3, [sp, #8]
  ldr r0, [sp, #20]
  subs r3, r3, #1
  str r3, [sp, #12]
  cmp r12, #0
  bne 5f                            @ the filters have shifts
  FINISH_PAIR_OF_ONE r4, r5, r1, 1, 0
  FINISH_PAIR_OF_ONE r6, r7, r1, 3, 2
  FINISH_PAIR_OF_ONE r8, r9, lr, 5, 4
  FINISH_PAIR_OF_ONE r10, r11, lr, 7, 6
4:
  ldr r3, [sp, #12]
  add r2, r2, #8
  mov r1, lr
  str r2, [sp, #8]
  cmp r3, #0
  bne 1b
  add sp, sp, #36
  pop {r4-r11, pc}
5:
  FINISH_PAIR_SHIFTED r4, r5, r1, 1, 0
  FINISH_PAIR_SHIFTED r6, r7, r1, 3, 2
  FINISH_PAIR_SHIFTED r8, r9, lr, 5, 4
  FINISH_PAIR_SHIFTED r10, r11, lr, 7, 6
  b 4b
  .size deuteron_packed_window_dsp, . - deuteron_packed_window_dsp

@ void deuteron_widen_nines_dsp(const int8_t* a, const int8_t* b, int32_t row_step, int16_t* to)
@ Words of x where a quad lies in one row, also where it begins at no multiple of four; else bytes
@ and halfwords of two rows are put together.
@   r0 r1 rows of the windows   r2 row_step   r3 to   r8 r9 a quad of each
.macro WIDEN_QUADS
  sxtb16 r4, r8
  sxtb16 r5, r9
  sxtb16 r6, r8, ror #8
  sxtb16 r7, r9, ror #8
  stm r3!, {r4-r7}
.endm
.macro WIDEN_NINE at
  ldr r8, [r0, #\at]
  ldr r9, [r1, #\at]
  WIDEN_QUADS
.endm
  .section .text.deuteron_widen_nines_dsp,"ax"
  .global deuteron_widen_nines_dsp
  .type deuteron_widen_nines_dsp, %function
  .balign 4
deuteron_widen_nines_dsp:
  push {r4-r9, lr}
  WIDEN_NINE 0
  WIDEN_NINE 4
  ldrb r12, [r0, #8]
  ldrb lr, [r1, #8]
  add r0, r0, r2
  add r1, r1, r2
  ldr r8, [r0]
  ldr r9, [r1]
  orr r8, r12, r8, lsl #8
  orr r9, lr, r9, lsl #8
  WIDEN_QUADS
  WIDEN_NINE 3
  ldrh r12, [r0, #7]
  ldrh lr, [r1, #7]
  add r0, r0, r2
  add r1, r1, r2
  ldr r8, [r0]
  ldr r9, [r1]
  orr r8, r12, r8, lsl #16
  orr r9, lr, r9, lsl #16
  WIDEN_QUADS
  WIDEN_NINE 2
  WIDEN_NINE 5
  pop {r4-r9, pc}
  .size deuteron_widen_nines_dsp, . - deuteron_widen_nines_dsp
