// SPDX-License-Identifier: Apache-2.0
@ Addition in one step for the M-profile Vector Extension: contract in
@ kernels/linear/packed_add/row_mve.h. Assembly, because gcc 12 copies what an instruction would
@ change and adds to pointers beside the loads that do: 25 instructions for eight elements instead
@ of 16.
  .syntax unified
  .thumb

@ Offsets: count 0, period 4, x_factor 8, other_factor 12, first 16. VQMOVNT puts the second four
@ between the first, and the narrowing store takes the lower byte of each word; since each of these
@ steps waits for the one before, the sums of the next eight are made in between. What is left
@ behind the eights goes four by four, the last under a predicate.
  .section .text.deuteron_linear_add_mve,"ax"
  .global deuteron_linear_add_mve
  .type deuteron_linear_add_mve, %function
  .balign 4
deuteron_linear_add_mve:
  push {r4-r9, lr}
  vpush {d8-d9}
  ldr r12, [sp, #44]                @ a shift to the left by less than 0
  ldrd r4, r5, [r0, #8]
  ldr r6, [r0, #16]
  vdup.32 q0, r4
  ldr r9, [r0]
  mov r8, r2
6:                                  @ a row
  ldr r7, [r0, #4]
  mov r2, r8
  subs r9, r9, r7
  lsrs r4, r7, #3
  beq 3f
  vldrb.s32 q1, [r1], #4
  vldrb.s32 q2, [r2], #4
  vmlas.s32 q1, q0, r6
  vldrb.s32 q3, [r1], #4
  vmla.s32 q1, q2, r5
  vldrb.s32 q2, [r2], #4
  vmlas.s32 q3, q0, r6
  vmla.s32 q3, q2, r5
  subs r4, #1
  wls lr, r4, 2f
1:
  vshl.s32 q1, r12
  vldrb.s32 q2, [r2], #4
  vqmovnb.s32 q4, q1
  vldrb.s32 q1, [r1], #4
  vshl.s32 q3, r12
  vmlas.s32 q1, q0, r6
  vqmovnt.s32 q4, q3
  vmla.s32 q1, q2, r5
  vldrb.s32 q3, [r1], #4
  vqmovnb.s16 q4, q4
  vmlas.s32 q3, q0, r6
  vldrb.s32 q2, [r2], #4
  vmla.s32 q3, q2, r5
  vstrb.32 q4, [r3], #4
  vshr.u32 q4, q4, #16
  vstrb.32 q4, [r3], #4
  le lr, 1b
2:
  vshl.s32 q1, r12
  vshl.s32 q3, r12
  vqmovnb.s32 q1, q1
  vqmovnt.s32 q1, q3
  vqmovnb.s16 q1, q1
  vstrb.32 q1, [r3], #4
  vshr.u32 q1, q1, #16
  vstrb.32 q1, [r3], #4
3:
  ands r7, r7, #7
  wlstp.32 lr, r7, 5f
4:
  vldrb.s32 q1, [r1], #4
  vmlas.s32 q1, q0, r6
  vldrb.s32 q2, [r2], #4
  vmla.s32 q1, q2, r5
  vshl.s32 q1, r12
  vqmovnb.s32 q1, q1
  vqmovnb.s16 q1, q1
  vstrb.32 q1, [r3], #4
  letp lr, 4b
5:
  rsbs r7, r7, #0                   @ what the last four reached over
  ands r7, r7, #3
  subs r1, r1, r7
  subs r3, r3, r7
  cmp r9, #0
  bgt 6b
  vpop {d8-d9}
  pop {r4-r9, pc}
  .size deuteron_linear_add_mve, . - deuteron_linear_add_mve
