// SPDX-License-Identifier: Apache-2.0
@ Inner loops for the DSP extension: contracts in kernels/dense/dot_dsp.h. Assembly, because gcc 12
@ keeps neither the fourteen registers of a tile nor the rotation of SXTB16.
  .syntax unified
  .thumb

@ A quad of two windows and two filters: 15 instructions, 16 products. Of each word of weights
@ SXTB16 makes bytes 0 and 2, and with a rotation 1 and 3, which is how the windows are paired.
@   r0 windows   r1 r2 filters   r4 r5 sums of the first filter   r6 r7 of the second
@     r8-r11 windows   r3 r12 lr weights
.macro QUAD_2X2
  ldm r0!, {r8-r11}
  ldr r3, [r1], #4
  ldr lr, [r2], #4
  sxtb16 r12, r3
  sxtb16 r3, r3, ror #8
  smlad r4, r8, r12, r4
  smlad r5, r9, r12, r5
  smlad r4, r10, r3, r4
  smlad r5, r11, r3, r5
  sxtb16 r12, lr
  sxtb16 lr, lr, ror #8
  smlad r6, r8, r12, r6
  smlad r7, r9, r12, r7
  smlad r6, r10, lr, r6
  smlad r7, r11, lr, r7
.endm
.equ QUAD_BYTES, 60

@ clamp(zero + requantize(sum)) for shifts of 0 and below. |sum| < 2^30, so it may be doubled, and
@ SMMULR rounds as the doubling high product does: halves up. Then a shift right that rounds by its
@ last bit; one less from what is negative sends halves away from zero.
@   r3 zero   r12 -shift
.macro FINISH v, multiplier
  lsl \v, \v, #1
  smmulr \v, \v, \multiplier
  cmp r12, #0
  beq 8f
  add \v, \v, \v, asr #31
  asrs \v, \v, r12
  adc \v, \v, #0
8:
  add \v, \v, r3
  ldr r11, [sp, #56]
  cmp \v, r11
  it lt
  movlt \v, r11
  ldr r11, [sp, #60]
  cmp \v, r11
  it gt
  movgt \v, r11
.endm

@ The same for any sum, multiplier and shift, which are few: a channel that is always the same has a
@ bias of up to 2^30, and then one path of its call asks for this. A filter whose shift is 0 and
@ whose multiplier is below 2^30 needs no more than SMMLAR. r10 and r11 become the bounds.
@   r2 multiplier   r3 zero   r12 shift
.macro LOAD_BOUNDS
  ldrd r10, r11, [sp, #56]
.endm
.macro CLAMP v
  cmp \v, r10
  it lt
  movlt \v, r10
  cmp \v, r11
  it gt
  movgt \v, r11
.endm
.macro FINISH_ANY values:vararg
  LOAD_BOUNDS
  orrs r8, r12, r2, lsr #30
  bne 8f
  lsl r2, r2, #1
  .irp v, \values
  smmlar \v, \v, r2, r3
  CLAMP \v
  .endr
  b 9f
8:
  .irp v, \values
  mov r9, \v
  bl deuteron_finish_any_dsp
  mov \v, r9
  .endr
9:
.endm

@ For a pair of filters, whose multipliers are r8 and another one; r10: where the second shift lies.
.macro ANY_PAIR of_first, of_second
  mov r2, r8
  add r10, r10, #4
  str r10, [sp, #28]
  FINISH_ANY \of_first
  ldr r2, [sp, #24]
  ldr r12, [sp, #28]
  ldr r2, [r2, #-4]
  ldr r12, [r12, #-4]
  FINISH_ANY \of_second
  ldr r2, [sp, #16]
  add r2, r2, r1
.endm

@ Not of the procedure call standard: r9 becomes clamp(r3 + requantize(r9, multiplier r2, shift
@ r12), r10, r11); r0 and r8 are lost.
  .section .text.deuteron_finish_any_dsp,"ax"
  .type deuteron_finish_any_dsp, %function
  .balign 4
deuteron_finish_any_dsp:
  bic r0, r12, r12, asr #31         @ to the left
  lsl r9, r9, r0
  smull r8, r9, r9, r2
  adds r8, r8, #0x40000000
  adc r9, r9, #0
  lsl r9, r9, #1
  orr r9, r9, r8, lsr #31
  subs r0, r0, r12                  @ to the right
  beq 1f
  add r9, r9, r9, asr #31
  asrs r9, r9, r0
  adc r9, r9, #0
1:
  add r9, r9, r3
  CLAMP r9
  bx lr
  .size deuteron_finish_any_dsp, . - deuteron_finish_any_dsp

@ offsets: x 0, weight 4, quads 8, rest 12, length 16, first 20, multiplier 24, shift 28, y 32 36 40
@   44, filters 48, y_zero 52, y_min 56,
@          y_max 60, finish 64, weight_offset 68
@ stack of all: as the offsets, but 4 end of x, 8 entry, 12 bytes to go back before the rest or 0,
@   48 end of first
.macro BEGIN step_quads, bytes, quad_shift
  push {r4-r11, lr}
  sub sp, sp, #72
  mov r12, r0
  ldm r12!, {r0-r3}                 @ x, weight, quads, rest
  add lr, sp, #16
  ldm r12!, {r4-r11}                @ length, first, multiplier, shift, y
  stm lr!, {r4-r11}
  ldm r12, {r6-r11}                 @ filters, y_zero, y_min, y_max, finish, weight_offset
  add r6, r5, r6, lsl #2
  stm lr, {r6-r11}
  mov lr, r11
  add r4, r0, r2, lsl #\quad_shift
  strd r0, r4, [sp]
  cmp r3, #0
  it ne
  rsbne r3, r3, #4
  str r3, [sp, #12]
  .if \step_quads == 2
  lsr r2, r2, #1
  .endif
  rsb r2, r2, #0                    @ steps that the first turn leaves out
  and r2, r2, #3
  movs r4, #\bytes
  mul r2, r2, r4
  adr r4, 2f
  add r2, r2, r4
  orr r2, r2, #1
  str r2, [sp, #8]
.endm

@ A quad of four windows and a filter: 13 instructions, 16 products.
@   r0 windows   r1 filter   r4-r7 sums   r8-r11 windows   r3 r12 weights   lr added to weights
.macro QUAD_4X1
  ldm r0!, {r8-r11}
  ldr r3, [r1], #4
  sxtab16 r12, lr, r3
  sxtab16 r3, lr, r3, ror #8
  smlad r4, r8, r12, r4
  smlad r5, r9, r12, r5
  smlad r6, r10, r12, r6
  smlad r7, r11, r12, r7
  ldm r0!, {r8-r11}
  smlad r4, r8, r3, r4
  smlad r5, r9, r3, r5
  smlad r6, r10, r3, r6
  smlad r7, r11, r3, r7
.endm
.equ QUAD_4_BYTES, 52

@ void deuteron_dot_4x1_dsp(const DspDot*)
  .section .text.deuteron_dot_4x1_dsp,"ax"
  .global deuteron_dot_4x1_dsp
  .type deuteron_dot_4x1_dsp, %function
  .balign 4
deuteron_dot_4x1_dsp:
  BEGIN 1, QUAD_4_BYTES, 5
1:                                  @ the filter at r1
  ldr r3, [sp, #20]
  ldr r4, [r3], #4
  str r3, [sp, #20]
  mov r5, r4
  mov r6, r4
  mov r7, r4
  ldrd r0, r2, [sp]
  ldr pc, [sp, #8]
  .balign 4
2:
  .rept 4
  QUAD_4X1
  .endr
  cmp r0, r2
  bne 2b
  ldr r3, [sp, #12]
  cbz r3, 3f
  sub r1, r1, r3
  QUAD_4X1
3:
  ldr r8, [sp, #24]
  ldr r3, [sp, #64]
  ldr r2, [r8], #4
  str r8, [sp, #24]
  cbnz r3, 5f
  ldr r3, [sp, #52]
  lsl r2, r2, #1
  smmlar r4, r4, r2, r3
  smmlar r5, r5, r2, r3
  smmlar r6, r6, r2, r3
  smmlar r7, r7, r2, r3
  ssat r4, #8, r4
  ssat r5, #8, r5
  ssat r6, #8, r6
  ssat r7, #8, r7
4:
  add r12, sp, #32
  ldm r12, {r8-r11}
  ldr r2, [sp, #20]
  ldr r3, [sp, #48]
  strb r4, [r8], #1
  strb r5, [r9], #1
  strb r6, [r10], #1
  strb r7, [r11], #1
  stm r12, {r8-r11}
  cmp r2, r3
  bne 1b
  add sp, sp, #72
  pop {r4-r11, pc}
5:
  cmp r3, #1
  ldr r10, [sp, #28]
  ldr r3, [sp, #52]
  ldr r12, [r10], #4
  str r10, [sp, #28]
  bne 6f
  rsb r12, r12, #0
  FINISH r4, r2
  FINISH r5, r2
  FINISH r6, r2
  FINISH r7, r2
  b 4b
6:
  FINISH_ANY r4, r5, r6, r7
  ldr lr, [sp, #68]
  b 4b
  .size deuteron_dot_4x1_dsp, . - deuteron_dot_4x1_dsp

@ void deuteron_dot_2x2_dsp(const DspDot*)
  .section .text.deuteron_dot_2x2_dsp,"ax"
  .global deuteron_dot_2x2_dsp
  .type deuteron_dot_2x2_dsp, %function
  .balign 4
deuteron_dot_2x2_dsp:
  BEGIN 1, QUAD_BYTES, 4
  ldr r2, [sp, #16]
  add r2, r2, r1
1:                                  @ a pair of filters at r1, r2
  ldr r3, [sp, #20]
  ldm r3!, {r4, r6}
  str r3, [sp, #20]
  mov r5, r4
  mov r7, r6
  ldr r0, [sp]
  ldr pc, [sp, #8]
  .balign 4
2:
  .rept 4
  QUAD_2X2
  .endr
  ldr r3, [sp, #4]
  cmp r0, r3
  bne 2b
  ldr r3, [sp, #12]
  cbz r3, 3f
  sub r1, r1, r3
  sub r2, r2, r3
  QUAD_2X2
3:
  mov r1, r2
  ldr r3, [sp, #16]
  add r2, r2, r3
  ldr r3, [sp, #64]
  ldr r12, [sp, #24]
  ldm r12!, {r8, r9}
  str r12, [sp, #24]
  cbnz r3, 5f
  ldr r3, [sp, #52]
  lsl r8, r8, #1
  lsl r9, r9, #1
  smmlar r4, r4, r8, r3
  smmlar r5, r5, r8, r3
  smmlar r6, r6, r9, r3
  smmlar r7, r7, r9, r3
  ssat r4, #8, r4
  ssat r5, #8, r5
  ssat r6, #8, r6
  ssat r7, #8, r7
4:
  ldrd r8, r9, [sp, #32]
  ldr r3, [sp, #20]
  ldr r12, [sp, #48]
  strb r6, [r8, #1]
  strb r4, [r8], #2
  strb r7, [r9, #1]
  strb r5, [r9], #2
  strd r8, r9, [sp, #32]
  cmp r3, r12
  bne 1b
  add sp, sp, #72
  pop {r4-r11, pc}
5:
  cmp r3, #1
  ldr r10, [sp, #28]
  ldr r3, [sp, #52]
  ldr r12, [r10], #4
  bne 6f
  rsb r12, r12, #0
  FINISH r4, r8
  FINISH r5, r8
  ldr r12, [r10], #4
  rsb r12, r12, #0
  str r10, [sp, #28]
  FINISH r6, r9
  FINISH r7, r9
  b 4b
6:
  ANY_PAIR "r4, r5", "r6, r7"
  b 4b
  .size deuteron_dot_2x2_dsp, . - deuteron_dot_2x2_dsp

@ Eight elements of one window and two filters: 19 instructions, 16 products.
@   r0 window   r1 r2 filters   r4 r6 sums   r8-r11 window   r3 lr r12 weights
.macro EIGHT_1X2
  ldm r0!, {r8-r11}
  ldm r1!, {r3, lr}
  sxtb16 r12, r3
  sxtb16 r3, r3, ror #8
  smlad r4, r8, r12, r4
  smlad r4, r9, r3, r4
  sxtb16 r12, lr
  sxtb16 lr, lr, ror #8
  smlad r4, r10, r12, r4
  smlad r4, r11, lr, r4
  ldm r2!, {r3, lr}
  sxtb16 r12, r3
  sxtb16 r3, r3, ror #8
  smlad r6, r8, r12, r6
  smlad r6, r9, r3, r6
  sxtb16 r12, lr
  sxtb16 lr, lr, ror #8
  smlad r6, r10, r12, r6
  smlad r6, r11, lr, r6
.endm
.equ EIGHT_BYTES, 76

@ void deuteron_dot_1x2_dsp(const DspDot*)
  .section .text.deuteron_dot_1x2_dsp,"ax"
  .global deuteron_dot_1x2_dsp
  .type deuteron_dot_1x2_dsp, %function
  .balign 4
deuteron_dot_1x2_dsp:
  BEGIN 2, EIGHT_BYTES, 3
  ldr r2, [sp, #16]
  add r2, r2, r1
1:
  ldr r3, [sp, #20]
  ldm r3!, {r4, r6}
  str r3, [sp, #20]
  ldr r0, [sp]
  ldr pc, [sp, #8]
  .balign 4
2:
  .rept 4
  EIGHT_1X2
  .endr
  ldr r3, [sp, #4]
  cmp r0, r3
  bne 2b
  mov r1, r2
  ldr r3, [sp, #16]
  add r2, r2, r3
  ldr r3, [sp, #64]
  ldr r12, [sp, #24]
  ldm r12!, {r8, r9}
  str r12, [sp, #24]
  cbnz r3, 5f
  ldr r3, [sp, #52]
  lsl r8, r8, #1
  lsl r9, r9, #1
  smmlar r4, r4, r8, r3
  smmlar r6, r6, r9, r3
  ssat r4, #8, r4
  ssat r6, #8, r6
4:
  ldr r8, [sp, #32]
  ldr r3, [sp, #20]
  ldr r12, [sp, #48]
  strb r6, [r8, #1]
  strb r4, [r8], #2
  str r8, [sp, #32]
  cmp r3, r12
  bne 1b
  add sp, sp, #72
  pop {r4-r11, pc}
5:
  cmp r3, #1
  ldr r10, [sp, #28]
  ldr r3, [sp, #52]
  ldr r12, [r10], #4
  bne 6f
  rsb r12, r12, #0
  FINISH r4, r8
  ldr r12, [r10], #4
  rsb r12, r12, #0
  str r10, [sp, #28]
  FINISH r6, r9
  b 4b
6:
  ANY_PAIR "r4", "r6"
  b 4b
  .size deuteron_dot_1x2_dsp, . - deuteron_dot_1x2_dsp

@ int16_t* deuteron_widen_two_dsp(const int8_t* a, const int8_t* b, int32_t quads, int16_t* to,
@   uint32_t offset)
  .section .text.deuteron_widen_two_dsp,"ax"
  .global deuteron_widen_two_dsp
  .type deuteron_widen_two_dsp, %function
  .balign 4
.macro WIDEN_TWO
  ldr r8, [r0], #4
  ldr r9, [r1], #4
  sxtab16 r4, r12, r8
  sxtab16 r5, r12, r9
  sxtab16 r6, r12, r8, ror #8
  sxtab16 r7, r12, r9, ror #8
  stm r3!, {r4-r7}
.endm
deuteron_widen_two_dsp:
  push {r4-r9, lr}
  ldr r12, [sp, #28]
  lsrs r2, r2, #1
  bcc 1f
  WIDEN_TWO
1:
  lsrs r2, r2, #1
  bcc 4f
  WIDEN_TWO
  WIDEN_TWO
4:
  cbz r2, 3f
2:
  WIDEN_TWO
  WIDEN_TWO
  WIDEN_TWO
  WIDEN_TWO
  subs r2, #1
  bne 2b
3:
  mov r0, r3
  pop {r4-r9, pc}
  .size deuteron_widen_two_dsp, . - deuteron_widen_two_dsp

@ int16_t* deuteron_widen_four_dsp(const int8_t* const (&x)[4], int32_t quads, int16_t* to, uint32_t
@   offset)
  .section .text.deuteron_widen_four_dsp,"ax"
  .global deuteron_widen_four_dsp
  .type deuteron_widen_four_dsp, %function
  .balign 4
deuteron_widen_four_dsp:
  push {r4-r11, lr}
  mov r12, r2
  mov lr, r3
  mov r4, r1
  ldm r0, {r0-r3}
  cbz r4, 2f
1:
  ldr r8, [r0], #4
  ldr r9, [r1], #4
  ldr r10, [r2], #4
  ldr r11, [r3], #4
  sxtab16 r5, lr, r8
  sxtab16 r6, lr, r9
  strd r5, r6, [r12], #8
  sxtab16 r5, lr, r10
  sxtab16 r6, lr, r11
  strd r5, r6, [r12], #8
  sxtab16 r8, lr, r8, ror #8
  sxtab16 r9, lr, r9, ror #8
  sxtab16 r10, lr, r10, ror #8
  sxtab16 r11, lr, r11, ror #8
  stm r12!, {r8-r11}
  subs r4, #1
  bne 1b
2:
  mov r0, r12
  pop {r4-r11, pc}
  .size deuteron_widen_four_dsp, . - deuteron_widen_four_dsp

@ int16_t* deuteron_widen_dsp(const int8_t* a, int32_t quads, int16_t* to, uint32_t offset, int32_t
@   windows)
  .section .text.deuteron_widen_dsp,"ax"
  .global deuteron_widen_dsp
  .type deuteron_widen_dsp, %function
  .balign 4
deuteron_widen_dsp:
  push {r4, r5, lr}
  cbz r1, 2f
  ldr r5, [sp, #12]
  lsls r5, r5, #2                   @ bytes from a pair to the next one of the window
1:
  ldr r12, [r0], #4
  subs r1, #1
  sxtab16 r4, r3, r12
  sxtab16 r12, r3, r12, ror #8
  str r4, [r2]
  str r12, [r2, r5]
  add r2, r2, r5, lsl #1
  bne 1b
2:
  mov r0, r2
  pop {r4, r5, pc}
  .size deuteron_widen_dsp, . - deuteron_widen_dsp
