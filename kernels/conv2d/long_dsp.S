// SPDX-License-Identifier: Apache-2.0
@ The inner loop of long windows: contract in kernels/conv2d/long_dsp.h. Assembly, because gcc 12
@ keeps neither the fourteen registers nor the rotation of SXTB16.
  .syntax unified
  .thumb

@ A quad of one window and one filter: 5 instructions, 4 products.
@   r4 r5 elements, even and odd   r6 r7 weights
.macro MEET sum, at:vararg
  ldr r6, [\at]
  sxtb16 r7, r6
  smlad \sum, r4, r7, \sum
  sxtb16 r6, r6, ror #8
  smlad \sum, r5, r6, \sum
.endm

@ 26 instructions for 16 products, but for the end of a loop of one quad.
@   r0 x   r1 quads   r2 offset   r3 weights   r12 stride   lr three strides   r8-r11 sums
  .section .text.deuteron_add_long_dsp, "ax", %progbits
  .global deuteron_add_long_dsp
  .type deuteron_add_long_dsp, %function
deuteron_add_long_dsp:
  push {r4-r11, lr}
  ldrd r12, r4, [sp, #36]
  ldm r4, {r8-r11}
  add lr, r12, r12, lsl #1
1:
  ldr r5, [r0], #4
  sxtab16 r4, r2, r5
  sxtab16 r5, r2, r5, ror #8
  MEET r9, r3, r12
  MEET r10, r3, r12, lsl #1
  MEET r11, r3, lr
  ldr r6, [r3], #4
  sxtb16 r7, r6
  smlad r8, r4, r7, r8
  sxtb16 r6, r6, ror #8
  smlad r8, r5, r6, r8
  subs r1, r1, #1
  bne 1b
  ldr r4, [sp, #40]
  stm r4, {r8-r11}
  pop {r4-r11, pc}
  .size deuteron_add_long_dsp, . - deuteron_add_long_dsp
