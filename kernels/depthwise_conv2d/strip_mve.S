// SPDX-License-Identifier: Apache-2.0
@ Depthwise 3x3 for the M-profile Vector Extension: contracts in
@ kernels/depthwise_conv2d/strip_mve.h. Assembly, because gcc 12 builds a vector of four sums
@ through the stack.
  .syntax unified
  .thumb

@ Four sums in r0 r4 r6 r8 -> four bytes at r2 + q6.   r1 added   r3 first   r5 multiplier
@ r9 shift   general: sp+32, sp+48: bounds Three ways, MveChannelFinish says which:
@   up       A sum to the left until what is below its byte stands at bit 24: VQSHL cuts off,
@   saturates, and costs what two VQMOVN do.
@   away     The same, and one less from what is negative: r12 is -1.
@   general  One less is taken from what is negative, but for a shift of 0
@   (kernels/integer/requantize.h); bounds of any kind.
@ With stride 2 q7 holds the multiplier in the first two, so that the product and what is added are
@ one instruction.
.macro FINISH way
  vmov q4[2], q4[0], r0, r6
  vmov q4[3], q4[1], r4, r8
  vadd.i32 q4, q4, r3
  .ifc \way, general
  vqrdmulh.s32 q4, q4, r5
  vdup.32 q7, r9
  vand q7, q7, q4
  vshr.s32 q7, q7, #31
  vqadd.s32 q4, q4, q7
  vrshl.s32 q4, r9
  vadd.i32 q4, q4, r1
  vldrw.u32 q7, [sp, #32]
  vmax.s32 q4, q4, q7
  vldrw.u32 q7, [sp, #48]
  vmin.s32 q4, q4, q7
  .else
  vqrdmlash.s32 q4, q7, r1
  .ifc \way, away
  vpt.s32 lt, q4, r1
  vaddt.i32 q4, q4, r12
  .endif
  vqshl.s32 q4, r9
  vshr.s32 q4, q4, #24
  .endif
  vstrb.32 q4, [r2, q6]
.endm
@ Stride 1: one patch with the kernel at its four places, q0 q1 q2 q3.
.macro GROUP_1 way
  vldrw.u32 q4, [q5, #128]!
  vmladav.s8 r0, q4, q0
  vmladav.s8 r4, q4, q1
  vmladav.s8 r6, q4, q2
  vmladav.s8 r8, q4, q3
  FINISH \way
.endm
@ Stride 2: four patches with the kernel q0.
.macro GROUP_2 way
  vldrw.u32 q4, [q5, #128]!
  vldrw.u32 q1, [q5, #128]!
  vmladav.s8 r0, q4, q0
  vldrw.u32 q2, [q5, #128]!
  vmladav.s8 r4, q1, q0
  vldrw.u32 q3, [q5, #128]!
  vmladav.s8 r6, q2, q0
  vmladav.s8 r8, q3, q0
  FINISH \way
.endm

@ Stride 1, up or away: the outputs of a channel. The products of a group stand between the steps
@ that make the last one's sums bytes, which would wait for each other; a row group begins with the
@ products of its first group, and ends without any.
@   r12 what leads from the outputs of a group to the next
@     stack: 72 groups behind the first one, 76 its r12, 80 the columns that it
@   shares with the second one, in bytes of the strip, 84 next_y, since r11 is -1 where halves go
@   away
.macro AWAY_1 way
  .ifc \way, away
  vpt.s32 lt, q4, zr
  vaddt.i32 q4, q4, r11
  .endif
.endm
.macro CHANNEL_1 way
2:                                  @ a row group
  ldr r12, [sp, #80]
  vldrw.u32 q7, [q5, #128]!
  vsub.i32 q5, q5, r12
  ldrd lr, r12, [sp, #72]
  vmladav.s8 r0, q7, q0
  vmladav.s8 r4, q7, q1
  vmladav.s8 r6, q7, q2
  vmladav.s8 r8, q7, q3
  wls lr, lr, 5f
4:
  vmov q4[2], q4[0], r0, r6
  vldrw.u32 q7, [q5, #128]!
  vmov q4[3], q4[1], r4, r8
  vadd.i32 q4, q4, r3
  vmladav.s8 r0, q7, q0
  vqrdmulh.s32 q4, q4, r5
  vmladav.s8 r4, q7, q1
  AWAY_1 \way
  vadd.i32 q4, q4, r1
  vmladav.s8 r6, q7, q2
  vqshl.s32 q4, r9
  vmladav.s8 r8, q7, q3
  vshr.s32 q4, q4, #24
  vstrb.32 q4, [r2, q6]
  add r2, r12
  mov r12, r7
  le lr, 4b
5:
  vmov q4[2], q4[0], r0, r6
  movs r6, #128
  vmov q4[3], q4[1], r4, r8
  vadd.i32 q5, q5, r6
  vadd.i32 q4, q4, r3
  .ifc \way, away
  ldr r6, [sp, #84]
  .endif
  vqrdmulh.s32 q4, q4, r5
  .ifc \way, away
  add r12, r6
  .else
  add r12, r11
  .endif
  subs r10, #1
  AWAY_1 \way
  vadd.i32 q4, q4, r1
  vqshl.s32 q4, r9
  vshr.s32 q4, q4, #24
  vstrb.32 q4, [r2, q6]
  add r2, r12
  bne 2b
.endm

@ void deuteron_depthwise_s1_mve(const MveDepthwise*), deuteron_depthwise_s2_mve
@ offsets: strip 0, weight 4, finish 8, y 12, channels 16, group_y 20, groups 24, first 28, rows 32,
@   next_y 36, gather 40, scatter 44,
@          first_y 48, first_strip 52, y_min 56, y_max 60, second 64, third 68
@ stack: 0 gather of this channel, 16 y, 20 channels left, 24 weight, 28 finish, 32 lower bounds, 48
@   upper bounds, 64 arguments
@ The outputs of a channel, row group after row group.
.macro CHANNEL stride, way
2:                                  @ a row group
  ldr r6, [r7, #28]
  cmp r6, #0
  beq 3f
  GROUP_\stride \way
  ldrd r4, r6, [r7, #48]
  add r2, r4
  vsub.i32 q5, q5, r6
3:
  ldrd r4, r6, [r7, #20]
  cmp r6, #0
  beq 5f
  mov r7, r4
  dls lr, r6
4:
  GROUP_\stride \way
  add r2, r7
  le lr, 4b
  ldr r7, [sp, #64]
5:
  movs r6, #128
  add r2, r11
  vadd.i32 q5, q5, r6
  subs r10, #1
  bne 2b
.endm
.macro DEPTHWISE name, stride
  .section .text.\name,"ax"
  .global \name
  .type \name, %function
  .balign 4
\name:
  push {r4-r11, lr}
  sub sp, sp, #4
  vpush {d8-d15}
  sub sp, sp, #88
  mov r7, r0
  str r0, [sp, #64]
  ldrd r4, r5, [r7]
  ldrd r6, r8, [r7, #8]
  strd r5, r6, [sp, #24]
  str r8, [sp, #16]
  ldr r5, [r7, #16]
  str r5, [sp, #20]
  ldrd r5, r6, [r7, #40]
  vldrw.u32 q5, [r5]
  vldrw.u32 q6, [r6]
  vadd.i32 q5, q5, r4
  vstrw.32 q5, [sp]
  ldrd r5, r6, [r7, #56]
  vdup.32 q4, r5
  vstrw.32 q4, [sp, #32]
  vdup.32 q4, r6
  vstrw.32 q4, [sp, #48]
  .if \stride == 1
  ldrd r4, r9, [r7, #20]
  ldrd r5, r6, [r7, #48]
  ldr r8, [r7, #28]
  cmp r8, #0
  ittt eq
  moveq r5, r4
  moveq r6, #0
  subeq r9, #1
  strd r9, r5, [sp, #72]
  str r6, [sp, #80]
  .endif
1:                                  @ a channel
  ldrd r6, r12, [sp, #24]
  ldr r7, [sp, #64]
  vldrw.u32 q0, [r6]
  .if \stride == 1
  ldrd r4, r5, [r7, #64]
  subs r4, r6, r4
  vldrb.u8 q1, [r4]
  subs r4, r4, r5
  vldrb.u8 q3, [r4]
  subs r5, r6, r5
  vldrb.u8 q2, [r5]
  .endif
  ldm r12!, {r1, r3, r5, r9}
  adds r6, #16
  strd r6, r12, [sp, #24]
  ldr r2, [sp, #16]
  adds r6, r2, #1
  str r6, [sp, #16]
  ldrd r10, r11, [r7, #32]
  cmp r9, #0
  bgt 6f
  CHANNEL \stride, general
  b 9f
6:
  .if \stride == 1
  ldr r7, [r7, #20]
  .else
  vdup.32 q7, r5
  .endif
  cmp r9, #256
  bge 7f
  .if \stride == 1
  CHANNEL_1 up
  b 9f
7:
  str r11, [sp, #84]
  mov r11, #-1
  CHANNEL_1 away
  .else
  CHANNEL 2, up
  b 9f
7:
  mov r12, #-1
  CHANNEL 2, away
  .endif
9:
  vldrw.u32 q5, [sp]
  movs r6, #4
  vadd.i32 q5, q5, r6
  vstrw.32 q5, [sp]
  ldr r6, [sp, #20]
  subs r6, #1
  str r6, [sp, #20]
  bne 1b
  add sp, sp, #88
  vpop {d8-d15}
  add sp, sp, #4
  pop {r4-r11, pc}
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
  add r4, r8
  add r5, r9
  add r6, r12
  vst40.8 {q0, q1, q2, q3}, [r10]
  vst41.8 {q0, q1, q2, q3}, [r10]
  vst42.8 {q0, q1, q2, q3}, [r10]
  vst43.8 {q0, q1, q2, q3}, [r10]!
  le lr, 1b
2:
  mov r0, r10
  pop {r4-r10, pc}
  .size deuteron_fill_strip_mve, . - deuteron_fill_strip_mve
