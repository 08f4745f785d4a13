// SPDX-License-Identifier: Apache-2.0
@ Depthwise 3x3 for the M-profile Vector Extension: contracts in
@ kernels/depthwise_conv2d/strip_mve.h. Assembly, because gcc 12 builds a vector of four sums
@ through the stack.
  .syntax unified
  .thumb

@ r0 r4 r6 r8 sums   r1 added   r2 outputs of a group   r3 first   r5 multiplier   r7 patches
@ r9 shift   r10 arguments   r11 -1 where halves go away   r12 patch   lr groups
@ q0 kernel   q4 results   q5 places of a patch   q6 places of four outputs
@ Stride 1: the kernel at its four places in q0 q1 q2 q3, the patch in q7. Stride 2: patches in
@ q1 q2, where they lie in q3; q7 holds the multiplier in the first two ways, so that the product
@ and what is added are one instruction.

@ The sums of the group at r12, or of stride 2 where its places are in q3.
.macro PRODUCTS stride
  .if \stride == 1
  vldrw.u32 q7, [r12, q5]
  vmladav.s8 r0, q7, q0
  vmladav.s8 r4, q7, q1
  vmladav.s8 r6, q7, q2
  vmladav.s8 r8, q7, q3
  .else
  vldrw.u32 q1, [q3]
  vldrw.u32 q2, [q3, #128]
  vmladav.s8 r0, q1, q0
  vldrw.u32 q1, [q3, #256]
  vmladav.s8 r4, q2, q0
  vldrw.u32 q2, [q3, #384]
  vmladav.s8 r6, q1, q0
  vmladav.s8 r8, q2, q0
  .endif
.endm
@ Halves go away from zero: one less from what is negative.
.macro AWAY way, zero
  .ifc \way, away
  vpt.s32 lt, q4, \zero
  vaddt.i32 q4, q4, r11
  .endif
.endm

@ The outputs of a channel, group after group, in three ways; MveChannelFinish says which.
@   up       A sum to the left until what is below its byte stands at bit 24: VQSHL cuts off,
@   saturates, and costs what two VQMOVN do.
@   away     The same, and one less from what is negative: r11 is -1.
@ The products of a group stand between the steps that make the last one's sums bytes, which would
@ wait for each other.
.macro CHANNEL stride, way
  .if \stride == 2
  vdup.32 q7, r5
  .endif
  .ifc \way, away
  mov r11, #-1
  .endif
  wls lr, lr, 5f
4:
  vmov q4[2], q4[0], r0, r6
  .if \stride == 1
  vldrw.u32 q7, [r12, q5]
  vmov q4[3], q4[1], r4, r8
  vadd.i32 q4, q4, r3
  vqrdmulh.s32 q4, q4, r5
  ldrd r2, r12, [r7], #8
  vmladav.s8 r0, q7, q0
  AWAY \way, zr
  .ifc \way, away
  vmladav.s8 r4, q7, q1
  vadd.i32 q4, q4, r1
  .else
  vadd.i32 q4, q4, r1
  vmladav.s8 r4, q7, q1
  vqshl.s32 q4, r9
  .endif
  vmladav.s8 r6, q7, q2
  .ifc \way, away
  vqshl.s32 q4, r9
  vmladav.s8 r8, q7, q3
  vshr.s32 q4, q4, #24
  .else
  vshr.s32 q4, q4, #24
  vmladav.s8 r8, q7, q3
  .endif
  .else
  vldrw.u32 q1, [q3]
  vmov q4[3], q4[1], r4, r8
  vldrw.u32 q2, [q3, #128]
  vadd.i32 q4, q4, r3
  vqrdmlash.s32 q4, q7, r1
  ldrd r2, r12, [r7], #8
  vmladav.s8 r0, q1, q0
  vldrw.u32 q1, [q3, #256]
  vmladav.s8 r4, q2, q0
  vldrw.u32 q2, [q3, #384]
  AWAY \way, r1
  vqshl.s32 q4, r9
  vmladav.s8 r6, q1, q0
  vadd.i32 q3, q5, r12
  vmladav.s8 r8, q2, q0
  vshr.s32 q4, q4, #24
  .endif
  vstrb.32 q4, [r2, q6]
  le lr, 4b
5:
  vmov q4[2], q4[0], r0, r6
  ldr r2, [r7]
  vmov q4[3], q4[1], r4, r8
  ldr r6, [sp, #40]
  vadd.i32 q4, q4, r3
  movs r4, #1
  vqrdmulh.s32 q4, q4, r5
  movs r5, #4
  AWAY \way, zr
  vadd.i32 q4, q4, r1
  subs r6, #1
  vqshl.s32 q4, r9
  str r6, [sp, #40]
  vshr.s32 q4, q4, #24
.endm
@ The third way: one less is taken from what is negative, but for a shift of 0
@ (kernels/integer/requantize.h); bounds of any kind.
.macro CHANNEL_BOUNDED stride
  adds lr, #1
  b 4f
3:
  vstrb.32 q4, [r2, q6]
  .if \stride == 2
  vadd.i32 q3, q5, r12
  .endif
  PRODUCTS \stride
  ldr r12, [r7, #4]
  adds r7, #8
4:
  vmov q4[2], q4[0], r0, r6
  ldr r2, [r7]
  vmov q4[3], q4[1], r4, r8
  vadd.i32 q4, q4, r3
  vqrdmulh.s32 q4, q4, r5
  vdup.32 q7, r9
  vand q7, q7, q4
  vshr.s32 q7, q7, #31
  vqadd.s32 q4, q4, q7
  vrshl.s32 q4, r9
  vadd.i32 q4, q4, r1
  vldrw.u32 q7, [sp]
  vmax.s32 q4, q4, q7
  vldrw.u32 q7, [sp, #16]
  vmin.s32 q4, q4, q7
  le lr, 3b
  ldr r6, [sp, #40]
  movs r4, #1
  movs r5, #4
  subs r6, #1
  str r6, [sp, #40]
.endm

@ void deuteron_depthwise_s1_mve(const MveDepthwise*), deuteron_depthwise_s2_mve
@ offsets: strip 0, weight 4, finish 8, y 12, gather 16, scatter 20, y_min 24, y_max 28, channels
@   32, second 36, third 40, patches 44, further 48
@ stack: 0 lower bounds, 16 upper bounds, 32 weight, 36 finish, 40 channels left
.macro DEPTHWISE name, stride
  .section .text.\name,"ax"
  .global \name
  .type \name, %function
  .balign 4
\name:
  push {r4-r11, lr}
  sub sp, sp, #4
  vpush {d8-d15}
  sub sp, sp, #48
  ldm r0!, {r1-r8}
  mov r10, r0
  strd r2, r3, [sp, #32]
  vldrw.u32 q5, [r5]
  vldrw.u32 q6, [r6]
  vadd.i32 q5, q5, r1
  vadd.i32 q6, q6, r4
  vdup.32 q4, r7
  vstrw.32 q4, [sp]
  vdup.32 q4, r8
  vstrw.32 q4, [sp, #16]
  ldr r5, [r10]
  str r5, [sp, #40]
1:                                  @ a channel: the products of its first group
  ldrd r6, r12, [sp, #32]
  ldrd r7, lr, [r10, #12]
  .if \stride == 1
  ldrd r4, r5, [r10, #4]
  ldr r2, [r7, #4]
  vldrw.u32 q0, [r6]
  subs r4, r6, r4
  vldrw.u32 q7, [r2, q5]
  subs r8, r4, r5
  vldrb.u8 q1, [r4]
  subs r5, r6, r5
  vmladav.s8 r0, q7, q0
  vldrb.u8 q2, [r5]
  ldm r12!, {r1, r3, r5, r9}
  vmladav.s8 r4, q7, q1
  vldrb.u8 q3, [r8]
  adds r6, #16
  strd r6, r12, [sp, #32]
  vmladav.s8 r6, q7, q2
  ldr r12, [r7, #12]
  vmladav.s8 r8, q7, q3
  adds r7, #16
  subs r2, r9, #1
  .else
  ldr r2, [r7, #4]
  ldm r12!, {r1, r3, r5, r9}
  vldrw.u32 q0, [r6]
  vadd.i32 q3, q5, r2
  adds r6, #16
  strd r6, r12, [sp, #32]
  ldr r12, [r7, #12]
  adds r7, #16
  PRODUCTS 2
  vadd.i32 q3, q5, r12
  subs r2, r9, #1
  .endif
  cmp r2, #255
  bhs 7f
  CHANNEL \stride, up
9:
  vstrb.32 q4, [r2, q6]
  vadd.i32 q5, q5, r5
  cmp r6, #0
  vadd.i32 q6, q6, r4
  bne.w 1b
  add sp, sp, #48
  vpop {d8-d15}
  add sp, sp, #4
  pop {r4-r11, pc}
7:
  cmp r9, #0
  ble 8f
  CHANNEL \stride, away
  b 9b
8:
  CHANNEL_BOUNDED \stride
  b 9b
  .size \name, . - \name
.endm
  DEPTHWISE deuteron_depthwise_s1_mve, 1
  DEPTHWISE deuteron_depthwise_s2_mve, 2

@ int8_t* deuteron_fill_strip_mve(const MveStripRows*, int8_t* strip, int32_t columns, int32_t
@   channels)
@ offsets: row 0 4 8 12, step 16 20 24 28
  .section .text.deuteron_fill_strip_mve,"ax"
  .global deuteron_fill_strip_mve
  .type deuteron_fill_strip_mve, %function
  .balign 4
deuteron_fill_strip_mve:
  push {r4-r10, lr}
  vctp.8 r3
  mov r10, r1
  ldrd r3, r4, [r0]
  ldrd r5, r6, [r0, #8]
  ldrd r7, r8, [r0, #16]
  ldrd r9, r12, [r0, #24]
  wls lr, r2, 2f
1:
  vpstttt
  vldrbt.u8 q0, [r3]
  vldrbt.u8 q1, [r4]
  vldrbt.u8 q2, [r5]
  vldrbt.u8 q3, [r6]
  add r3, r7
  vst40.8 {q0, q1, q2, q3}, [r10]
  add r4, r8
  vst41.8 {q0, q1, q2, q3}, [r10]
  add r5, r9
  vst42.8 {q0, q1, q2, q3}, [r10]
  add r6, r12
  vst43.8 {q0, q1, q2, q3}, [r10]!
  le lr, 1b
2:
  mov r0, r10
  pop {r4-r10, pc}
  .size deuteron_fill_strip_mve, . - deuteron_fill_strip_mve
