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
@ The sums of the group at r1.
.macro PRODUCTS vectors
  vldrb.u8 q4, [r1]
  WINDOW r0, \vectors
  WINDOW r2, \vectors
  WINDOW r4, \vectors
  WINDOW r6, \vectors
.endm

@ The outputs of a channel of up to two vectors: CHANNEL of kernels/depthwise_conv2d/strip_mve.S, in
@ its first two ways. Here r9 is -1 where halves go away from zero, and q2 holds the multiplier.
.macro AWAY way
  .ifc \way, away
  vpt.s32 lt, q6, r5
  vaddt.i32 q6, q6, r9
  .endif
.endm
.macro CHANNEL way
  wls lr, lr, 5f
4:
  vmov q6[2], q6[0], r0, r4
  vldrb.u8 q4, [r1]
  vmov q6[3], q6[1], r2, r6
  vldrb.u8 q5, [r1, #16]
  add r1, r3
  vmladav.s8 r0, q4, q0
  vldrb.u8 q4, [r1]
  vmladava.s8 r0, q5, q1
  vldrb.u8 q5, [r1, #16]
  vmladav.s8 r2, q4, q0
  add r1, r3
  vadd.i32 q6, q6, r8
  vldrb.u8 q4, [r1]
  vmladava.s8 r2, q5, q1
  vldrb.u8 q5, [r1, #16]
  vmladav.s8 r4, q4, q0
  add r1, r3
  vqrdmlash.s32 q6, q2, r5
  vldrb.u8 q4, [r1]
  vmladava.s8 r4, q5, q1
  AWAY \way
  vqshl.s32 q6, r10
  vldrb.u8 q5, [r1, #16]
  ldrd r7, r1, [r12], #8
  vmladav.s8 r6, q4, q0
  vshr.s32 q6, q6, #24
  vmladava.s8 r6, q5, q1
  vstrb.32 q6, [r7, q7]
  add r1, r11
  le lr, 4b
5:
  vmov q6[2], q6[0], r0, r4
  ldr r7, [r12]
  vmov q6[3], q6[1], r2, r6
  vadd.i32 q6, q6, r8
  vqrdmlash.s32 q6, q2, r5
  AWAY \way
  vqshl.s32 q6, r10
  vshr.s32 q6, q6, #24
.endm

@ void deuteron_columns_2_mve(const MveColumns*), deuteron_columns_4_mve: taps of up to two vectors,
@ up to four.
@ offsets: from 0, y 4, filter 8, finish 12, step 16, y_step 20, y_min 24, y_max 28, channels 32,
@   channel_bytes 36, patches 40, further 44
@ stack: 0 lower bounds, 16 upper bounds, 32 filter, 36 finish, 40 channels left, 44 arguments from
@   channel_bytes on
@ q0..q3 filter, of up to two vectors q2 multiplier, q4 q5 loads, q6 results, q7 places of four
@ outputs
@ r0 r2 r4 r6 sums   r1 from   r3 step   r5 added   r7 y   r8 first   r9 multiplier   r10 shift
@   r11 where the channel begins   r12 patches   lr groups
.macro COLUMNS vectors
  .balign 4
  .global deuteron_columns_\vectors\()_mve
  .type deuteron_columns_\vectors\()_mve, %function
deuteron_columns_\vectors\()_mve:
  push {r3-r11, lr}
  vpush {d8-d15}
  sub sp, #48
  ldm r0!, {r1-r8, r11}
  strd r3, r4, [sp, #32]
  vdup.32 q4, r7
  vdup.32 q5, r8
  vstrw.32 q4, [sp]
  vstrw.32 q5, [sp, #16]
  strd r11, r0, [sp, #40]
  mov r11, r1
  mov r3, r5
  movs r4, #0
  vidup.u32 q7, r4, #1
  vmul.i32 q7, q7, r6
  vadd.i32 q7, q7, r2
1:                                  @ a channel: the products of its first group
  ldrd r4, r6, [sp, #32]
  ldr r2, [sp, #44]
  vldrb.u8 q0, [r4]
  vldrb.u8 q1, [r4, #16]
  .if \vectors == 4
  vldrb.u8 q2, [r4, #32]
  vldrb.u8 q3, [r4, #48]
  .endif
  adds r4, #64
  ldmia r6!, {r5, r8-r10}
  strd r4, r6, [sp, #32]
  ldrd r12, lr, [r2, #4]
  ldr r1, [r12, #4]
  add r1, r11
  PRODUCTS \vectors
  .if \vectors == 2
  ldr r1, [r12, #12]
  adds r12, r12, #16
  add r1, r11
  vdup.32 q2, r9
  subs r7, r10, #1
  cmp r7, #255
  bhs 7f
  CHANNEL up
9:
  .else
  b 4f
3:
  vstrb.32 q6, [r7, q7]
  PRODUCTS 4
4:
  ldr r1, [r12, #12]
  ldr r7, [r12, #16]
  adds r12, r12, #8
  add r1, r11
  vmov q6[2], q6[0], r0, r4
  vmov q6[3], q6[1], r2, r6
  vadd.i32 q6, q6, r8
  vqrdmulh.s32 q6, q6, r9
  cmp r10, #0
  ble 8f
  cmp r10, #256
  blt 5f
  mov r6, #-1
  vpt.s32 lt, q6, zr
  vaddt.i32 q6, q6, r6
5:
  vadd.i32 q6, q6, r5
  vqshl.s32 q6, r10
  vshr.s32 q6, q6, #24
6:
  subs lr, #1
  bpl 3b
  .endif
  vstrb.32 q6, [r7, q7]
  ldrd r4, r6, [sp, #40]
  movs r5, #1
  vadd.i32 q7, q7, r5
  ldr r6, [r6]
  subs r4, #1
  str r4, [sp, #40]
  add r11, r6
  bne.w 1b
  add sp, #48
  vpop {d8-d15}
  pop {r3-r11, pc}
  .if \vectors == 2
7:
  cmp r10, #0
  ble 8f
  mov r9, #-1
  CHANNEL away
  b 9b
6:
  subs lr, #1
  bmi 9b
  vstrb.32 q6, [r7, q7]
  PRODUCTS 2
  ldr r1, [r12, #4]
  adds r12, r12, #8
  add r1, r11
  .endif
8:                                  @ the third way
  .if \vectors == 2
  ldr r7, [r12]
  vmov q6[2], q6[0], r0, r4
  vmov q6[3], q6[1], r2, r6
  vadd.i32 q6, q6, r8
  vqrdmulh.s32 q6, q6, r9
  .endif
  vdup.32 q5, r10
  vand q5, q5, q6
  vshr.s32 q5, q5, #31
  vqadd.s32 q6, q6, q5
  vrshl.s32 q6, r10
  vadd.i32 q6, q6, r5
  vldrw.u32 q5, [sp]
  vmax.s32 q6, q6, q5
  vldrw.u32 q5, [sp, #16]
  vmin.s32 q6, q6, q5
  b 6b
  .size deuteron_columns_\vectors\()_mve, . - deuteron_columns_\vectors\()_mve
.endm

  .section .text.deuteron_columns_2_mve, "ax", %progbits
  COLUMNS 2
  .section .text.deuteron_columns_4_mve, "ax", %progbits
  COLUMNS 4
