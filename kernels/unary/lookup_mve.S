// SPDX-License-Identifier: Apache-2.0
@ Table lookup for the M-profile Vector Extension: contract in kernels/unary/lookup_mve.h. 16
@ entries are gathered at once, the next 16 indices read before. Assembly, because gcc 12 adds to
@ pointers beside the loads that do.
  .syntax unified
  .thumb

  .section .text.deuteron_lookup_mve,"ax"
  .global deuteron_lookup_mve
  .type deuteron_lookup_mve, %function
  .balign 4
deuteron_lookup_mve:
  push {r4, lr}
  movs r4, #128
  vdup.8 q1, r4
  lsrs r4, r0, #5
  wls lr, r4, 2f
1:
  vldrb.u8 q0, [r2], #16
  veor q0, q0, q1
  vldrb.u8 q2, [r2], #16
  veor q2, q2, q1
  vldrb.u8 q3, [r1, q0]
  vstrb.8 q3, [r3], #16
  vldrb.u8 q0, [r1, q2]
  vstrb.8 q0, [r3], #16
  le lr, 1b
2:
  ands r0, r0, #31
  wlstp.8 lr, r0, 4f
3:
  vldrb.u8 q0, [r2], #16
  veor q0, q0, q1
  vldrb.u8 q2, [r1, q0]
  vstrb.8 q2, [r3], #16
  letp lr, 3b
4:
  pop {r4, pc}
  .size deuteron_lookup_mve, . - deuteron_lookup_mve
