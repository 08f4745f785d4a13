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

@ Four elements of a window and 4 filters: 12 instructions and a load, 16 products. A single window
@ leaves registers for its elements of two quads and for the weights of one, so that LDM loads many
@ words at once.
@   r1 weights   r4 r5, r6 r7 the sums 256 * A + B and B of filters 1 and 0, 3 and 2
@   \more: an instruction that finds r2 free
.macro QUAD x0, x1, more:vararg
  ldm r1!, {r2, r3, r12, lr}
  smlad r4, \x0, r2, r4
  sxtb16 r2, r2
  smlad r6, \x0, r3, r6
  sxtb16 r3, r3
  smlad r5, \x0, r2, r5
  smlad r4, \x1, r12, r4
  sxtb16 r12, r12
  smlad r7, \x0, r3, r7
  smlad r6, \x1, lr, r6
  sxtb16 lr, lr
  \more
  smlad r5, \x1, r12, r5
  smlad r7, \x1, lr, r7
.endm
.equ QUAD_BYTES, 52
@ \more: as above.   r0 window
.macro TWO_QUADS more:vararg
  ldm r0!, {r8-r11}
  QUAD r8, r9
  QUAD r10, r11, \more
.endm
.equ TWO_QUADS_BYTES, 4 + 2 * QUAD_BYTES
.equ QUADS, 8                       @ in a turn

@ Two filters: A, then requantized with the doubled multiplier.   lr y_zero
.macro FINISH_PAIR_OF_ONE a, b
  ldm r1!, {r2, r3, r12}
  sub \a, \a, \b
  add \a, r2, \a, asr #8
  smmlar \a, \a, r3, lr
  smmlar \b, \b, r12, lr
.endm

@ The same with shifts, which r0 points to: the doubled sum times the multiplier, then halves away
@ from zero: what is negative and has a shift loses one first, and the last bit that is shifted out
@ is added. The carry is 0 where the shift is. A positive shift is rounded once: the product is cut
@ off, and as ASR reads the low byte, which is the same, nothing loses one.   r2: free
.macro SCALE sum, by, shift
  lsl \sum, \sum, #1
  cmp \shift, #0
  ite gt
  smmulgt \sum, \sum, \by
  smmulrle \sum, \sum, \by
  and r2, \sum, \shift
  rsb \shift, \shift, #0
  adds \sum, \sum, r2, asr #31
  asrs \sum, \sum, \shift
  adc \sum, \sum, lr
.endm
.macro FINISH_PAIR_SHIFTED a, b
  ldm r1!, {r2, r3, r12}
  ldm r0!, {r8, r9}
  sub \a, \a, \b
  add \a, r2, \a, asr #8
  SCALE \a, r3, r9
  SCALE \b, r12, r8
.endm

@ void deuteron_packed_window_dsp(const DspPackedWindow*)
@ offsets: x 0, quads 4, packed 8, packed_end 12, y 16, y_zero 20, shifts 24, left out 28
@ stack: 0 x, 4 its end, 8 end of the weights, 12 y, 16 y_zero, 20 shifts, 24 left out, 28 where a
@   tile begins, 32 where the first turn does
  .section .text.deuteron_packed_window_dsp,"ax"
  .global deuteron_packed_window_dsp
  .type deuteron_packed_window_dsp, %function
  .balign 4
deuteron_packed_window_dsp:
  push {r4-r11, lr}
  sub sp, sp, #36
  ldm r0, {r2-r9}
  mov r1, r4
  rsb r11, r3, #0                   @ the first turn leaves out what the quads lack to whole turns
  and r11, r11, #(QUADS - 1)
  movs r0, #(TWO_QUADS_BYTES / 2)
  mul r11, r11, r0
  adr r0, 3f
  orr r0, r0, #1
  add r11, r11, r0
  mov r10, r11
  lsls r12, r3, #31
  itt ne                            @ of two quads, the second begins 56 bytes behind the first
  addne r11, r11, #2
  subne r10, r0, #(3f - 2f)
  add r3, r2, r3, lsl #3
  stm sp, {r2, r3, r5-r11}
1:                                  @ a tile
  ldr r0, [sp]
  ldm r1!, {r4, r6}
  mov r5, r4
  mov r7, r6
  ldr pc, [sp, #28]
  .balign 4
2:
  ldm r0!, {r10, r11}
  ldr pc, [sp, #32]
3:
  .rept QUADS / 2 - 1
  TWO_QUADS
  .endr
  TWO_QUADS ldr r2, [sp, #4]
  cmp r0, r2
  bne 3b
  ldrd lr, r0, [sp, #16]
  ldr r2, [sp, #24]
  add r1, r1, r2
  cbnz r0, 5f                       @ the filters have shifts
  FINISH_PAIR_OF_ONE r4, r5
  FINISH_PAIR_OF_ONE r6, r7
4:
  ldrd r3, r2, [sp, #8]
  ssat r5, #8, r5
  ssat r4, #8, r4
  ssat r7, #8, r7
  ssat r6, #8, r6
  strb r4, [r2, #1]
  strb r7, [r2, #2]
  strb r6, [r2, #3]
  strb r5, [r2], #4
  str r2, [sp, #12]
  cmp r1, r3
  bne 1b
  add sp, sp, #36
  pop {r4-r11, pc}
5:
  FINISH_PAIR_SHIFTED r4, r5
  FINISH_PAIR_SHIFTED r6, r7
  str r0, [sp, #20]
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
