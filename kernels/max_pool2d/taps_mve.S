// SPDX-License-Identifier: Apache-2.0
@ Maxima of windows for the M-profile Vector Extension: contract in kernels/max_pool2d/taps_mve.h.
@ Windows meet four taps at a time, behind the last one that once more; y has what the taps before
@ have come to. Assembly, because gcc 12 predicates each vector by itself.
  .syntax unified
  .thumb

@ Offsets: at 0, low 4, y 8, channels 12, step 16, windows 20, columns 24, taps 28, tap 32,
@ to_next_row 36, left 40, y_max 44
@ r1 r2 r3 r4 taps   r5 what came before   r6 y   r7 r8 r9 their steps   r10 tap   r11 taps left
@   r12 columns left   stack: four taps
  .section .text.deuteron_maxima_mve,"ax"
  .global deuteron_maxima_mve
  .type deuteron_maxima_mve, %function
  .balign 4
deuteron_maxima_mve:
  push {r4-r11, lr}
  sub sp, #20
5:                                  @ 16 channels
  ldrd r1, r2, [r0, #40]
  vctp.8 r1
  vdup.8 q3, r2
  ldrd r10, r5, [r0]
  ldrd r9, r7, [r0, #12]
  ldrd r12, r11, [r0, #24]
  movs r8, #0
1:                                  @ the next four taps
  mov r4, sp
  add r3, r4, #16
2:
  str r10, [r4], #4
  subs r11, #1
  ble 3f
  ldrd r1, r2, [r0, #32]
  add r10, r1
  subs r12, #1
  itt eq
  addeq r10, r2
  ldreq r12, [r0, #24]
3:
  cmp r4, r3
  bne 2b
  ldr r6, [r0, #20]
  dls lr, r6
  ldr r6, [r0, #8]
  ldm sp, {r1-r4}
4:                                  @ windows
  vpstttt
  vldrbt.u8 q0, [r5]
  vldrbt.u8 q1, [r1]
  vmaxt.s8 q0, q0, q1
  vldrbt.u8 q2, [r2]
  add r5, r8
  add r1, r7
  vpstttt
  vmaxt.s8 q0, q0, q2
  vldrbt.u8 q1, [r3]
  vmaxt.s8 q0, q0, q1
  vldrbt.u8 q2, [r4]
  add r2, r7
  add r3, r7
  vpsttt
  vmaxt.s8 q0, q0, q2
  vmint.s8 q0, q0, q3
  vstrbt.8 q0, [r6]
  add r4, r7
  add r6, r9
  le lr, 4b
  ldr r5, [r0, #8]
  mov r8, r9
  cmp r11, #0
  bgt 1b
  ldr r10, [r0]
  add r5, #16
  ldr r1, [r0, #40]
  cbz r7, 6f
  add r10, #16
6:
  str r10, [r0]
  str r5, [r0, #8]
  subs r1, #16
  str r1, [r0, #40]
  bgt 5b
  add sp, #20
  pop {r4-r11, pc}
  .size deuteron_maxima_mve, . - deuteron_maxima_mve
