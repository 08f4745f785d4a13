// SPDX-License-Identifier: Apache-2.0
// Depthwise 3x3 for cores with Thumb-1: contracts in planes_thumb1_scalar.h. Assembly, because gcc
// 12 loads words one by one. 34 instructions an output. Empty for other cores.
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1
  .syntax unified
  .thumb
.equ ROW_BYTES, 72

@ Three taps of a row: r2 is their sum.
.macro TAPS
  ldm r0!, {r2-r4}
  ldm r1!, {r5-r7}
  muls r2, r5, r2
  muls r3, r6, r3
  muls r4, r7, r4
  adds r2, r2, r3
  adds r2, r2, r4
.endm

@ void name(const Thumb1Plane*)
@   r0 plane   r1 weights   r8 sum   r9 next sum   r10 end of the row of sums
@     r11 bytes of that row   r12 rows that are left   lr bytes from a
@   row's end in the plane to the next row
.macro DEPTHWISE name, stride
  .section .text.\name,"ax"
  .global \name
  .type \name, %function
  .balign 4
\name:
  push {r4-r7, lr}
  mov r4, r8
  mov r5, r9
  mov r6, r10
  mov r7, r11
  push {r4-r7}
  ldm r0!, {r3, r4, r5, r6, r7}
  mov r1, r4
  lsls r5, r5, #2
  mov r11, r5
  mov r12, r6
  mov r9, r7
  adds r7, r7, r5
  mov r10, r7
  movs r0, #(\stride * ROW_BYTES)
  .if \stride == 2
  lsls r5, r5, #1
  .endif
  subs r0, r0, r5
  mov lr, r0
  movs r0, r3
1:
  TAPS
  adds r0, #(ROW_BYTES - 12)
  mov r8, r2
  TAPS
  adds r0, #(ROW_BYTES - 12)
  add r8, r2
  TAPS
  add r2, r8
  mov r3, r9
  stm r3!, {r2}
  mov r9, r3
  subs r0, #(2 * ROW_BYTES + 12 - 4 * \stride)
  subs r1, #36
  cmp r3, r10
  bne 1b
  add r10, r11
  add r0, lr
  mov r2, r12
  subs r2, #1
  mov r12, r2
  bne 1b
  pop {r4-r7}
  mov r8, r4
  mov r9, r5
  mov r10, r6
  mov r11, r7
  pop {r4-r7, pc}
  .size \name, . - \name
.endm
  DEPTHWISE deuteron_depthwise_s1_thumb1, 1
  DEPTHWISE deuteron_depthwise_s2_thumb1, 2
#endif
