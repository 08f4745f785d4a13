// SPDX-License-Identifier: Apache-2.0
@ Depthwise 3x3 for the DSP extension: contracts in kernels/depthwise_conv2d/planes_dsp.h. Assembly,
@ because gcc 12 spills the six words of weights and does not find SMLATB and SMLABT.
  .syntax unified
  .thumb
.equ PITCH, 64
.equ UP_SHIFT, 10
.equ ROW_PLANE, 176                 @ bytes of a plane, of the weights and of the sums of a channel
.equ ROW_WEIGHT, 72
.equ ROW_SUMS, 256

@ A row of taps of two neighbouring outputs, r12 and lr: two words of x are elements 0 1 and 2 3
@ (stride 1).
.macro ROW_1 first, offset, wa, wb
  .if \first
  ldrd r10, r11, [r0], #4
  ldr r12, [sp]
  smlatb lr, r10, \wa, r12
  .else
  ldrd r10, r11, [r0, #\offset]
  smlatb lr, r10, \wa, lr
  .endif
  smlad r12, r10, \wa, r12
  smlabt r12, r11, \wb, r12
  smlad lr, r11, \wb, lr
.endm
.macro SUMS_1
  ROW_1 1, 0, r4, r5
  ROW_1 0, (PITCH - 4), r6, r7
  ROW_1 0, (2 * PITCH - 4), r8, r9
.endm
@ Stride 2: elements 0 1 2, and 2 3 4.
.macro ROW_2 first, offset, wa, wb
  .if \first
  ldr r12, [sp]
  ldm r0!, {r10, r11}
  smlad lr, r11, \wa, r12
  .else
  ldrd r10, r11, [r0, #\offset]
  smlad lr, r11, \wa, lr
  .endif
  smlad r12, r10, \wa, r12
  .if \first
  ldr r10, [r0]
  .else
  ldr r10, [r0, #(\offset + 8)]
  .endif
  smlabt r12, r11, \wb, r12
  smlabt lr, r10, \wb, lr
.endm
.macro SUMS_2
  ROW_2 1, 0, r4, r5
  ROW_2 0, (PITCH - 8), r6, r7
  ROW_2 0, (2 * PITCH - 8), r8, r9
.endm

@ Two sums to bytes: see DspChannelFinish. r3 added; stack: 4 multiplier, 28 right
.macro PLAIN
  ldr r10, [sp, #4]
  smmlar r12, r12, r10, r3
  smmlar lr, lr, r10, r3
  ssat r12, #8, r12
  ssat lr, #8, lr
.endm
.macro UP
  ldr r10, [sp, #4]
  smmla r12, r12, r10, r3
  smmla lr, lr, r10, r3
  ssat r12, #8, r12, asr #UP_SHIFT
  ssat lr, #8, lr, asr #UP_SHIFT
.endm
.macro AWAY
  ldr r10, [sp, #4]
  add r11, r3, r12, asr #31
  smmlar r12, r12, r10, r11
  add r11, r3, lr, asr #31
  smmlar lr, lr, r10, r11
  ldr r10, [sp, #28]
  asr r12, r12, r10
  asr lr, lr, r10
  ssat r12, #8, r12
  ssat lr, #8, lr
.endm

@ clamp(zero + requantize(sum)): see FINISH of kernels/dense/dot_dsp.S. r3 zero; stack: 4
@ multiplier, 28 -shift, 32 y_min, 36 y_max
.macro SMALL v
  ldr r10, [sp, #4]
  lsl \v, \v, #1
  smmulr \v, \v, r10
  ldr r10, [sp, #28]
  FINISH \v
.endm
@ From the product on; r10: shift to the right.
.macro FINISH v
  cmp r10, #0
  beq 8f
  add \v, \v, \v, asr #31
  asrs \v, \v, r10
  adc \v, \v, #0
8:
  add \v, \v, r3
  ldr r10, [sp, #32]
  cmp \v, r10
  it lt
  movlt \v, r10
  ldr r10, [sp, #36]
  cmp \v, r10
  it gt
  movgt \v, r10
.endm

@ The same for any sum, multiplier and shift. Stack: 40 shift to the left.
.macro ANY v
  ldr r10, [sp, #40]
  lsl \v, \v, r10
  ldr r10, [sp, #4]
  smull r11, \v, \v, r10
  adds r11, r11, #0x40000000
  adc \v, \v, #0
  lsl \v, \v, #1
  orr \v, \v, r11, lsr #31
  ldr r10, [sp, #28]
  FINISH \v
.endm
.macro TWO stride, way
  SUMS_\stride
  .ifc \way, plain
  PLAIN
  .endif
  .ifc \way, up
  UP
  .endif
  .ifc \way, away
  AWAY
  .endif
  .ifc \way, small
  SMALL r12
  SMALL lr
  .endif
  .ifc \way, any
  ANY r12
  ANY lr
  .endif
.endm

@ All rows of a plane.   r0 plane   r1 y   r2 step of y   r3 added   r4-r9 weights
@ Where the width is odd the last output is by itself, in the common ways with products of its own.
@ In the others it is a pair whose outputs have one place, in which the first one is written last:
@ less code for what few networks have.
.macro ROWS stride, way, is_common
1:
  strd r1, r0, [sp, #20]
  ldr r10, [sp, #16]
  ldr r11, [r10, #16]
  cmp r11, #0
  add r11, r0, r11, lsl #(1 + \stride)
  str r11, [sp, #8]
  beq 6f
2:
  TWO \stride, \way
  .if \is_common
  strb r12, [r1]
  ldr r10, [sp, #8]
  strb lr, [r1, r2]
  add r1, r1, r2, lsl #1
  cmp r0, r10
  bne 2b
6:
  ldr r10, [sp, #16]
  ldr r11, [r10, #20]
  cmp r11, #0
  beq 3f
  TWO \stride, \way
  strb r12, [r1]
3:
  ldr r10, [sp, #16]
  .else
  strb lr, [r1, r2]
  ldr r10, [sp, #8]
  strb r12, [r1]
  add r1, r1, r2, lsl #1
  cmp r0, r10
  blo 2b
6:
  ldr r10, [sp, #16]
  ldr r11, [r10, #20]
  cmp r2, #0
  it ne
  cmpne r11, #0
  itt ne
  movne r2, #0
  bne 2b
  ldr r2, [r10, #4]
  .endif
  ldrd r1, r0, [sp, #20]
  ldr r11, [r10, #12]
  add r0, r0, #(\stride * PITCH)
  add r1, r1, r11
  ldr r10, [sp, #12]
  subs r10, r10, #1
  str r10, [sp, #12]
  bne 1b
.endm
@ void name(const int16_t* plane, const DspChannel*, const DspPlane*)
@ DspPlane: y 0, y_step 4, rows 8, row_step 12, pairs 16, odd 20, y_min 24, y_max 28
@ DspChannel: weights 0, first 24, multiplier 28, right 32, left 36, added 40, finish 44
@ stack: 0 first, 4 multiplier, 8 end of the row, 12 rows, 16 DspPlane, 20 y of the row, 24 x of the
@   row, 28 right, 32 y_min, 36 y_max, 40 left
.macro DEPTHWISE name, stride
  .section .text.\name,"ax"
  .global \name
  .type \name, %function
  .balign 4
\name:
  push {r4-r11, lr}
  sub sp, sp, #44
  str r2, [sp, #16]
  ldrd r4, r5, [r1, #24]
  strd r4, r5, [sp]
  ldrd r4, r5, [r1, #32]
  str r4, [sp, #28]
  str r5, [sp, #40]
  ldrd r3, r12, [r1, #40]
  ldrd r4, r5, [r2, #24]
  strd r4, r5, [sp, #32]
  ldm r1, {r4-r9}
  ldrd r1, r10, [r2]
  ldr r11, [r2, #8]
  str r11, [sp, #12]
  mov r2, r10
  cmp r12, #1
  beq 4f
  bhi 5f
  ROWS \stride, plain, 1
  b 9f
4:
  ROWS \stride, up, 1
  b 9f
5:
  cmp r12, #3
  beq 7f
  bhi 10f
  ROWS \stride, away, 0
  b 9f
7:
  ROWS \stride, small, 0
  b 9f
10:
  ROWS \stride, any, 0
9:
  add sp, sp, #44
  pop {r4-r11, pc}
  .size \name, . - \name
.endm
  DEPTHWISE deuteron_depthwise_s1_dsp, 1
  DEPTHWISE deuteron_depthwise_s2_dsp, 2

@ void deuteron_fill_planes_dsp(const DspFill*)
@ offsets: x 0, step 4, row_step 8, to 12, plane_bytes 16, pixels 20, rows 24, offset 28
@ stack: 0 pixels - 2, 4 rows left; from the end of a row to the next: 8 bytes of x, 12 of the
@   planes
@   r0 x   r1 step   r2 pixels left   r3-r6 the planes   lr offset
  .section .text.deuteron_fill_planes_dsp,"ax"
  .global deuteron_fill_planes_dsp
  .type deuteron_fill_planes_dsp, %function
  .balign 4
deuteron_fill_planes_dsp:
  push {r4-r11, lr}
  sub sp, sp, #20
  ldrd r1, r7, [r0, #4]
  ldrd r3, r12, [r0, #12]
  ldrd r8, r9, [r0, #20]
  ldr lr, [r0, #28]
  ldr r0, [r0]
  add r4, r3, r12
  add r5, r4, r12
  add r6, r5, r12
  bic r10, r8, #1                   @ pixels that go in pairs
  mls r7, r10, r1, r7
  rsb r10, r10, #(PITCH / 2)
  lsl r10, r10, #1
  strd r7, r10, [sp, #8]
  subs r8, r8, #2
  strd r8, r9, [sp]
1:                                  @ a row
  ldr r2, [sp]
  cmp r2, #0
  bmi 3f
2:
  ldr r7, [r0]
  ldr r8, [r0, r1]
  add r0, r0, r1, lsl #1
  sxtab16 r9, lr, r7
  sxtab16 r10, lr, r8
  sxtab16 r7, lr, r7, ror #8
  sxtab16 r8, lr, r8, ror #8
  pkhbt r11, r9, r10, lsl #16
  pkhtb r9, r10, r9, asr #16
  str r11, [r3], #4
  str r9, [r5], #4
  pkhbt r11, r7, r8, lsl #16
  pkhtb r7, r8, r7, asr #16
  str r11, [r4], #4
  str r7, [r6], #4
  subs r2, r2, #2
  bpl 2b
3:
  adds r2, r2, #1
  bmi 4f
  ldr r7, [r0]
  sxtab16 r9, lr, r7
  sxtab16 r7, lr, r7, ror #8
  strh r9, [r3]
  lsr r9, r9, #16
  strh r7, [r4]
  lsr r7, r7, #16
  strh r9, [r5]
  strh r7, [r6]
4:
  ldrd r7, r8, [sp, #8]
  ldr r9, [sp, #4]
  add r0, r0, r7
  add r3, r3, r8
  add r4, r4, r8
  add r5, r5, r8
  add r6, r6, r8
  subs r9, r9, #1
  str r9, [sp, #4]
  bne 1b
  add sp, sp, #20
  pop {r4-r11, pc}
  .size deuteron_fill_planes_dsp, . - deuteron_fill_planes_dsp

@ Four sums to bytes: see DspChannelFinish. Stack: 4 multiplier, 8 added, 12 right, 24 what leads
@ to the next elements, for which the first sum need not wait.
.macro PLAIN_4
  ldrd r10, r11, [sp, #4]
  ldr r9, [sp, #24]
  smmlar r12, r12, r10, r11
  smmlar lr, lr, r10, r11
  smmlar r4, r4, r10, r11
  add r0, r0, r9
  smmlar r5, r5, r10, r11
  ssat r12, #8, r12
  ssat lr, #8, lr
  ssat r4, #8, r4
  ssat r5, #8, r5
.endm
.macro UP_4
  ldrd r10, r11, [sp, #4]
  ldr r9, [sp, #24]
  smmla r12, r12, r10, r11
  smmla lr, lr, r10, r11
  smmla r4, r4, r10, r11
  add r0, r0, r9
  smmla r5, r5, r10, r11
  ssat r12, #8, r12, asr #UP_SHIFT
  ssat lr, #8, lr, asr #UP_SHIFT
  ssat r4, #8, r4, asr #UP_SHIFT
  ssat r5, #8, r5, asr #UP_SHIFT
.endm
.macro AWAY_4
  ldrd r10, r11, [sp, #4]
  ldr r9, [sp, #24]
  add r6, r11, r12, asr #31
  add r7, r11, lr, asr #31
  add r8, r11, r4, asr #31
  add r0, r0, r9
  add r9, r11, r5, asr #31
  smmlar r12, r12, r10, r6
  smmlar lr, lr, r10, r7
  smmlar r4, r4, r10, r8
  ldr r6, [sp, #12]
  smmlar r5, r5, r10, r9
  asr r12, r12, r6
  asr lr, lr, r6
  asr r4, r4, r6
  asr r5, r5, r6
  ssat r12, #8, r12
  ssat lr, #8, lr
  ssat r4, #8, r4
  ssat r5, #8, r5
.endm

@ Four neighbouring outputs of a row after the other: r12 lr r4 r5. Two neighbouring elements meet
@ the weights of an even output and of an odd one, and so do the two behind them.
@   r0 plane   r1 y   r2 step of y   r3 outputs left   r6 r7 elements   r8 r9 weights
.macro PAIR s0, s1, s2, s3
  ldm r11!, {r8, r9}
  ldrd r6, r7, [r0], #4
  subs r10, r10, #1
  smlad r12, r6, r8, \s0
  smlad r4, r7, r8, \s2
  smlad lr, r6, r9, \s1
  smlad r5, r7, r9, \s3
.endm
@ Four outputs in r12, lr, r4, r5 to y in r1, r2 apart, and on at 1 for the next; at 8 where fewer
@   than four are left of r3.
.macro PUT_4
  subs r3, r3, #4
  blt 8f
  strb r12, [r1]
  strb lr, [r1, r2]
  add r1, r1, r2, lsl #1
  strb r4, [r1]
  strb r5, [r1, r2]
  add r1, r1, r2, lsl #1
  bne 1b
.endm
@ At 8: the last one, two or three, whose number less four is in r3.
.macro PUT_LAST
  strb r12, [r1]
  cmn r3, #2
  it ge
  strbge lr, [r1, r2]
  cmn r3, #1
  it ge
  strbge r4, [r1, r2, lsl #1]
.endm

.macro ROW way
1:
  ldrd r10, r11, [sp, #16]
  ldr r5, [sp]
  PAIR r5, r5, r5, r5
2:
  PAIR r12, lr, r4, r5
  bne 2b
  .ifc \way, sums
  ldr r10, [sp, #24]
  strd r12, lr, [r1], #8
  strd r4, r5, [r1], #8
  add r0, r0, r10
  subs r3, r3, #4
  bgt 1b
  .else
  \way
  PUT_4
  .endif
  b 9f
.endm

@ void deuteron_depthwise_row_dsp(const DspRow*)
@ DspRow: weight 0, plane 4, channel 8, y 12, sums 16, y_step 20, outputs 24, pairs 28
@ stack: 0 first, 4 multiplier, 8 added, 12 right, 16 pairs, 20 weight, 24 from the end of a window
@   to the next four, in bytes of the plane, 28 channels left, 32 plane, 36 channel, 40 y, 44 sums,
@   48 outputs
  .section .text.deuteron_depthwise_row_dsp,"ax"
  .global deuteron_depthwise_row_dsp
  .type deuteron_depthwise_row_dsp, %function
  .balign 4
deuteron_depthwise_row_dsp:
  push {r4-r11, lr}
  sub sp, sp, #52
  ldm r0, {r1-r8}
  movs r9, #4
  rsb r10, r8, #2
  lsl r10, r10, #2
  strd r8, r1, [sp, #16]
  strd r10, r9, [sp, #24]
  add r0, sp, #32
  stm r0, {r2-r5, r7}
  mov r2, r6
7:                                  @ a channel
  add r11, sp, #32
  ldm r11, {r0, r1, r8-r10}         @ plane, channel, y, sums, outputs
  ldrd r4, r5, [r1, #24]
  ldrd r6, r12, [r1, #40]
  ldr r7, [r1, #32]
  stm sp, {r4-r7}
  add r4, r0, #ROW_PLANE
  add r5, r1, #48
  add r6, r8, #1
  add r7, r9, #ROW_SUMS
  stm r11, {r4-r7}
  mov r1, r8
  mov r3, r10
  cmp r12, #1
  beq 4f
  bhi 5f
  ROW PLAIN_4
4:
  ROW UP_4
5:
  cmp r12, #3
  bhs 6f
  ROW AWAY_4
6:
  mov r1, r9
  ROW sums
8:
  PUT_LAST
9:
  ldr r4, [sp, #20]
  ldr r5, [sp, #28]
  adds r4, #ROW_WEIGHT
  str r4, [sp, #20]
  subs r5, #1
  str r5, [sp, #28]
  bne 7b
  add sp, sp, #52
  pop {r4-r11, pc}
  .size deuteron_depthwise_row_dsp, . - deuteron_depthwise_row_dsp

@ A row of four or five taps for four outputs. \s0 to \s3: what is added to.
.macro ROW_OF_FIVE s0, s1, s2, s3
  ldm r0, {r1, r2, r3, r6}
  ldm r11!, {r7-r10}
  adds r0, #PITCH
  smlad r12, r1, r7, \s0
  smlad lr, r1, r8, \s1
  smlad r5, r2, r8, \s3
  smlad r4, r2, r7, \s2
  smlad r12, r2, r9, r12
  smlad lr, r2, r10, lr
  smlad r4, r3, r9, r4
  smlad r5, r3, r10, r5
  ldm r11!, {r7, r8}
  smlad r12, r3, r7, r12
  smlad lr, r3, r8, lr
  smlad r4, r6, r7, r4
  smlad r5, r6, r8, r5
.endm
.equ FIVE_BYTES, 62
.macro BEGIN_SUMS
  mov r12, r4
  mov lr, r4
  mov r5, r4
.endm

@ void deuteron_depthwise_window_dsp(const DspWindow*)
@ DspWindow: plane 0, y 4, y_step 8, outputs 12, channel 16, sums 20, pairs 24, weight 28, rows 32,
@   kind 36, out_rows 40, plane_step 44, row_step 48
@ stack: 0 first, 4 multiplier, 8 added, 12 right, 16 weight, 20 sums, 24 from four outputs to the
@   next in the plane, 28 finish, 32 rows, 36 pairs, 40 from the end of a row of taps to the next,
@   44 plane, 48 rows of taps left, 52 where the sums are made, 56 the first row of two to four of
@   five taps, 60 rows left, 64 from a row to the next in the plane, 68 the same of y, 72 outputs,
@   76 plane of the row, 80 y of the row
  .section .text.deuteron_depthwise_window_dsp,"ax"
  .global deuteron_depthwise_window_dsp
  .type deuteron_depthwise_window_dsp, %function
  .balign 4
deuteron_depthwise_window_dsp:
  push {r4-r11, lr}
  sub sp, sp, #84
  add lr, r0, #40
  ldm r0, {r0-r9}
  ldm lr, {r10-r12}
  strd r10, r11, [sp, #60]
  strd r12, r3, [sp, #68]
  strd r0, r1, [sp, #76]
  rsbs r11, r8, #5
  ite eq
  adreq.w r10, 11f
  adrne.w r10, 14f
  mov r12, #FIVE_BYTES
  adr lr, 11f + 3
  mla r11, r11, r12, lr
  cmp r9, #1
  it lo
  adrlo.w r10, 10f
  it hi
  adrhi.w r10, 12f
  orr r10, r10, #1
  strd r10, r11, [sp, #52]
  strd r7, r5, [sp, #16]
  strd r8, r6, [sp, #32]
  ldrd r9, r10, [r4, #24]           @ first, multiplier
  ldrd r11, r12, [r4, #40]          @ added, finish
  ldr lr, [r4, #32]
  stm sp, {r9, r10, r11, lr}
  ite hi                            @ stride 2
  movhi r4, #16
  movls r4, #8
  strd r4, r12, [sp, #24]
  rsb r6, r6, #(PITCH / 4 - 1)
  lsls r6, r6, #2
  str r6, [sp, #40]
1:                                  @ four outputs
  ldr r11, [sp, #16]
  ldr r4, [sp]
  str r0, [sp, #44]
  ldr pc, [sp, #52]
  .balign 4
10:
  BEGIN_SUMS
  ldr r7, [sp, #32]
2:                                  @ a row of taps
  str r7, [sp, #48]
  ldr r7, [sp, #36]
  ldr r6, [r0], #4
3:
  ldm r11!, {r8, r9}
  ldr r10, [r0], #4
  subs r7, #1
  smlad r12, r6, r8, r12
  smlad lr, r6, r9, lr
  mov r6, r10
  smlad r4, r10, r8, r4
  smlad r5, r10, r9, r5
  bne 3b
  ldr r6, [sp, #40]
  ldr r7, [sp, #48]
  add r0, r6
  subs r7, #1
  bne 2b
13:
  ldr r6, [sp, #28]
  ldr r0, [sp, #44]
  cmp r6, #1
  beq 4f
  bhi 5f
  PLAIN_4
  b 7f
4:
  UP_4
  b 7f
5:
  cmp r6, #3
  bhs 6f
  AWAY_4
7:
  PUT_4
  b 9f
6:
  ldrd r6, r7, [sp, #20]
  add r0, r0, r7
  strd r12, lr, [r6], #8
  strd r4, r5, [r6], #8
  str r6, [sp, #20]
  subs r3, r3, #4
  bgt 1b
  b 9f
8:
  PUT_LAST
9:                                  @ the next row
  ldrd r4, r5, [sp, #60]
  ldrd r6, r3, [sp, #68]
  ldrd r0, r1, [sp, #76]
  subs r4, #1
  str r4, [sp, #60]
  add r0, r5
  add r1, r6
  strd r0, r1, [sp, #76]
  bne 1b
  add sp, sp, #84
  pop {r4-r11, pc}
  .balign 4
14:                                 @ two to four rows of four or five taps
  BEGIN_SUMS
  push {r1-r3}
  ldr pc, [sp, #(56 + 12)]
  .balign 4
11:                                 @ five of them
  push {r1-r3}
  ROW_OF_FIVE r4, r4, r4, r4
  .rept 4
  ROW_OF_FIVE r12, lr, r4, r5
  .endr
  pop {r1-r3}
  b 13b
  .balign 4
12:                                 @ the same, stride 2: each output begins a word of elements
  BEGIN_SUMS
  push {r1-r3}
  ldr r10, [sp, #(32 + 12)]
2:
  ldr r7, [r11], #8
  ldr r8, [r11], #8
  ldr r9, [r11], #8
  ldm r0, {r1, r2, r3, r6}
  smlad r12, r1, r7, r12
  smlad lr, r2, r7, lr
  smlad r4, r3, r7, r4
  smlad r5, r6, r7, r5
  smlad r12, r2, r8, r12
  smlad lr, r3, r8, lr
  ldrd r1, r2, [r0, #16]
  smlad r4, r6, r8, r4
  smlad r12, r3, r9, r12
  smlad lr, r6, r9, lr
  adds r0, #PITCH
  smlad r5, r1, r8, r5
  smlad r4, r1, r9, r4
  smlad r5, r2, r9, r5
  subs r10, r10, #1
  bne 2b
  pop {r1-r3}
  b 13b
  .size deuteron_depthwise_window_dsp, . - deuteron_depthwise_window_dsp
