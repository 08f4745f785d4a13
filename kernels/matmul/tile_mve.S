// SPDX-License-Identifier: Apache-2.0
@ A product of activations with the M-profile Vector Extension: contract in
@ kernels/matmul/tile_mve.h. Assembly, because gcc 12 spills where all sixteen registers are needed:
@ every even core register is a sum of VMLADAVA, which takes only even ones.
@
@ A turn is two tiles of two rows and four columns: the even columns, then the odd ones, so that the
@ halfwords of both are in the order of y. What becomes of a tile's sums goes on between the
@ multiply-accumulates of the next one, which use another pipe. The order was found by a list
@ scheduler with the latencies of LLVM's model of Cortex-M55: 96 cycles a turn of 32 elements, which
@ has 94 instructions, and 156 of 64, which has 150.
@
@ offsets: rows 0, columns 4, y 8, inner 12, x_offset 16, multiplier 20, y_step 24, y_zero 28
@ stack: 0 weights: a block of each even column, then of each odd one, 128 bytes for each 16
@   elements; 512 what is added to the sums of even columns, 528 to those of odd ones
@ r1 multiplier   r3 from the second row to the next   r5 y   r7 256 bytes above sp   r9 rows
@   r11 y_step   q7 y_zero   q3 q4 results of even columns   q5 q6 of odd ones
  .syntax unified
  .thumb
  .section .text.deuteron_product_mve,"ax"
  .global deuteron_product_mve
  .type deuteron_product_mve, %function
  .balign 4
deuteron_product_mve:
  push {r4-r11, lr}
  sub sp, sp, #4
  vpush {d8-d15}
  sub sp, sp, #544
  ldrd r2, r5, [r0, #4]
  ldrd r10, r3, [r0, #12]
  mov r7, sp
  mov r12, sp
  tst r10, #31
  beq 1f
  vmov.i32 q0, #0                   @ what lies behind the elements
  movs r4, #32
  mov r6, sp
  dls lr, r4
2:
  vstrw.32 q0, [r6], #16
  le lr, 2b
1:                                  @ two columns
  mov r8, r2
  add r9, r2, r10
  mov r11, r7
  movs r4, #0
  movs r6, #0
  dlstp.8 lr, r10
2:
  vldrb.u8 q0, [r8], #16
  vldrb.u8 q1, [r9], #16
  vaddva.s8 r4, q0
  vstrb.8 q0, [r11]
  vaddva.s8 r6, q1
  vstrb.8 q1, [r11, #64]
  adds r11, #128
  letp lr, 2b
  mul r4, r4, r3
  add r2, r2, r10, lsl #1
  mul r6, r6, r3
  adds r7, #16
  str r4, [r12, #512]
  str r6, [r12, #528]
  adds r12, #4
  sub r11, r12, #16
  cmp r11, sp
  bne 1b
  ldrd r1, r11, [r0, #20]
  ldr r9, [r0]
  ldr r4, [r0, #28]
  add r7, sp, #256
  ldr r3, [r9]
  vdup.16 q7, r4
  cmp r10, #32
  bgt 4f
3:                                  @ 32 elements
  vldrw.u32 q2, [r7, #272]
  vadd.i32 q5, q5, q2
  vldrb.u8 q0, [r9, #4]
  vadd.i32 q6, q6, q2
  vldrw.u32 q2, [r7, #-256]
  vmladav.s8 r0, q0, q2
  vldrb.u8 q1, [r9, #20]
  vmladav.s8 r8, q1, q2
  vldrw.u32 q2, [r7, #-240]
  vmladav.s8 r2, q0, q2
  ldrd r6, r14, [r9, #-8]
  vmladav.s8 r10, q1, q2
  vldrw.u32 q2, [r7, #-224]
  vmladav.s8 r4, q0, q2
  vadd.i32 q5, q5, r6
  vmladav.s8 r12, q1, q2
  vldrw.u32 q2, [r7, #-208]
  vadd.i32 q6, q6, r14
  vmladav.s8 r14, q1, q2
  vldrb.u8 q1, [r9, #52]
  vmladav.s8 r6, q0, q2
  vldrb.u8 q0, [r9, #36]
  vqrdmulh.s32 q5, q5, r1
  vldrw.u32 q2, [r7, #-128]
  vmladava.s8 r8, q1, q2
  vqmovnt.s32 q3, q5
  vmladava.s8 r0, q0, q2
  vldrw.u32 q2, [r7, #-112]
  vmladava.s8 r10, q1, q2
  vqadd.s16 q3, q3, q7
  vmladava.s8 r2, q0, q2
  vqmovnb.s16 q3, q3
  vqrdmulh.s32 q6, q6, r1
  vldrw.u32 q2, [r7, #-96]
  vqmovnt.s32 q4, q6
  vmladava.s8 r4, q0, q2
  vstrb.16 q3, [r5]
  vmladava.s8 r12, q1, q2
  add r5, r5, r11
  vqadd.s16 q4, q4, q7
  vldrw.u32 q2, [r7, #-80]
  vqmovnb.s16 q4, q4
  vmladava.s8 r6, q0, q2
  vldrb.u8 q0, [r9, #4]
  vmladava.s8 r14, q1, q2
  vstrb.16 q4, [r5]
  vmov q4[2], q4[0], r8, r12
  vmov q3[2], q3[0], r0, r4
  vmov q4[3], q4[1], r10, r14
  vldrw.u32 q2, [r7, #256]
  vadd.i32 q4, q4, q2
  vldrb.u8 q1, [r9, #20]
  vmov q3[3], q3[1], r2, r6
  vadd.i32 q3, q3, q2
  vldrw.u32 q2, [r7, #-192]
  vmladav.s8 r8, q1, q2
  ldrd r6, r14, [r9, #68]
  vmladav.s8 r0, q0, q2
  vldrw.u32 q2, [r7, #-176]
  vmladav.s8 r10, q1, q2
  vadd.i32 q3, q3, r6
  vmladav.s8 r2, q0, q2
  vldrw.u32 q2, [r7, #-160]
  vadd.i32 q4, q4, r14
  vmladav.s8 r4, q0, q2
  add r5, r5, r3
  vmladav.s8 r12, q1, q2
  vldrw.u32 q2, [r7, #-144]
  vmladav.s8 r14, q1, q2
  ldr r3, [r9, #76]!
  vmladav.s8 r6, q0, q2
  vldrb.u8 q1, [r9, #-24]
  vqrdmulh.s32 q3, q3, r1
  vldrb.u8 q0, [r9, #-40]
  vqrdmulh.s32 q4, q4, r1
  vldrw.u32 q2, [r7, #-64]
  vmladava.s8 r0, q0, q2
  vqmovnb.s32 q4, q4
  vmladava.s8 r8, q1, q2
  vldrw.u32 q2, [r7, #-48]
  vmladava.s8 r10, q1, q2
  vqmovnb.s32 q3, q3
  vmladava.s8 r2, q0, q2
  vldrw.u32 q2, [r7, #-32]
  vmladava.s8 r4, q0, q2
  cmp r3, #0
  vmladava.s8 r12, q1, q2
  vldrw.u32 q2, [r7, #-16]
  vmladava.s8 r6, q0, q2
  vmov q5[2], q5[0], r0, r4
  vmladava.s8 r14, q1, q2
  vmov q5[3], q5[1], r2, r6
  vmov q6[2], q6[0], r8, r12
  vmov q6[3], q6[1], r10, r14
  bge 3b
  b 5f
4:                                  @ 64 elements
  vldrw.u32 q2, [r7, #272]
  vadd.i32 q5, q5, q2
  vldrb.u8 q0, [r9, #4]
  vadd.i32 q6, q6, q2
  vldrw.u32 q2, [r7, #-256]
  vmladav.s8 r0, q0, q2
  vldrb.u8 q1, [r9, #20]
  vmladav.s8 r8, q1, q2
  vldrw.u32 q2, [r7, #-240]
  vmladav.s8 r2, q0, q2
  ldrd r6, r14, [r9, #-8]
  vmladav.s8 r10, q1, q2
  vadd.i32 q5, q5, r6
  vldrw.u32 q2, [r7, #-224]
  vmladav.s8 r12, q1, q2
  vadd.i32 q6, q6, r14
  vmladav.s8 r4, q0, q2
  vldrw.u32 q2, [r7, #-208]
  vmladav.s8 r14, q1, q2
  vldrb.u8 q1, [r9, #52]
  vmladav.s8 r6, q0, q2
  vldrb.u8 q0, [r9, #36]
  vqrdmulh.s32 q5, q5, r1
  vldrw.u32 q2, [r7, #-128]
  vmladava.s8 r0, q0, q2
  vqmovnt.s32 q3, q5
  vmladava.s8 r8, q1, q2
  vldrw.u32 q2, [r7, #-112]
  vmladava.s8 r2, q0, q2
  vqadd.s16 q3, q3, q7
  vmladava.s8 r10, q1, q2
  vldrw.u32 q2, [r7, #-96]
  vmladava.s8 r12, q1, q2
  vqmovnb.s16 q3, q3
  vmladava.s8 r4, q0, q2
  vldrw.u32 q2, [r7, #-80]
  vmladava.s8 r14, q1, q2
  vldrb.u8 q1, [r9, #84]
  vmladava.s8 r6, q0, q2
  vldrb.u8 q0, [r9, #68]
  vqrdmulh.s32 q6, q6, r1
  vldrw.u32 q2, [r7, #0]
  vmladava.s8 r0, q0, q2
  vstrb.16 q3, [r5]
  vmladava.s8 r8, q1, q2
  vldrw.u32 q2, [r7, #16]
  vmladava.s8 r2, q0, q2
  vqmovnt.s32 q4, q6
  vmladava.s8 r10, q1, q2
  vldrw.u32 q2, [r7, #32]
  vmladava.s8 r4, q0, q2
  vqadd.s16 q4, q4, q7
  vmladava.s8 r12, q1, q2
  vldrw.u32 q2, [r7, #48]
  vmladava.s8 r14, q1, q2
  vldrb.u8 q1, [r9, #116]
  vmladava.s8 r6, q0, q2
  vldrw.u32 q2, [r7, #128]
  vmladava.s8 r8, q1, q2
  vldrb.u8 q0, [r9, #100]
  vmladava.s8 r0, q0, q2
  vldrw.u32 q2, [r7, #144]
  vmladava.s8 r2, q0, q2
  vqmovnb.s16 q4, q4
  vmladava.s8 r10, q1, q2
  vldrw.u32 q2, [r7, #160]
  vmladava.s8 r4, q0, q2
  add r5, r5, r11
  vmladava.s8 r12, q1, q2
  vstrb.16 q4, [r5]
  vmov q4[2], q4[0], r8, r12
  vldrw.u32 q2, [r7, #176]
  vmladava.s8 r6, q0, q2
  vldrb.u8 q0, [r9, #4]
  vmladava.s8 r14, q1, q2
  vldrb.u8 q1, [r9, #20]
  vmov q4[3], q4[1], r10, r14
  vmov q3[2], q3[0], r0, r4
  vmov q3[3], q3[1], r2, r6
  vldrw.u32 q2, [r7, #256]
  vadd.i32 q3, q3, q2
  ldrd r6, r14, [r9, #132]
  vadd.i32 q4, q4, q2
  vldrw.u32 q2, [r7, #-192]
  vmladav.s8 r8, q1, q2
  vadd.i32 q4, q4, r14
  vmladav.s8 r0, q0, q2
  vldrw.u32 q2, [r7, #-176]
  vmladav.s8 r2, q0, q2
  add r5, r5, r3
  vmladav.s8 r10, q1, q2
  vldrw.u32 q2, [r7, #-160]
  vmladav.s8 r12, q1, q2
  vadd.i32 q3, q3, r6
  vmladav.s8 r4, q0, q2
  vldrw.u32 q2, [r7, #-144]
  vmladav.s8 r6, q0, q2
  ldr r3, [r9, #140]!
  vmladav.s8 r14, q1, q2
  vldrb.u8 q1, [r9, #-88]
  vqrdmulh.s32 q3, q3, r1
  vldrw.u32 q2, [r7, #-64]
  vmladava.s8 r8, q1, q2
  vldrb.u8 q0, [r9, #-104]
  vmladava.s8 r0, q0, q2
  vldrw.u32 q2, [r7, #-48]
  vmladava.s8 r10, q1, q2
  vqmovnb.s32 q3, q3
  vmladava.s8 r2, q0, q2
  vldrw.u32 q2, [r7, #-32]
  vmladava.s8 r12, q1, q2
  cmp r3, #0
  vmladava.s8 r4, q0, q2
  vldrw.u32 q2, [r7, #-16]
  vmladava.s8 r6, q0, q2
  vldrb.u8 q0, [r9, #-72]
  vmladava.s8 r14, q1, q2
  vldrw.u32 q2, [r7, #64]
  vmladava.s8 r0, q0, q2
  vldrb.u8 q1, [r9, #-56]
  vmladava.s8 r8, q1, q2
  vldrw.u32 q2, [r7, #80]
  vmladava.s8 r10, q1, q2
  vmladava.s8 r2, q0, q2
  vldrw.u32 q2, [r7, #96]
  vmladava.s8 r4, q0, q2
  vmladava.s8 r12, q1, q2
  vldrw.u32 q2, [r7, #112]
  vmladava.s8 r14, q1, q2
  vldrb.u8 q1, [r9, #-24]
  vmladava.s8 r6, q0, q2
  vldrb.u8 q0, [r9, #-40]
  vqrdmulh.s32 q4, q4, r1
  vldrw.u32 q2, [r7, #192]
  vmladava.s8 r0, q0, q2
  vqmovnb.s32 q4, q4
  vmladava.s8 r8, q1, q2
  vldrw.u32 q2, [r7, #208]
  vmladava.s8 r10, q1, q2
  vmladava.s8 r2, q0, q2
  vldrw.u32 q2, [r7, #224]
  vmladava.s8 r12, q1, q2
  vmladava.s8 r4, q0, q2
  vldrw.u32 q2, [r7, #240]
  vmladava.s8 r14, q1, q2
  vmladava.s8 r6, q0, q2
  vmov q5[2], q5[0], r0, r4
  vmov q5[3], q5[1], r2, r6
  vmov q6[2], q6[0], r8, r12
  vmov q6[3], q6[1], r10, r14
  bge 4b
5:
  vldrw.u32 q2, [r7, #272]
  ldrd r6, r14, [r9, #-8]
  vadd.i32 q5, q5, q2
  vadd.i32 q6, q6, q2
  vadd.i32 q5, q5, r6
  vadd.i32 q6, q6, r14
  vqrdmulh.s32 q5, q5, r1
  vqrdmulh.s32 q6, q6, r1
  vqmovnt.s32 q3, q5
  vqmovnt.s32 q4, q6
  vqadd.s16 q3, q3, q7
  vqadd.s16 q4, q4, q7
  vqmovnb.s16 q3, q3
  vqmovnb.s16 q4, q4
  vstrb.16 q3, [r5]
  add r5, r5, r11
  vstrb.16 q4, [r5]
  add sp, sp, #544
  vpop {d8-d15}
  add sp, sp, #4
  pop {r4-r11, pc}
  .size deuteron_product_mve, . - deuteron_product_mve
