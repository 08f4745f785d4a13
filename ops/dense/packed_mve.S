@ Inner loops on packed weights for the M-profile Vector Extension: contracts in ops/dense/packed_mve.h. Assembly, because gcc 12 spills
@ where all sixteen registers are needed: the eight even core registers are sums of VMLADAVA, which takes no others, so no LE (it wants lr).
@
@ Order of a block, for Cortex-M55: a vector instruction takes two cycles and overlaps with its neighbour when that uses the other pipe, so
@ loads stand between multiply-accumulates. The weights of a tile follow one another under one pointer, which leaves a pointer for each
@ window; the load of the next block's first weights fetches the first[] of the tile after the last block, so nothing is read behind it.
  .syntax unified
  .thumb

@ 16 elements of 2 windows and 4 filters: 6 loads, 8 multiply-accumulates. q2: the first filter's, and then those of the next block.
@   r1 weights   r9 r11 windows   r0 r2 r4 r6 sums of the first window   r8 r10 r12 r14 of the second
.macro BLOCK op
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
.equ BLOCK_BYTES, 56
@ The same with the block of both windows in \a and \b: 4 loads. q4: as q2 above.
.macro HELD_BLOCK op, a, b
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
@ The same where some blocks stay in registers: those of the windows are in \a and \b, and others are loaded where registers fall free.
@ q2: as above; q3: weights. \jump: from the last filter's weights to the next block.
.macro BLOCK_AMONG op, a, b, jump, early, behind_a, behind_b
  \op\().s8 r0, \a, q2
  vldrb.u8 q3, [r1], #16
  \op\().s8 r8, \b, q2
  \early
  \op\().s8 r2, \a, q3
  vldrb.u8 q2, [r1], #16
  \op\().s8 r10, \b, q3
  \op\().s8 r4, \a, q2
  vldrw.u32 q3, [r1], #\jump
  \op\().s8 r12, \b, q2
  vldrb.u8 q2, [r1], #16
  \op\().s8 r6, \a, q3
  \behind_a
  \op\().s8 r14, \b, q3
  \behind_b
.endm
@ Eight sums -> four bytes at r5, four at r7. VQRDMULH rounds halves up; VQMOVN saturates. \first: first[]; \by: multipliers, which may
@ be the same register. q7: y_zero. Each step waits for the one before: \s1 to \s4 stand in between.
.macro FINISH a, b, first, by, s1, s2, s3, s4
  vmov \a[2], \a[0], r0, r4
  vmov \a[3], \a[1], r2, r6
  vmov \b[2], \b[0], r8, r12
  vadd.i32 \a, \a, \first
  vmov \b[3], \b[1], r10, r14
  .ifc \by, \first
  vadd.i32 \b, \b, \first
  vldrw.u32 \by, [r1], #16
  .else
  vldrw.u32 \by, [r1], #16
  vadd.i32 \b, \b, \first
  .endif
  vqrdmulh.s32 \a, \a, \by
  \s1
  vqrdmulh.s32 \b, \b, \by
  vqmovnb.s32 \a, \a
  \s2
  vqmovnt.s32 \a, \b
  \s3
  vqadd.s16 \a, \a, q7
  vqmovnb.s16 \a, \a
  \s4
  vstrb.32 \a, [r5], #4
  vshr.u32 \a, \a, #16
  vstrb.32 \a, [r7], #4
.endm

@ void deuteron_packed_windows_mve(const MvePackedWindows*)
@ offsets: x 0, step 4, y 8, y_step 12, packed 16, blocks 20, tiles 24, y_zero 28, windows 32
@ stack: 0 x of both windows, 8 turns of a tile, 12 windows left, 16 arguments, 20 end of the weights,
@        24 where the first turn begins, 28 where tiles begin
  .section .text.deuteron_packed_windows_mve,"ax"
  .global deuteron_packed_windows_mve
  .type deuteron_packed_windows_mve, %function
  .balign 4
deuteron_packed_windows_mve:
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
  adr r3, 6f
  add r4, r4, r3
  orr r4, r4, #1
  str r4, [sp, #24]
  ldr r2, [r0, #4]
  adr.w r4, 13f
  cmp r6, #9
  it eq
  cmpeq r2, #48
  it eq
  adreq.w r4, 11f
  cmp r6, #1
  it eq
  adreq.w r4, 4f
  cmp r6, #2
  it eq
  adreq.w r4, 5f
  cmp r6, #4
  it eq
  adreq.w r4, 7f
  orr r4, r4, #1
  str r4, [sp, #28]
  ldr r12, [r0, #32]
  ldr r4, [r0, #12]
1:                                  @ two windows, r2 and r4 apart
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
  ldr pc, [sp, #28]
13:                                 @ three blocks or more
  ldr r3, [sp, #8]
2:
  vldrb.u8 q2, [r1], #16
  BLOCK vmladav
  ldr pc, [sp, #24]
  .balign 4
6:
  .rept 4
  BLOCK vmladava
  .endr
  subs r3, #1
  bne 6b
  FINISH q4, q5, q2, q3, "ldr r3, [sp, #20]", "ldrd r9, r11, [sp]", "cmp r1, r3", "ldr r3, [sp, #8]"
  bne 2b
  b 3f
7:                                  @ four blocks: what there are registers for of the windows stays in them
  vldrb.u8 q4, [r9]
  vldrb.u8 q5, [r11]
  vldrb.u8 q6, [r9, #16]
10:
  vldrb.u8 q2, [r1], #16
  BLOCK_AMONG vmladav, q4, q5, 16, "vldrb.u8 q0, [r11, #16]"
  BLOCK_AMONG vmladava, q6, q0, 16, "vldrb.u8 q1, [r9, #32]", , "vldrb.u8 q0, [r11, #32]"
  BLOCK_AMONG vmladava, q1, q0, 16, , "vldrb.u8 q1, [r9, #48]", "vldrb.u8 q0, [r11, #48]"
  BLOCK_AMONG vmladava, q1, q0, 16
  FINISH q0, q1, q2, q3, "subs r3, #1"
  bne 10b
  b 3f
@ Nine blocks, and windows three blocks apart, as those of 3x3 over 16 channels: twelve blocks of x0..x11, of which the windows share six.
@ Blocks b of the filters meet xb and x(b + 3), in the order 0 3 6, 1 4 7, 2 5 8, so that the second one is the first one of the next block.
11:
  cmp r9, r11                       @ the last window of an odd number
  beq 13b
  add r9, r9, #96
  vldrb.u8 q4, [r9, #-96]           @ x0
  vldrb.u8 q5, [r9, #-48]           @ x3
  vldrb.u8 q6, [r9]                 @ x6
12:
  vldrb.u8 q2, [r1], #16
  BLOCK_AMONG vmladav, q4, q5, 144, "vldrb.u8 q0, [r9, #48]"
  BLOCK_AMONG vmladava, q5, q6, 144, "vldrb.u8 q1, [r9, #-80]"
  BLOCK_AMONG vmladava, q6, q0, -368, , , "vldrb.u8 q0, [r9, #-32]"
  BLOCK_AMONG vmladava, q1, q0, 144, , "vldrb.u8 q1, [r9, #16]"
  BLOCK_AMONG vmladava, q0, q1, 144, , "vldrb.u8 q0, [r9, #64]"
  BLOCK_AMONG vmladava, q1, q0, -368, , "vldrb.u8 q1, [r9, #-64]", "vldrb.u8 q0, [r9, #-16]"
  BLOCK_AMONG vmladava, q1, q0, 144, , "vldrb.u8 q1, [r9, #32]"
  BLOCK_AMONG vmladava, q0, q1, 144, , "vldrb.u8 q0, [r9, #80]"
  BLOCK_AMONG vmladava, q1, q0, 16
  FINISH q0, q1, q2, q3, "subs r3, #1"
  bne 12b
  b 3f
4:                                  @ one block: the windows stay in registers
  vldrb.u8 q0, [r9]
  vldrb.u8 q1, [r11]
8:
  vldrb.u8 q4, [r1], #16
  HELD_BLOCK vmladav, q0, q1
  FINISH q2, q3, q4, q5, "subs r3, #1"
  bne 8b
  b 3f
5:                                  @ two blocks
  vldrb.u8 q0, [r9]
  vldrb.u8 q1, [r11]
  vldrb.u8 q2, [r9, #16]
  vldrb.u8 q3, [r11, #16]
9:
  vldrb.u8 q4, [r1], #16
  HELD_BLOCK vmladav, q0, q1
  HELD_BLOCK vmladava, q2, q3
  FINISH q5, q6, q4, q4, "subs r3, #1"
  bne 9b
3:
  ldr r0, [sp, #16]
  ldr r9, [sp]
  ldr r12, [sp, #12]
  ldr r2, [r0, #4]
  ldr r4, [r0, #12]
  ldr r6, [r0, #24]
  add r9, r9, r2, lsl #1
  sub r5, r5, r6, lsl #2
  add r5, r5, r4, lsl #1
  subs r12, r12, #2
  bgt 1b
  add sp, sp, #32
  vpop {d8-d15}
  add sp, sp, #4
  pop {r4-r11, pc}
  .size deuteron_packed_windows_mve, . - deuteron_packed_windows_mve

@ 16 elements of a window and 8 filters: 9 loads, 8 multiply-accumulates.
@   r1 window   r3 r5 weights of both tiles   r0 r2 r4 r6, r8 r10 r12 r14 sums
.macro BLOCK_OF_ONE op
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

.macro SHIFT sums, by, rest
  vand \rest, \sums, \by
  vshr.s32 \rest, \rest, #31
  vqadd.s32 \sums, \sums, \rest
  vrshl.s32 \sums, \sums, \by
.endm

@ void deuteron_packed_window_mve(const MvePackedWindow*)
@ offsets: x 0, last 4, packed 8, y 12, blocks 16, pairs 20, second 24, y_zero 28, shifts 32
@ stack: 0 x, 4 blocks, 8 pairs left, 12 shifts;  r9 second   q6 last block   q7 y_zero
  .section .text.deuteron_packed_window_mve,"ax"
  .global deuteron_packed_window_mve
  .type deuteron_packed_window_mve, %function
  .balign 4
deuteron_packed_window_mve:
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
1:                                  @ two tiles
  ldrd r1, r11, [sp]
  add r5, r3, r9
  cmp r11, #0
  beq 5f
  BLOCK_OF_ONE vmladav
  lsrs r11, r11, #1                 @ turns of two blocks; carry: those behind the first one are even in number, else the middle is the beginning
  bcc 3f
  beq 4f
2:
  BLOCK_OF_ONE vmladava
3:
  BLOCK_OF_ONE vmladava
  subs r11, #1
  bne 2b
4:                                  @ the last block
  vldrb.u8 q1, [r3], #16
  vmladava.s8 r0, q6, q1
  vldrb.u8 q2, [r3], #16
  vmladava.s8 r2, q6, q2
  vldrb.u8 q1, [r3], #16
  vmladava.s8 r4, q6, q1
  vldrb.u8 q2, [r3], #16
  vmladava.s8 r6, q6, q2
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r8, q6, q1
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r10, q6, q2
  vldrb.u8 q1, [r5], #16
  vmladava.s8 r12, q6, q1
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r14, q6, q2
                                    @ eight sums -> eight bytes
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
  ldr r4, [sp, #12]
  vldrw.u32 q3, [r5], #16
  vqrdmulh.s32 q1, q1, q3
  cmp r4, #0
  bne 8f                            @ the filters have shifts
7:
  vqmovnb.s32 q0, q0
  vqmovnt.s32 q0, q1                @ results of both tiles in turns
  mov r3, r5
  ldr r4, [sp, #8]
  vqadd.s16 q0, q0, q7
  vqmovnb.s16 q0, q0
  subs r4, #1
  vstrb.32 q0, [r7], #4
  str r4, [sp, #8]
  vshr.u32 q0, q0, #16
  vstrb.32 q0, [r7], #4
  bne 1b
  add sp, sp, #16
  vpop {d8-d15}
  add sp, sp, #4
  pop {r4-r11, pc}
5:                                  @ the last block is the only one
  .irp sum, r0, r2, r4, r6, r8, r10, r12, r14
  mov \sum, #0
  .endr
  b 4b
8:                                  @ what is negative and has a shift loses one first, so that halves go away from zero
  vldrw.u32 q2, [r4], #16
  vldrw.u32 q3, [r4], #16
  SHIFT q0, q2, q4
  SHIFT q1, q3, q4
  str r4, [sp, #12]
  b 7b
  .size deuteron_packed_window_mve, . - deuteron_packed_window_mve
