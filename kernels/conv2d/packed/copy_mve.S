// SPDX-License-Identifier: Apache-2.0
@ Copies for windows of convolution on the M-profile Vector Extension: contract in
@ kernels/conv2d/packed/copy_mve.h. Assembly, because gcc 12 counts with a branch, and moves
@ predicates for each vector.
  .syntax unified
  .thumb

@ Offsets: arguments 0, column 4, row 8, block 12, next 16, together 20, places 24, outside 40; of
@ the arguments in_h 4, in_w 8, in_c 12, kernel_h 28, dilation_h 52.

@ Pixels of some rows to the same rows of their columns; without x all of them are the zero point.
@ r0 columns   r1 x   r2 rows   r3 pixels   r4 to; then r0 r12 where vectors come from and go to,
@ r5 channels   r6 bytes of x to the next pixel   r7 to the next row   r8 column
  .section .text.deuteron_fill_columns_mve,"ax"
  .type copy_pixels, %function
  .balign 4
copy_pixels:
  cmp r2, #0
  it gt
  cmpgt r3, #0
  it le
  bxle lr
  ldrd r12, r8, [r0]
  ldr r6, [r0, #16]
  ldrd r7, r5, [r12, #8]
  ldr r12, [r12, #52]
  push {r5, lr}
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
  pop {r5, pc}
4:                                  @ blocks of 16 channels: r11 of x, r10 of what is written
  ldrd r9, r10, [r0, #8]
  adds r0, r5, #15
  lsrs r0, r0, #4
  tst r5, #15
  itt eq
  cmpeq r6, #0
  cmpeq r3, #1
  bne 12f
  mul r3, r2, r0                    @ a column of zero points: its blocks follow one another
  mov r8, r10
  movs r2, #1
  movs r5, #16
  str r5, [sp]
12:
  mls r7, r11, r0, r7
  mls r9, r10, r0, r9
5:                                  @ a row
  ldr r5, [sp]
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
  pop {r5, pc}
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
  .size copy_pixels, . - copy_pixels

@ void deuteron_fill_columns_mve(const Columns*, const int8_t* image, int32_t ih, int32_t iw,
@   int32_t columns, int8_t* to)
@ Taps inside the image, as taps_inside() of kernels/image/window.h: of rows r9 to r5, of columns
@ r11 to r12.
@ stack: 0 x, 4 rows inside, 8 r11, 12 r12, 16 columns, 20 rows below the image, 24 where they are,
@   72 columns to fill, 76 to, and then the first row inside
  .global deuteron_fill_columns_mve
  .type deuteron_fill_columns_mve, %function
  .balign 4
deuteron_fill_columns_mve:
  push {r4-r11, lr}
  sub sp, #36
  ldr r4, [r0]
  ldrd r5, r6, [r4, #4]
  ldr r7, [r4, #28]
  ldr r8, [r4, #52]
  rsbs r9, r2, #0
  it lt
  movlt r9, #0
  subs r5, r5, r2
  it lt
  movlt r5, #0
  cmp r8, #1
  beq 1f
  add r9, r8
  sub r9, #1
  sdiv r9, r9, r8
  add r5, r8
  subs r5, #1
  sdiv r5, r5, r8
1:
  cmp r5, r7
  it gt
  movgt r5, r7
  cmp r9, r5
  it gt
  movgt r9, r5
  ldr r10, [sp, #72]
  rsbs r11, r3, #0
  it lt
  movlt r11, #0
  subs r12, r6, r3
  it lt
  movlt r12, #0
  cmp r12, r10
  it gt
  movgt r12, r10
  cmp r11, r12
  it gt
  movgt r11, r12
  mla r2, r9, r8, r2
  ldr lr, [r4, #12]
  mul r2, r2, r6
  mla r1, r2, lr, r1
  ldr lr, [r0, #16]
  add r3, r11
  mla r1, r3, lr, r1
  sub r2, r5, r9
  strd r1, r2, [sp]
  strd r11, r12, [sp, #8]
  ldr r4, [sp, #76]
  ldr r6, [r0, #8]
  str r0, [sp, #16]
  mla r8, r5, r6, r4
  mla r6, r9, r6, r4
  subs r7, r7, r5
  strd r7, r8, [sp, #20]
  str r6, [sp, #76]
  orrs r1, r9, r7
  beq 2f
  movs r1, #0                       @ rows above the image
  mov r2, r9
  mov r3, r10
  bl copy_pixels
  ldr r0, [sp, #16]                 @ below
  movs r1, #0
  ldrd r2, r4, [sp, #20]
  ldr r3, [sp, #72]
  bl copy_pixels
2:
  ldr r0, [sp, #16]                 @ columns left of it
  movs r1, #0
  ldrd r2, r3, [sp, #4]
  ldr r4, [sp, #76]
  bl copy_pixels
  ldr r0, [sp, #16]                 @ right of it
  movs r1, #0
  ldr r3, [sp, #12]
  ldr r4, [sp, #76]
  ldr r5, [r0, #4]
  ldr r2, [sp, #72]
  mla r4, r3, r5, r4
  subs r3, r2, r3
  ldr r2, [sp, #4]
  bl copy_pixels
  ldr r0, [sp, #16]
  ldrd r1, r2, [sp]
  ldrd r5, r3, [sp, #8]
  ldr r4, [sp, #76]
  ldr r6, [r0, #4]
  subs r3, r3, r5
  mla r4, r5, r6, r4
  bl copy_pixels
  add sp, #36
  pop {r4-r11, pc}
  .size deuteron_fill_columns_mve, . - deuteron_fill_columns_mve
