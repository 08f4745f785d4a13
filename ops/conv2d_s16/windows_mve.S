@ Inner loops of int16 convolution for the M-profile Vector Extension: contracts in ops/conv2d_s16/windows_mve.h. Assembly, because gcc 12
@ spills where all sixteen registers are needed: the eight even core registers are sums of VMLADAVA, which takes no others, so no LE (it
@ wants lr). Order of a block and of a tile as in ops/dense/packed_mve.S, whose vectors hold twice as many elements.
  .syntax unified
  .thumb

@ 8 elements of 2 windows and 4 filters: 6 loads, 8 multiply-accumulates. q2: the first filter's, and then those of the next block.
@   r1 weights   r9 r11 windows   r0 r2 r4 r6 sums of the first window   r8 r10 r12 r14 of the second
.macro BLOCK op
  vldrb.u8 q0, [r9], #16
  \op\().s16 r0, q0, q2
  vldrb.u8 q1, [r11], #16
  \op\().s16 r8, q1, q2
  vldrb.u8 q3, [r1], #16
  \op\().s16 r2, q0, q3
  vldrb.u8 q4, [r1], #16
  \op\().s16 r10, q1, q3
  vldrb.u8 q5, [r1], #16
  \op\().s16 r4, q0, q4
  vldrb.u8 q2, [r1], #16
  \op\().s16 r12, q1, q4
  \op\().s16 r6, q0, q5
  \op\().s16 r14, q1, q5
.endm
.equ BLOCK_BYTES, 56

@ void deuteron_s16_windows_mve(const MveS16Windows*)
@ offsets: x 0, step 4, y 8, y_step 12, packed 16, blocks 20, tiles 24, y_min 28, y_max 32, windows 36
@ stack: 0 x of both windows, 8 turns of a tile, 12 windows left, 16 arguments, 20 end of the weights, 24 where the first turn begins
@ q6 y_min   q7 y_max
  .section .text.deuteron_s16_windows_mve,"ax"
  .global deuteron_s16_windows_mve
  .type deuteron_s16_windows_mve, %function
  .balign 4
deuteron_s16_windows_mve:
  push {r4-r11, lr}
  sub sp, sp, #4
  vpush {d8-d15}
  sub sp, sp, #32
  str r0, [sp, #16]
  ldrd r4, r6, [r0, #28]
  vdup.32 q6, r4
  vdup.32 q7, r6
  ldr r9, [r0]
  ldr r5, [r0, #8]
  ldrd r6, r3, [r0, #20]
  lsls r4, r6, #6
  adds r4, #32                      @ bytes of a tile
  ldr r1, [r0, #16]
  mla r4, r4, r3, r1
  str r4, [sp, #20]
  adds r4, r6, #2                   @ turns of four blocks behind the first one, the first turn with what is left over
  lsrs r4, r4, #2
  str r4, [sp, #8]
  rsb r4, r6, #1
  and r4, r4, #3
  movs r3, #BLOCK_BYTES
  mul r4, r4, r3
  adr r3, 3f
  add r4, r4, r3
  orr r4, r4, #1
  str r4, [sp, #24]
  ldr r12, [r0, #36]
1:                                  @ two windows
  ldr r2, [r0, #4]
  ldr r4, [r0, #12]
  add r11, r9, r2
  add r7, r5, r4
  cmp r12, #1
  itt eq
  moveq r11, r9
  moveq r7, r5
  strd r9, r11, [sp]
  str r12, [sp, #12]
  ldr r1, [r0, #16]
2:                                  @ a tile
  ldr r3, [sp, #8]
  ldrd r9, r11, [sp]
  vldrb.u8 q2, [r1], #16
  BLOCK vmladav
  cbz r3, 4f
  ldr pc, [sp, #24]
4:
  b 5f
  .balign 4
3:
  .rept 4
  BLOCK vmladava
  .endr
  subs r3, #1
  bne 3b
5:                                  @ eight sums -> four results at r5, four at r7. VQRDMULH rounds halves up. q2: first[]
  vmov q4[2], q4[0], r0, r4
  vmov q4[3], q4[1], r2, r6
  vmov q5[2], q5[0], r8, r12
  vadd.i32 q4, q4, q2
  vmov q5[3], q5[1], r10, r14
  vadd.i32 q5, q5, q2
  vldrw.u32 q2, [r1], #16
  vqrdmulh.s32 q4, q4, q2
  vqrdmulh.s32 q5, q5, q2
  vmax.s32 q4, q4, q6
  vmin.s32 q4, q4, q7
  vmax.s32 q5, q5, q6
  vstrh.32 q4, [r5], #8
  vmin.s32 q5, q5, q7
  vstrh.32 q5, [r7], #8
  ldr r3, [sp, #20]
  cmp r1, r3
  bne 2b
  ldr r0, [sp, #16]
  ldr r9, [sp, #4]
  ldr r12, [sp, #12]
  ldr r2, [r0, #4]
  ldr r4, [r0, #24]
  sub r5, r7, r4, lsl #3
  ldr r6, [r0, #12]
  add r9, r9, r2
  add r5, r5, r6
  subs r12, r12, #2
  bgt 1b
  add sp, sp, #32
  vpop {d8-d15}
  add sp, sp, #4
  pop {r4-r11, pc}
  .size deuteron_s16_windows_mve, . - deuteron_s16_windows_mve

@ 8 elements of a window and 8 filters: 9 loads, 8 multiply-accumulates.
@   r1 window   r3 r5 weights of both tiles   r0 r2 r4 r6, r8 r10 r12 r14 sums
.macro BLOCK_OF_ONE op
  vldrb.u8 q0, [r1], #16
  vldrb.u8 q1, [r3], #16
  \op\().s16 r0, q0, q1
  vldrb.u8 q2, [r3], #16
  \op\().s16 r2, q0, q2
  vldrb.u8 q1, [r3], #16
  \op\().s16 r4, q0, q1
  vldrb.u8 q2, [r3], #16
  \op\().s16 r6, q0, q2
  vldrb.u8 q1, [r5], #16
  \op\().s16 r8, q0, q1
  vldrb.u8 q2, [r5], #16
  \op\().s16 r10, q0, q2
  vldrb.u8 q1, [r5], #16
  \op\().s16 r12, q0, q1
  vldrb.u8 q2, [r5], #16
  \op\().s16 r14, q0, q2
.endm

@ void deuteron_s16_window_mve(const MveS16Window*)
@ offsets: x 0, packed 4, y 8, blocks 12, pairs 16, second 20, y_min 24, y_max 28
@ stack: 0 x, 4 blocks, 8 pairs left;  r7 y   r9 second   q6 y_min   q7 y_max
  .section .text.deuteron_s16_window_mve,"ax"
  .global deuteron_s16_window_mve
  .type deuteron_s16_window_mve, %function
  .balign 4
deuteron_s16_window_mve:
  push {r4-r11, lr}
  sub sp, sp, #4
  vpush {d8-d15}
  sub sp, sp, #16
  ldrd r1, r3, [r0]
  ldrd r7, r4, [r0, #8]
  ldrd r5, r9, [r0, #16]
  strd r1, r4, [sp]
  str r5, [sp, #8]
  ldrd r4, r6, [r0, #24]
  vdup.32 q6, r4
  vdup.32 q7, r6
1:                                  @ two tiles
  ldrd r1, r11, [sp]
  add r5, r3, r9
  BLOCK_OF_ONE vmladav
  subs r11, #1
  beq 4f
  lsrs r11, r11, #1                 @ two blocks a turn; carry: the blocks left are odd in number
  bcc 3f
  BLOCK_OF_ONE vmladava
  cmp r11, #0
  beq 4f
3:
  BLOCK_OF_ONE vmladava
  BLOCK_OF_ONE vmladava
  subs r11, #1
  bne 3b
4:                                  @ eight sums -> eight results
  vmov q0[2], q0[0], r0, r4
  vldrw.u32 q2, [r3], #16
  vmov q0[3], q0[1], r2, r6
  vldrw.u32 q3, [r3]
  vmov q1[2], q1[0], r8, r12
  vadd.i32 q0, q0, q2
  vmov q1[3], q1[1], r10, r14
  vldrw.u32 q2, [r5], #16
  vqrdmulh.s32 q0, q0, q3
  vadd.i32 q1, q1, q2
  vldrw.u32 q3, [r5], #16
  vqrdmulh.s32 q1, q1, q3
  vmax.s32 q0, q0, q6
  vmin.s32 q0, q0, q7
  vmax.s32 q1, q1, q6
  vstrh.32 q0, [r7], #8
  vmin.s32 q1, q1, q7
  vstrh.32 q1, [r7], #8
  mov r3, r5
  ldr r4, [sp, #8]
  subs r4, #1
  str r4, [sp, #8]
  bne 1b
  add sp, sp, #16
  vpop {d8-d15}
  add sp, sp, #4
  pop {r4-r11, pc}
  .size deuteron_s16_window_mve, . - deuteron_s16_window_mve
