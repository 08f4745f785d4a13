// SPDX-License-Identifier: Apache-2.0
@ One window and a tile of weights of four bits for the M-profile Vector Extension: contract in
@ kernels/conv2d/packed_w4/sums_mve.h. Assembly, because gcc 12 puts what one unit does in a row,
@ where each step waits for the one before.
  .syntax unified
  .thumb

@ void deuteron_w4_sums_mve(const int8_t* window, const int8_t* nibbles, const int8_t* factors,
@   int32_t blocks, int32_t* sums)
@ A weight is (nibble - 8) * (1 + f), f of the four at r5: VMLA adds the product to what it is of.
@   r3 8   r6 f   r4 r8 r10 r12 sums   q0 window   q7 15
  .section .text.deuteron_w4_sums_mve, "ax", %progbits
  .global deuteron_w4_sums_mve
  .type deuteron_w4_sums_mve, %function
  .balign 4
deuteron_w4_sums_mve:
  push {r4-r6, r8, r10, lr}
  vpush {d8-d15}
  dls lr, r3
  vmov.i8 q7, #15
  movs r3, #8
  movs r4, #0
  mov r8, r4
  mov r10, r4
  mov r12, r4
1:
  vldrb.u8 q1, [r1], #16
  vand q3, q1, q7
  vldrb.u8 q2, [r1], #16
  vshr.u8 q4, q1, #4
  ldrh r5, [r2], #2
  vldrb.u8 q0, [r0], #16
  vsub.i8 q3, q3, r3
  and r6, r5, #15
  vsub.i8 q4, q4, r3
  vmla.s8 q3, q3, r6
  vand q5, q2, q7
  ubfx r6, r5, #4, #4
  vmla.s8 q4, q4, r6
  vshr.u8 q6, q2, #4
  vmladava.s8 r4, q0, q3
  vsub.i8 q5, q5, r3
  ubfx r6, r5, #8, #4
  vmla.s8 q5, q5, r6
  vsub.i8 q6, q6, r3
  vmladava.s8 r8, q0, q4
  lsrs r5, r5, #12
  vmla.s8 q6, q6, r5
  vmladava.s8 r10, q0, q5
  vmladava.s8 r12, q0, q6
  le lr, 1b
  ldr r0, [sp, #88]
  vpop {d8-d15}
  strd r4, r8, [r0]
  strd r10, r12, [r0, #8]
  pop {r4-r6, r8, r10, pc}
  .size deuteron_w4_sums_mve, . - deuteron_w4_sums_mve
