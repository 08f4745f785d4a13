// SPDX-License-Identifier: Apache-2.0
@ Depthwise windows of any size for the M-profile Vector Extension: contract in
@ kernels/depthwise_conv2d/columns_mve.h. Assembly, because gcc 12 builds a vector of four sums
@ through the stack and keeps a pointer for each window.
  .syntax unified
  .thumb

@ The window at r1 -> \sum: its first vector lies in q4. That of the next window is loaded to q4,
@ since a load must stand between two products: they overlap on Cortex-M55.
.macro WINDOW sum, vectors
  vldrb.u8 q5, [r1, #16]
  vmladav.s8 \sum, q4, q0
  .if \vectors == 4
  vldrb.u8 q4, [r1, #32]
  vmladava.s8 \sum, q5, q1
  vldrb.u8 q5, [r1, #48]
  vmladava.s8 \sum, q4, q2
  add r1, r3
  vldrb.u8 q4, [r1]
  vmladava.s8 \sum, q5, q3
  .else
  add r1, r3
  vldrb.u8 q4, [r1]
  vmladava.s8 \sum, q5, q1
  .endif
.endm

@ Four windows from r1 on -> four bytes at r7 + q7. Ways: FINISH of
@ kernels/depthwise_conv2d/strip_mve.S. Here r9 is -1 where halves go away from zero, and q6 holds
@ the multiplier.
.macro GROUP vectors, way
  vldrb.u8 q4, [r1]
  WINDOW r0, \vectors
  WINDOW r2, \vectors
  WINDOW r4, \vectors
  WINDOW r6, \vectors
  vmov q4[2], q4[0], r0, r4
  vmov q4[3], q4[1], r2, r6
  vadd.i32 q4, q4, r8
  .ifc \way, general
  vqrdmulh.s32 q4, q4, r9
  vdup.32 q5, r10
  vand q5, q5, q4
  vshr.s32 q5, q5, #31
  vqadd.s32 q4, q4, q5
  vrshl.s32 q4, r10
  vadd.i32 q4, q4, r5
  vldrw.u32 q5, [sp]
  vmax.s32 q4, q4, q5
  vldrw.u32 q5, [sp, #16]
  vmin.s32 q4, q4, q5
  .else
  vqrdmlash.s32 q4, q6, r5
  .ifc \way, away
  vpt.s32 lt, q4, r5
  vaddt.i32 q4, q4, r9
  .endif
  vqshl.s32 q4, r10
  vshr.s32 q4, q4, #24
  .endif
  vstrb.32 q4, [r7, q7]
  add r7, r11
.endm

@ All groups: r6 of them.
.macro GROUPS vectors, way
  dls lr, r6
3:
  GROUP \vectors, \way
  le lr, 3b
.endm

@ void deuteron_columns_2_mve(const MveColumns*), deuteron_columns_4_mve: taps of up to two vectors,
@ up to four.
@ offsets: from 0, y 4, filter 8, finish 12, channels 16, channel_bytes 20, back_from 24, back_y 28,
@   groups 32, step 36, y_step 40, y_min 44,
@          y_max 48
@ stack: 0 lower bounds, 16 upper bounds, 32 from, 36 y, 40 filter, 44 finish, 48 channels left, 52
@   back_y while the group more is under way
@ q0..q3 filter, q4 q5 loads and sums, q6 multiplier, q7 places of four outputs
@ r0 r2 r4 r6 sums   r1 from   r3 step   r5 added   r7 y   r8 first   r9 multiplier   r10 shift
@   r11 4 * y_step   r12 arguments
.macro COLUMNS vectors
  .balign 4
  .global deuteron_columns_\vectors\()_mve
  .type deuteron_columns_\vectors\()_mve, %function
deuteron_columns_\vectors\()_mve:
  push {r3-r11, lr}
  vpush {d8-d15}
  sub sp, #56
  mov r12, r0
  ldrd r4, r6, [r12, #44]
  vdup.32 q4, r4
  vdup.32 q5, r6
  vstrw.32 q4, [sp]
  vstrw.32 q5, [sp, #16]
  ldrd r1, r7, [r12]
  ldrd r4, r6, [r12, #8]
  strd r4, r6, [sp, #40]
  ldr r4, [r12, #16]
  ldr r6, [r12, #28]
  strd r4, r6, [sp, #48]
  ldrd r3, r11, [r12, #36]
  movs r4, #0
  vidup.u32 q7, r4, #1
  vmul.i32 q7, q7, r11
  lsl r11, r11, #2
1:                                  @ a channel
  strd r1, r7, [sp, #32]
  ldrd r4, r6, [sp, #40]
  vldrb.u8 q0, [r4]
  vldrb.u8 q1, [r4, #16]
  .if \vectors == 4
  vldrb.u8 q2, [r4, #32]
  vldrb.u8 q3, [r4, #48]
  .endif
  adds r4, #64
  ldmia r6!, {r5, r8-r10}
  strd r4, r6, [sp, #40]
  vdup.32 q6, r9
  movs r6, #1                       @ a group more, inside which the next one begins
  ldr r4, [sp, #52]
  cbnz r4, 2f
7:
  ldr r6, [r12, #32]
2:
  cmp r10, #0
  bgt 4f
  GROUPS \vectors, general
  b 6f
4:
  cmp r10, #256
  bge 5f
  GROUPS \vectors, up
  b 6f
5:
  mov r9, #-1
  GROUPS \vectors, away
6:
  ldr r4, [sp, #52]
  cbz r4, 8f
  ldr r6, [r12, #24]
  subs r1, r1, r6
  subs r7, r7, r4
  movs r4, #0
  str r4, [sp, #52]
  b 7b
8:
  ldr r4, [r12, #28]
  str r4, [sp, #52]
  ldrd r1, r7, [sp, #32]
  ldr r4, [r12, #20]
  ldr r6, [sp, #48]
  add r1, r4
  adds r7, #1
  subs r6, #1
  str r6, [sp, #48]
  bne.w 1b
  add sp, #56
  vpop {d8-d15}
  pop {r3-r11, pc}
  .size deuteron_columns_\vectors\()_mve, . - deuteron_columns_\vectors\()_mve
.endm

  .section .text.deuteron_columns_2_mve, "ax", %progbits
  COLUMNS 2
  .section .text.deuteron_columns_4_mve, "ax", %progbits
  COLUMNS 4
