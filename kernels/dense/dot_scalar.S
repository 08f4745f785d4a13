// SPDX-License-Identifier: Apache-2.0
// Inner loops for Cortex-M3: contracts in dot_scalar.h. Assembly, because gcc 12 keeps no tile of
// eight sums in registers. Empty for cores without Thumb-2, and for those that have the DSP
// extension.
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB >= 2
  .syntax unified
  .thumb

@ offsets of ScalarDot, and of its copy on the stack: x 0, weight 4, length 8, first 12, multiplier
@   16, shift 20, y 24 28 32 36, filters 40,
@          y_zero 44, y_min 48, y_max 52, has_bounds 56
@ stack beside it: 4 end of x, 40 end of first, 60 entry
.macro BEGIN bytes, element_shift
  push {r4-r11, lr}
  sub sp, sp, #68
  ldm r0!, {r2-r9}
  stm sp, {r2-r9}
  add r10, sp, #32
  ldm r0, {r2-r8}
  stm r10, {r2-r8}
  ldrd r0, r1, [sp]
  ldrd r2, r3, [sp, #8]
  ldr r4, [sp, #40]
  add r3, r3, r4, lsl #2
  str r3, [sp, #40]
  add r3, r0, r2, lsl #\element_shift
  str r3, [sp, #4]
  rsb r3, r2, #0                    @ elements that the first turn leaves out
  and r3, r3, #7
  movs r4, #\bytes
  mul r4, r3, r4
  adr r5, 2f
  add r4, r4, r5
  orr r4, r4, #1
  str r4, [sp, #60]
.endm

@ Not of the procedure call standard: r12 becomes clamp(zero + requantize(r12, multiplier r3, shift
@ r2)); r0 is lost.
  .section .text.deuteron_finish_scalar,"ax"
  .type deuteron_finish_scalar, %function
  .balign 4
deuteron_finish_scalar:
  bic r0, r2, r2, asr #31           @ to the left
  lsl r12, r12, r0
  smull r0, r12, r12, r3
  adds r0, r0, #0x40000000
  adc r12, r12, #0
  lsl r12, r12, #1
  orr r12, r12, r0, lsr #31
  bic r0, r2, r2, asr #31
  subs r0, r0, r2                   @ to the right
  beq 1f
  add r12, r12, r12, asr #31        @ one less from what is negative sends halves away from zero
  asrs r12, r12, r0
  adc r12, r12, #0
1:
  ldr r0, [sp, #44]
  add r12, r12, r0
  ldr r0, [sp, #48]
  cmp r12, r0
  it lt
  movlt r12, r0
  ldr r0, [sp, #52]
  cmp r12, r0
  it gt
  movgt r12, r0
  bx lr
  .size deuteron_finish_scalar, . - deuteron_finish_scalar

@ The sums of the next filter become bytes. A shift of 0 and a multiplier below 2^30, which may be
@ doubled, leave the high word of the product and the bit below it.   r0 r2 r3 r12 lr are lost
.macro FINISH values:vararg
  ldrd r0, r12, [sp, #16]
  ldr r3, [r0], #4
  ldr r2, [r12], #4
  strd r0, r12, [sp, #16]
  ldr r0, [sp, #56]
  orr r0, r0, r3, lsr #30
  orrs r0, r0, r2
  beq 7f
  .irp v, \values
  mov r12, \v
  bl deuteron_finish_scalar
  mov \v, r12
  .endr
  b 8f
7:
  lsl r3, r3, #1
  ldr lr, [sp, #44]
  .irp v, \values
  smull r12, \v, \v, r3
  add \v, \v, r12, lsr #31
  add \v, \v, lr
  ssat \v, #8, \v
  .endr
8:
.endm

@ An element of four windows and two filters: 14 instructions, 8 products. The loads of a Cortex-M3
@ overlap where they follow one another.
@   r0 windows   r1 filters   r2 length   r4-r7 sums of the first filter   r8-r11 of the second
@     r3 r12 weights   lr window
.macro ELEMENT_4X2 k
  ldrsb.w r3, [r1, r2]
  ldrsb.w r12, [r1], #1
  ldrsh.w lr, [r0, #(8 * \k)]
  mla r4, lr, r12, r4
  mla r8, lr, r3, r8
  ldrsh.w lr, [r0, #(8 * \k + 2)]
  mla r5, lr, r12, r5
  mla r9, lr, r3, r9
  ldrsh.w lr, [r0, #(8 * \k + 4)]
  mla r6, lr, r12, r6
  mla r10, lr, r3, r10
  ldrsh.w lr, [r0, #(8 * \k + 6)]
  mla r7, lr, r12, r7
  mla r11, lr, r3, r11
.endm

@ void deuteron_dot_4x2_scalar(const ScalarDot*)
  .section .text.deuteron_dot_4x2_scalar,"ax"
  .global deuteron_dot_4x2_scalar
  .type deuteron_dot_4x2_scalar, %function
  .balign 4
deuteron_dot_4x2_scalar:
  BEGIN 56, 3
  sub r0, r0, r3, lsl #3
  str r0, [sp]
1:                                  @ a pair of filters at r1
  ldr r3, [sp, #12]
  ldrd r4, r8, [r3], #8
  str r3, [sp, #12]
  mov r5, r4
  mov r6, r4
  mov r7, r4
  mov r9, r8
  mov r10, r8
  mov r11, r8
  ldr r0, [sp]
  ldr pc, [sp, #60]
  .balign 4
2:
  ELEMENT_4X2 0
  ELEMENT_4X2 1
  ELEMENT_4X2 2
  ELEMENT_4X2 3
  ELEMENT_4X2 4
  ELEMENT_4X2 5
  ELEMENT_4X2 6
  ELEMENT_4X2 7
  ldr lr, [sp, #4]
  add r0, r0, #64
  cmp r0, lr
  bne 2b
  add r1, r1, r2
  FINISH r4, r5, r6, r7
  FINISH r8, r9, r10, r11
  add r12, sp, #24
  ldm r12, {r0, r2, r3, lr}
  strb r8, [r0, #1]
  strb r4, [r0], #2
  strb r9, [r2, #1]
  strb r5, [r2], #2
  strb r10, [r3, #1]
  strb r6, [r3], #2
  strb r11, [lr, #1]
  strb r7, [lr], #2
  stm r12, {r0, r2, r3, lr}
  ldr r3, [sp, #12]
  ldr r0, [sp, #40]
  ldr r2, [sp, #8]
  cmp r3, r0
  bne 1b
  add sp, sp, #68
  pop {r4-r11, pc}
  .size deuteron_dot_4x2_scalar, . - deuteron_dot_4x2_scalar

@ An element of one window and four filters: 9 instructions, 4 products.
@   r0 window   r1 r2 r3 r10 filters   r4-r7 sums   r8 window   r9 weight   r11 end of the window
.macro ELEMENT_1X4
  ldrsh.w r8, [r0], #2
  ldrsb.w r9, [r1], #1
  mla r4, r8, r9, r4
  ldrsb.w r9, [r2], #1
  mla r5, r8, r9, r5
  ldrsb.w r9, [r3], #1
  mla r6, r8, r9, r6
  ldrsb.w r9, [r10], #1
  mla r7, r8, r9, r7
.endm

@ void deuteron_dot_1x4_scalar(const ScalarDot*)
  .section .text.deuteron_dot_1x4_scalar,"ax"
  .global deuteron_dot_1x4_scalar
  .type deuteron_dot_1x4_scalar, %function
  .balign 4
deuteron_dot_1x4_scalar:
  BEGIN 36, 1
  ldr r11, [sp, #4]
1:                                  @ four filters at r1
  ldr r0, [sp, #12]
  ldm r0!, {r4-r7}
  str r0, [sp, #12]
  ldr lr, [sp, #8]
  add r2, r1, lr
  add r3, r2, lr
  add r10, r3, lr
  ldr r0, [sp]
  ldr pc, [sp, #60]
  .balign 4
2:
  .rept 8
  ELEMENT_1X4
  .endr
  cmp r0, r11
  bne 2b
  mov r1, r10
  FINISH r4
  FINISH r5
  FINISH r6
  FINISH r7
  ldr r0, [sp, #24]
  strb r4, [r0], #1
  strb r5, [r0], #1
  strb r6, [r0], #1
  strb r7, [r0], #1
  str r0, [sp, #24]
  ldr r3, [sp, #12]
  ldr r0, [sp, #40]
  cmp r3, r0
  bne 1b
  add sp, sp, #68
  pop {r4-r11, pc}
  .size deuteron_dot_1x4_scalar, . - deuteron_dot_1x4_scalar
#endif
