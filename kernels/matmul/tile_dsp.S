// SPDX-License-Identifier: Apache-2.0
@ Four rows against two, both widened, for the DSP extension: contract in kernels/matmul/tile_dsp.h.
@ Assembly, because the loop takes all fourteen registers. Six words are loaded for eight SMLAD,
@ where one filter of plain weights that is widened on the way wants nine and four SXTAB16.
  .syntax unified
  .thumb

@ A pair of elements: 14 instructions, 16 products. Loads that follow each other take a cycle each
@ but the first one, where LDRD takes three. Pointers stand a pair before it; the last pair of a
@ turn moves them by a turn.
@   r0 rows   r1 pair   r4-r7 sums of its first row, r8-r11 of the second   r2 r3 r12 lr elements
.macro TWO at
  ldr r2, [r1, #8 * \at + 8]
  ldr r3, [r1, #8 * \at + 12]
  ldr r12, [r0, #16 * \at + 16]
  ldr lr, [r0, #16 * \at + 20]
  MEET 16 * \at + 16
.endm
.macro LAST_TWO
  ldr r2, [r1, #64]!
  ldr r3, [r1, #4]
  ldr r12, [r0, #128]!
  ldr lr, [r0, #4]
  MEET 0
.endm
.macro MEET rows
  smlad r4, r12, r2, r4
  smlad r8, r12, r3, r8
  smlad r5, lr, r2, r5
  smlad r9, lr, r3, r9
  ldr r12, [r0, #\rows + 8]
  ldr lr, [r0, #\rows + 12]
  smlad r6, r12, r2, r6
  smlad r10, r12, r3, r10
  smlad r7, lr, r2, r7
  smlad r11, lr, r3, r11
.endm
@ The first pair makes the sums.
.macro FIRST_TWO
  ldr r2, [r1, #8]
  ldr r3, [r1, #12]
  ldr r12, [r0, #16]
  ldr lr, [r0, #20]
  smuad r4, r12, r2
  smuad r8, r12, r3
  smuad r5, lr, r2
  smuad r9, lr, r3
  ldr r12, [r0, #24]
  ldr lr, [r0, #28]
  smuad r6, r12, r2
  smuad r7, lr, r2
  ldr r2, [sp, #40]
  smuad r10, r12, r3
  smuad r11, lr, r3
.endm
@ Two sums, of columns side by side, become a halfword of y. One less from what is negative sends
@ halves away from zero.
.macro SHIFTED sum, beside
  lsl \sum, \sum, #1
  lsl \beside, \beside, #1
  add r12, r3, \sum, asr #31
  add lr, r3, \beside, asr #31
  smmlar \sum, \sum, r1, r12
  smmlar \beside, \beside, r1, lr
  asr \sum, \sum, r2
  asr \beside, \beside, r2
.endm
.macro SATURATED sum, beside
  ssat \sum, #8, \sum
  ssat \beside, #8, \beside
  bfi \sum, \beside, #8, #8
.endm
.equ TWO_BYTES, 52

@ void deuteron_tiles_dsp(const DspTiles*)
@ stack: 0 where the first turn enters, 4 pair, 8 pair_end, 12 groups behind this one, 16 y, 20
@   y_step, 24 last_y, 28 multiplier, 32 right, 36 added, 40 bytes of the pair that the first turn
@   leaves out
  .section .text.deuteron_tiles_dsp,"ax"
  .global deuteron_tiles_dsp
  .type deuteron_tiles_dsp, %function
  .balign 4
deuteron_tiles_dsp:
  push {r4-r11, lr}
  sub sp, sp, #44
  ldr r1, [r0], #4
  ldm r0, {r4-r12}
  subs r2, r4, r5
  and r2, r2, #48
  str r2, [sp, #40]
  subs r4, #8
  subs r5, #8
  subs r6, #1
  add r0, sp, #4
  stm r0, {r4-r12}
  sub r0, r1, #16
  movs r3, #TWO_BYTES / 4
  muls r3, r2, r3
  adr r2, 2f
  add r2, r2, r3, lsr #1
  add r2, r2, #TWO_BYTES + 1        @ the first pair is met before
  str r2, [sp]
1:                                  @ four rows
  ldr r1, [sp, #4]
  FIRST_TWO
  subs r1, r1, r2
  sub r0, r0, r2, lsl #1
  ldr pc, [sp]
  .balign 4
2:
  .irp at, 0, 1, 2, 3, 4, 5, 6
  TWO \at
  .endr
  LAST_TWO
  ldr r12, [sp, #8]
  cmp r1, r12
  bne 2b
  ldr r2, [sp, #32]
  ldr r1, [sp, #28]
  ldr r3, [sp, #36]
  cbnz r2, 3f
  .irp sum, r4, r8, r5, r9, r6, r10, r7, r11
  smmlar \sum, \sum, r1, r3
  .endr
4:
  ldr r1, [sp, #12]
  ldr r2, [sp, #16]
  ldr r3, [sp, #20]
  SATURATED r4, r8
  SATURATED r5, r9
  strh r4, [r2]
  strh r5, [r2, r3]
  add r2, r2, r3, lsl #1
  SATURATED r6, r10
  SATURATED r7, r11
  strh r6, [r2]
  strh r7, [r2, r3]
  add r2, r2, r3, lsl #1
  subs r1, r1, #1
  it eq
  ldreq r2, [sp, #24]
  strd r1, r2, [sp, #12]
  bpl 1b
  add sp, sp, #44
  pop {r4-r11, pc}
3:
  SHIFTED r4, r8
  SHIFTED r5, r9
  SHIFTED r6, r10
  SHIFTED r7, r11
  b 4b
  .size deuteron_tiles_dsp, . - deuteron_tiles_dsp
