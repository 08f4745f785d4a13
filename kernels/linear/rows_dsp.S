// SPDX-License-Identifier: Apache-2.0
@ One window against three rows of plain weights, for the DSP extension: contract in
@ kernels/linear/rows_dsp.h. Assembly, because the loop takes all fourteen registers, and gcc 12
@ keeps no rotation of SXTB16.
@
@ SXTB16 makes bytes 0 and 2 of a word of weights, and with a rotation 1 and 3, which is how the
@ window is paired. That and the products are an instruction for each, which no order of plain
@ weights avoids; what three rows share is the loads of the window. A fourth row has no register
@ left for its sum and its pointer.
  .syntax unified
  .thumb

@ Eight elements of a row: 9 instructions.
@   r4-r7 window   r8 r9 weights   r10 one half of them
.macro ROW weight, sum
  ldm \weight!, {r8, r9}
  sxtb16 r10, r8
  sxtb16 r8, r8, ror #8
  smlad \sum, r4, r10, \sum
  smlad \sum, r5, r8, \sum
  sxtb16 r10, r9
  sxtb16 r9, r9, ror #8
  smlad \sum, r6, r10, \sum
  smlad \sum, r7, r9, \sum
.endm
@ And of three: 28 instructions, 24 products.
@   r0 window   r1 r2 r3 weights   r11 r12 lr sums
.macro STEP
  ldm r0!, {r4-r7}
  ROW r1, r11
  ROW r2, r12
  ROW r3, lr
.endm
.equ STEP_BYTES, 110
.equ STEPS, 8

@ void deuteron_rows_dsp(const DspRows*)
@ stack: 0 x, 4 left out, 8 first, 12 y, 16 multiplier, 20 right, 24 row step, 28 end of first, 32
@   added, 36 where the first turn enters,
@ 40 end of x
  .section .text.deuteron_rows_dsp,"ax"
  .global deuteron_rows_dsp
  .type deuteron_rows_dsp, %function
  .balign 4
deuteron_rows_dsp:
  push {r4-r11, lr}
  sub sp, sp, #44
  ldm r0, {r1, r2, r4-r12}
  mov r0, r1
  mov r3, r11
  add lr, r1, r12, lsl #1           @ end of x
  lsr r12, r12, #3
  rsb r12, r12, #0                  @ steps that the first turn leaves out
  and r12, r12, #(STEPS - 1)
  mov r11, #STEP_BYTES
  mul r12, r12, r11
  adr r11, 2f
  add r11, r11, r12
  orr r11, r11, #1
  mov r12, lr
  stm sp, {r1, r2, r4-r12}
1:                                  @ three rows, of which the first begins at r3
  ldm r4!, {r11, r12, lr}
  strd r4, r5, [sp, #8]
  mov r1, r3
  add r2, r3, r8
  add r3, r3, r8, lsl #1
  ldr pc, [sp, #36]
  .balign 4
2:
  .rept STEPS
  STEP
  .endr
  ldr r10, [sp, #40]
  cmp r0, r10
  bne 2b
  ldm sp, {r0, r1, r4-r10}
  add r3, r3, r1
  cbnz r7, 4f
  smmlar r11, r11, r6, r10
  smmlar r12, r12, r6, r10
  smmlar lr, lr, r6, r10
3:
  ssat r11, #8, r11
  ssat r12, #8, r12
  ssat lr, #8, lr
  strb r11, [r5], #1
  strb r12, [r5], #1
  strb lr, [r5], #1
  cmp r4, r9
  bne 1b
  add sp, sp, #44
  pop {r4-r11, pc}
4:                                  @ doubled and multiplied, then to the right: one less from what
                                    @ is negative sends halves away from zero
  qadd r11, r11, r11
  qadd r12, r12, r12
  qadd lr, lr, lr
  add r1, r10, r11, asr #31
  add r2, r10, r12, asr #31
  add r10, r10, lr, asr #31
  smmlar r11, r11, r6, r1
  smmlar r12, r12, r6, r2
  smmlar lr, lr, r6, r10
  asr r11, r11, r7
  asr r12, r12, r7
  asr lr, lr, r7
  b 3b
  .size deuteron_rows_dsp, . - deuteron_rows_dsp

@ void deuteron_widen_row_dsp(const int8_t* x, int32_t eights, int16_t* to, uint32_t offset)
  .section .text.deuteron_widen_row_dsp,"ax"
  .global deuteron_widen_row_dsp
  .type deuteron_widen_row_dsp, %function
  .balign 4
deuteron_widen_row_dsp:
  push {r4-r7, lr}
1:
  ldr r12, [r0], #4
  ldr lr, [r0], #4
  sxtab16 r4, r3, r12
  sxtab16 r5, r3, r12, ror #8
  sxtab16 r6, r3, lr
  sxtab16 r7, r3, lr, ror #8
  stm r2!, {r4-r7}
  subs r1, r1, #1
  bne 1b
  pop {r4-r7, pc}
  .size deuteron_widen_row_dsp, . - deuteron_widen_row_dsp
