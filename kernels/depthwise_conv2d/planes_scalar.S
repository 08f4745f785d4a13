// SPDX-License-Identifier: Apache-2.0
// Depthwise 3x3 for Cortex-M3: contracts in kernels/depthwise_conv2d/planes_scalar.h. Assembly,
// because gcc 12 does not keep nine weights in registers beside a sum. 32 instructions an output.
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB >= 2
  .syntax unified
  .thumb
.equ PITCH, 64

.macro TAPS offset, wa, wb, wc
  ldrsh.w r12, [r0, #\offset]
  ldrsh.w lr, [r0, #(\offset + 2)]
  mla r11, r12, \wa, r11
  ldrsh.w r12, [r0, #(\offset + 4)]
  mla r11, lr, \wb, r11
  mla r11, r12, \wc, r11
.endm

@ The frame is the part of ScalarPlane behind the weights, then what the loops count with:
@ first 0, multiplier 4, left 8, right 12, y_zero 16, y_min 20, y_max 24, y_step 28, row_step 32,
@ rows 36, columns 40, is_plain 44; 48 end of the row, 52 its x, 56 its y, 60 its bytes
.macro PLAIN
  ldr r12, [sp, #4]
  smull lr, r11, r11, r12
  ldr r12, [sp, #16]
  add r11, r11, lr, lsr #31         @ the bit below the high word rounds
  add r11, r11, r12
  ssat r11, #8, r11
.endm
.macro ANY
  ldr r12, [sp, #8]
  lsl r11, r11, r12
  ldr r12, [sp, #4]
  smull lr, r11, r11, r12
  adds lr, lr, #0x40000000
  adc r11, r11, #0
  lsl r11, r11, #1
  orr r11, r11, lr, lsr #31
  ldr r12, [sp, #12]
  cmp r12, #0
  beq 8f
  add r11, r11, r11, asr #31
  asrs r11, r11, r12
  adc r11, r11, #0
8:
  ldr r12, [sp, #16]
  add r11, r11, r12
  ldrd r12, lr, [sp, #20]
  cmp r11, r12
  it lt
  movlt r11, r12
  cmp r11, lr
  it gt
  movgt r11, lr
.endm

@ All rows.   r0 plane   r1 y   r2-r10 weights   r11 sum
.macro ROWS stride, way
1:
  strd r0, r1, [sp, #52]
  ldr r12, [sp, #60]
  add r12, r12, r0
  str r12, [sp, #48]
2:
  ldr r11, [sp]
  TAPS 0, r2, r3, r4
  TAPS PITCH, r5, r6, r7
  TAPS (2 * PITCH), r8, r9, r10
  \way
  ldr r12, [sp, #28]
  ldr lr, [sp, #48]
  strb r11, [r1]
  add r1, r1, r12
  add r0, r0, #(2 * \stride)
  cmp r0, lr
  bne 2b
  ldrd r0, r1, [sp, #52]
  ldr r12, [sp, #32]
  add r0, r0, #(\stride * PITCH)
  add r1, r1, r12
  ldr r12, [sp, #36]
  subs r12, r12, #1
  str r12, [sp, #36]
  bne 1b
.endm

@ void name(const int16_t* plane, int8_t* y, const ScalarPlane*)
.macro DEPTHWISE name, stride
  .section .text.\name,"ax"
  .global \name
  .type \name, %function
  .balign 4
\name:
  push {r4-r11, lr}
  sub sp, sp, #68
  add r2, r2, #36
  ldm r2!, {r3-r8}
  stm sp, {r3-r8}
  add r12, sp, #24
  ldm r2, {r3-r8}
  stm r12, {r3-r8}
  lsl r7, r7, #\stride
  str r7, [sp, #60]
  sub r2, r2, #60
  cmp r8, #0
  ldm r2, {r2-r10}
  beq 7f
  ROWS \stride, PLAIN
  b 9f
7:
  ROWS \stride, ANY
9:
  add sp, sp, #68
  pop {r4-r11, pc}
  .size \name, . - \name
.endm
  DEPTHWISE deuteron_depthwise_s1_scalar, 1
  DEPTHWISE deuteron_depthwise_s2_scalar, 2
#endif
