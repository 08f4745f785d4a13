// SPDX-License-Identifier: Apache-2.0
@ Copies for windows of convolution on the M-profile Vector Extension: contract in
@ kernels/conv2d/packed/copy_mve.h. Assembly, because gcc 12 counts with a branch, and moves
@ predicates for each vector.
  .syntax unified
  .thumb

@ void deuteron_copy_pixels_mve(const Columns*, const int8_t* x, int32_t rows, int32_t pixels,
@   int8_t* to)
@ offsets: arguments 0, whose in_w 8, in_c 12, dilation_h 52; column 4, row 8, block 12, next 16,
@   together 20, places 24, outside 40
@ r1 x   r2 rows   r3 pixels   r4 to   r5 channels   r6 bytes of x to the next pixel   r7 to the
@ next row   r8 column   r0 r12 where vectors come from and go to
  .section .text.deuteron_copy_pixels_mve,"ax"
  .global deuteron_copy_pixels_mve
  .type deuteron_copy_pixels_mve, %function
  .balign 4
deuteron_copy_pixels_mve:
  push {r4-r11, lr}
  ldr r4, [sp, #36]
  cmp r2, #0
  it gt
  cmpgt r3, #0
  ble 9f
  ldrd r12, r8, [r0]
  ldr r6, [r0, #16]
  ldrd r7, r5, [r12, #8]
  ldr r12, [r12, #52]
  movs r11, #16
  mul r7, r7, r5
  mul r7, r7, r12
  cbnz r1, 1f
  add r1, r0, #40
  movs r6, #0
  movs r7, #0
  mov r11, r7
1:
  cmp r5, #16
  bge 4f
  ldr r9, [r0, #20]                 @ fewer channels: some pixels at a time
  vldrw.u32 q1, [r0, #24]
2:
  cmp r3, r9
  it lt
  movlt r9, r3
  mul r10, r9, r5
  mov r0, r1
  mov r12, r4
  vctp.8 r10
  dls lr, r2
3:
  vpstt
  vldrbt.u8 q0, [r0]
  vstrbt.8 q0, [r12, q1]
  add r0, r7
  add r12, r5
  le lr, 3b
  mla r1, r9, r6, r1
  mla r4, r9, r8, r4
  subs r3, r3, r9
  bgt 2b
  pop {r4-r11, pc}
4:                                  @ blocks of 16 channels: r11 of x, r10 of what is written
  ldrd r9, r10, [r0, #8]
  str r5, [sp, #36]
  adds r0, r5, #15
  lsrs r0, r0, #4
  mls r7, r11, r0, r7
  mls r9, r10, r0, r9
5:                                  @ a row
  ldr r5, [sp, #36]
6:
  mov r0, r1
  mov r12, r4
  dls lr, r3
  cmp r5, #16
  blt 10f
7:
  vldrb.u8 q0, [r0]
  add r0, r6
  vstrb.8 q0, [r12]
  add r12, r8
  le lr, 7b
8:
  add r1, r11
  add r4, r10
  subs r5, #16
  bgt 6b
  add r1, r7
  add r4, r9
  subs r2, #1
  bne 5b
9:
  pop {r4-r11, pc}
10:                                 @ the last block is a part
  vctp.8 r5
11:
  vpstt
  vldrbt.u8 q0, [r0]
  vstrbt.8 q0, [r12]
  add r0, r6
  add r12, r8
  le lr, 11b
  b 8b
  .size deuteron_copy_pixels_mve, . - deuteron_copy_pixels_mve
