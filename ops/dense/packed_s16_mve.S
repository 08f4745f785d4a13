@ Inner loops on packed weights with int16 results for the M-profile Vector Extension: contracts in ops/dense/packed_mve.h, schedules as in
@ packed_mve.S, from which they differ in the end of a tile, which takes more registers there. Assembly, because gcc 12 spills
@ where all sixteen registers are needed: the eight even core registers are sums of VMLADAVA, which takes no others, so no LE (it wants lr).
@
@ Order of a block, for Cortex-M55: a vector instruction takes two cycles and overlaps with its neighbour when that uses the other pipe, so
@ loads stand between multiply-accumulates. The weights of a tile follow one another under one pointer, which leaves a pointer for each
@ window; the load of the next block's first weights fetches the first[] of the tile after the last block, so nothing is read behind it.
  .syntax unified
  .thumb

@ 16 elements of 2 windows and 4 filters: 6 loads, 8 multiply-accumulates. q2: the first filter's, and then those of the next block.
@   r1 weights   r9 r11 windows   r0 r2 r4 r6 sums of the first window   r8 r10 r12 r14 of the second
.macro S16_BLOCK op
  vldrb.u8 q0, [r9], #16
  \op\().s8 r0, q0, q2
  vldrb.u8 q1, [r11], #16
  \op\().s8 r8, q1, q2
  vldrb.u8 q3, [r1], #16
  \op\().s8 r2, q0, q3
  vldrb.u8 q4, [r1], #16
  \op\().s8 r10, q1, q3
  vldrb.u8 q5, [r1], #16
  \op\().s8 r4, q0, q4
  vldrb.u8 q2, [r1], #16
  \op\().s8 r12, q1, q4
  \op\().s8 r6, q0, q5
  \op\().s8 r14, q1, q5
.endm
.equ S16_BLOCK_BYTES, 56
@ The same with the block of both windows in \a and \b: 4 loads. q4: as q2 above.
.macro S16_HELD_BLOCK op, a, b
  \op\().s8 r0, \a, q4
  vldrb.u8 q5, [r1], #16
  \op\().s8 r8, \b, q4
  \op\().s8 r2, \a, q5
  vldrb.u8 q4, [r1], #16
  \op\().s8 r10, \b, q5
  \op\().s8 r4, \a, q4
  vldrb.u8 q5, [r1], #16
  \op\().s8 r12, \b, q4
  \op\().s8 r6, \a, q5
  vldrb.u8 q4, [r1], #16
  \op\().s8 r14, \b, q5
.endm

@ Eight sums -> four int16 at r5, four at r7: shifted left, multiplied, clamped. \first: first[], then the multipliers. r0 r2 r4: free, as
@ all sums are. q7: y_min.
.macro S16_FINISH a, b, first
  vmov \a[2], \a[0], r0, r4
  vmov \a[3], \a[1], r2, r6
  ldr r0, [sp, #16]
  vmov \b[2], \b[0], r8, r12
  vadd.i32 \a, \a, \first
  ldrd r4, r2, [r0, #36]
  vmov \b[3], \b[1], r10, r14
  vadd.i32 \b, \b, \first
  vldrw.u32 \first, [r1], #16
  vshl.s32 \a, r4
  vqrdmulh.s32 \a, \a, \first
  vshl.s32 \b, r4
  vqrdmulh.s32 \b, \b, \first
  vdup.16 \first, r2
  vqmovnb.s32 \a, \a
  vqmovnt.s32 \a, \b
  vmax.s16 \a, \a, q7
  vmin.s16 \a, \a, \first
  vstrh.32 \a, [r5], #8
  vshr.u32 \a, \a, #16
  vstrh.32 \a, [r7], #8
.endm

@ void deuteron_packed_windows_s16_mve(const MvePackedWindowsS16*)
@ offsets: x 0, step 4, y 8, y_step 12, packed 16, blocks 20, tiles 24, y_min 28, windows 32, shift 36, y_max 40
@ stack: 0 x of both windows, 8 turns of a tile, 12 windows left, 16 arguments, 20 end of the weights, 24 where the first turn begins, 28 blocks
  .section .text.deuteron_packed_windows_s16_mve,"ax"
  .global deuteron_packed_windows_s16_mve
  .type deuteron_packed_windows_s16_mve, %function
  .balign 4
deuteron_packed_windows_s16_mve:
  push {r4-r11, lr}
  sub sp, sp, #4
  vpush {d8-d15}
  sub sp, sp, #32
  str r0, [sp, #16]
  ldr r4, [r0, #28]
  vdup.16 q7, r4
  ldr r9, [r0]
  ldr r5, [r0, #8]
  ldrd r6, r3, [r0, #20]
  str r6, [sp, #28]
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
  movs r3, #S16_BLOCK_BYTES
  mul r4, r4, r3
  adr r3, 6f
  add r4, r4, r3
  orr r4, r4, #1
  str r4, [sp, #24]
  ldr r12, [r0, #32]
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
  ldr r3, [r0, #24]
  ldr r6, [sp, #28]
  cmp r6, #2
  blo 4f
  beq 5f
  cmp r6, #4
  beq 7f
2:                                  @ a tile, three blocks or more
  ldr r3, [sp, #8]
  ldrd r9, r11, [sp]
  vldrb.u8 q2, [r1], #16
  S16_BLOCK vmladav
  ldr pc, [sp, #24]
  .balign 4
6:
  .rept 4
  S16_BLOCK vmladava
  .endr
  subs r3, #1
  bne 6b
  S16_FINISH q4, q5, q2
  ldr r3, [sp, #20]
  cmp r1, r3
  bne 2b
  b 3f
7:                                  @ four blocks
  ldrd r9, r11, [sp]
  vldrb.u8 q2, [r1], #16
  S16_BLOCK vmladav
  S16_BLOCK vmladava
  S16_BLOCK vmladava
  S16_BLOCK vmladava
  S16_FINISH q4, q5, q2
  subs r3, #1
  bne 7b
  b 3f
4:                                  @ one block: the windows stay in registers
  vldrb.u8 q0, [r9]
  vldrb.u8 q1, [r11]
8:
  vldrb.u8 q4, [r1], #16
  S16_HELD_BLOCK vmladav, q0, q1
  S16_FINISH q2, q3, q4
  subs r3, #1
  bne 8b
  b 3f
5:                                  @ two blocks
  vldrb.u8 q0, [r9]
  vldrb.u8 q1, [r11]
  vldrb.u8 q2, [r9, #16]
  vldrb.u8 q3, [r11, #16]
9:
  vldrb.u8 q4, [r1], #16
  S16_HELD_BLOCK vmladav, q0, q1
  S16_HELD_BLOCK vmladava, q2, q3
  S16_FINISH q5, q6, q4
  subs r3, #1
  bne 9b
3:
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
  .size deuteron_packed_windows_s16_mve, . - deuteron_packed_windows_s16_mve

@ 16 elements of a window and 8 filters: 9 loads, 8 multiply-accumulates.
@   r1 window   r3 r5 weights of both tiles   r0 r2 r4 r6, r8 r10 r12 r14 sums
.macro S16_BLOCK_OF_ONE op
  vldrb.u8 q0, [r1], #16
  vldrb.u8 q1, [r3], #16
  \op\().s8 r0, q0, q1
  vldrb.u8 q2, [r3], #16
  \op\().s8 r2, q0, q2
  vldrb.u8 q1, [r3], #16
  \op\().s8 r4, q0, q1
  vldrb.u8 q2, [r3], #16
  \op\().s8 r6, q0, q2
  vldrb.u8 q1, [r5], #16
  \op\().s8 r8, q0, q1
  vldrb.u8 q2, [r5], #16
  \op\().s8 r10, q0, q2
  vldrb.u8 q1, [r5], #16
  \op\().s8 r12, q0, q1
  vldrb.u8 q2, [r5], #16
  \op\().s8 r14, q0, q2
.endm

@ Likewise the last block, in q6.
.macro S16_LAST_BLOCK op
  vldrb.u8 q1, [r3], #16
  \op\().s8 r0, q6, q1
  vldrb.u8 q2, [r3], #16
  \op\().s8 r2, q6, q2
  vldrb.u8 q1, [r3], #16
  \op\().s8 r4, q6, q1
  vldrb.u8 q2, [r3], #16
  \op\().s8 r6, q6, q2
  vldrb.u8 q1, [r5], #16
  \op\().s8 r8, q6, q1
  vldrb.u8 q2, [r5], #16
  \op\().s8 r10, q6, q2
  vldrb.u8 q1, [r5], #16
  \op\().s8 r12, q6, q1
  vldrb.u8 q2, [r5], #16
  \op\().s8 r14, q6, q2
.endm


@ void deuteron_packed_window_s16_mve(const MvePackedWindowS16*)
@ offsets: x 0, last 4, packed 8, y 12, blocks 16, pairs 20, second 24, y_min 28, shift 32, y_max 36
@ stack: 0 x, 4 blocks, 8 pairs left, 12 shift;  r9 second   q5 y_max   q6 last block   q7 y_min
  .section .text.deuteron_packed_window_s16_mve,"ax"
  .global deuteron_packed_window_s16_mve
  .type deuteron_packed_window_s16_mve, %function
  .balign 4
deuteron_packed_window_s16_mve:
  push {r4-r11, lr}
  sub sp, sp, #4
  vpush {d8-d15}
  sub sp, sp, #16
  ldrd r1, r2, [r0]
  vldrb.u8 q6, [r2]
  ldrd r3, r7, [r0, #8]
  ldrd r4, r5, [r0, #16]
  strd r1, r4, [sp]
  str r5, [sp, #8]
  ldrd r9, r6, [r0, #24]
  vdup.16 q7, r6
  ldr r6, [r0, #32]
  str r6, [sp, #12]
  ldr r6, [r0, #36]
  vdup.16 q5, r6
1:                                  @ two tiles
  ldrd r1, r11, [sp]
  add r5, r3, r9
  cmp r11, #0
  beq 5f
  S16_BLOCK_OF_ONE vmladav
  subs r11, #1
  beq 4f
  lsrs r11, r11, #1                 @ two blocks a turn; carry: the blocks left are odd in number
  bcc 3f
  S16_BLOCK_OF_ONE vmladava
  cmp r11, #0
  beq 4f
3:
  S16_BLOCK_OF_ONE vmladava
  S16_BLOCK_OF_ONE vmladava
  subs r11, #1
  bne 3b
4:                                  @ the last block
  S16_LAST_BLOCK vmladava
  b 6f
5:
  S16_LAST_BLOCK vmladav
6:                                  @ eight sums -> eight results
  vmov q0[2], q0[0], r0, r4
  vldrw.u32 q2, [r3], #16
  vmov q0[3], q0[1], r2, r6
  vldrw.u32 q3, [r3]
  vmov q1[2], q1[0], r8, r12
  vadd.i32 q0, q0, q2
  ldr r4, [sp, #12]
  vmov q1[3], q1[1], r10, r14
  vldrw.u32 q2, [r5], #16
  vshl.s32 q0, r4
  vqrdmulh.s32 q0, q0, q3
  vadd.i32 q1, q1, q2
  vldrw.u32 q3, [r5], #16
  vshl.s32 q1, r4
  vqrdmulh.s32 q1, q1, q3
  vqmovnb.s32 q0, q0
  vqmovnt.s32 q0, q1
  mov r3, r5
  vmax.s16 q0, q0, q7
  ldr r4, [sp, #8]
  vmin.s16 q0, q0, q5
  subs r4, #1
  vstrh.32 q0, [r7], #8
  str r4, [sp, #8]
  vshr.u32 q0, q0, #16
  vstrh.32 q0, [r7], #8
  bne 1b
  add sp, sp, #16
  vpop {d8-d15}
  add sp, sp, #4
  pop {r4-r11, pc}
  .size deuteron_packed_window_s16_mve, . - deuteron_packed_window_s16_mve
