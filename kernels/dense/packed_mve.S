// SPDX-License-Identifier: Apache-2.0
@ Inner loops on packed weights for the M-profile Vector Extension: contracts in
@ kernels/dense/packed_mve.h, loops and schedules in packed_mve.inc; here the ends of tiles, for
@ int8 results. Assembly, because gcc 12 spills where all sixteen registers are needed.
#include "kernels/dense/packed_mve.inc"

  .syntax unified
  .thumb
.set WINDOWS_FRAME, 104

@ Eight sums -> four bytes at r5, four at r7; q2: first[] of their tile, whose multipliers r1
@ points to. VQRDMULH rounds halves up; VQMOVN saturates. Each step waits for the one before, so
@ the first block of the next tile, of the windows in q0 and q1, meets its filters in between:
@ \zero is y_zero, r9 or q7, q2 becomes the next weights. \held: the block is in these registers;
@ else it is loaded, and r3 becomes the turns of a tile.
.macro FINISH_AND_MEET zero, held=1
  vmov q4[2], q4[0], r0, r4
  vldrb.u8 q3, [r1, #16]
  vmov q5[2], q5[0], r8, r12
  vmov q5[3], q5[1], r10, r14
  .if \held == 0
  ldrd r9, r11, [sp]
  .endif
  vmov q4[3], q4[1], r2, r6
  .if \held == 0
  vldrb.u8 q1, [r11], #16
  .endif
  vmladav.s8 r8, q1, q3
  .if \held == 0
  vldrb.u8 q0, [r9], #16
  .endif
  vadd.i32 q4, q4, q2
  vmladav.s8 r0, q0, q3
  vadd.i32 q5, q5, q2
  vldrw.u32 q2, [r1], #32
  .if \held == 0
  ldr r3, [sp, #8]
  .endif
  .ifc \zero, r9
  vqrdmlash.s32 q4, q2, r9
  .else
  vqrdmulh.s32 q4, q4, q2
  .endif
  vldrb.u8 q3, [r1], #16
  vmladav.s8 r10, q1, q3
  vqmovnb.s32 q4, q4
  .ifc \zero, r9
  vqrdmlash.s32 q5, q2, r9
  .else
  vqrdmulh.s32 q5, q5, q2
  .endif
  vldrb.u8 q2, [r1], #16
  vmladav.s8 r12, q1, q2
  vqmovnt.s32 q4, q5
  vmladav.s8 r2, q0, q3
  vldrb.u8 q3, [r1], #16
  .ifnc \zero, r9
  vqadd.s16 q4, q4, \zero
  .endif
  vmladav.s8 r4, q0, q2
  vqmovnb.s16 q4, q4
  vmladav.s8 r6, q0, q3
  vldrb.u8 q2, [r1], #16
  vmladav.s8 r14, q1, q3
  vstrb.32 q4, [r5], #4
  vshr.u32 q4, q4, #16
  vstrb.32 q4, [r7], #4
.endm
@ A block of the windows in \a and \b. q2: its first weights, and then the next ones.
.macro MEET a, b, early, late
  vmladava.s8 r0, \a, q2
  vldrb.u8 q3, [r1], #16
  vmladava.s8 r8, \b, q2
  vldrb.u8 q2, [r1], #16
  vmladava.s8 r2, \a, q3
  \early
  vmladava.s8 r10, \b, q3
  vldrb.u8 q3, [r1], #16
  vmladava.s8 r4, \a, q2
  vmladava.s8 r12, \b, q2
  vldrb.u8 q2, [r1], #16
  vmladava.s8 r6, \a, q3
  \late
  vmladava.s8 r14, \b, q3
.endm

@ void deuteron_packed_windows_mve(const MvePackedWindows*)
@ offsets: x 0, step 4, y 8, y_step 12, packed 16, blocks 20, tiles 24, y_zero 28, windows 32
@ stack: 8 turns of a tile, where windows stay in registers tiles, 20 where the last tile has its
@   multipliers, 24 what follows the first block of the first tile, 28 y_zero, 32 the third
@   blocks of both windows where there are three or four, 64 the fourth ones, 96 what follows the
@   second ones
  .section .text.deuteron_packed_windows_mve,"ax"
  .global deuteron_packed_windows_mve
  .type deuteron_packed_windows_mve, %function
  .balign 4
deuteron_packed_windows_mve:
  ENTER_WINDOWS
  ldr r4, [r0, #28]
  vdup.16 q7, r4
  str r4, [sp, #28]
  READ_WINDOWS 6f, 8
  ldrd r7, r3, [sp, #20]
  subs r7, #16
  ldr r10, [sp, #8]
  ldr r11, [r0, #24]
  .macro IN_REGISTERS blocks, at
  cmp r6, #\blocks
  itt eq
  adreq.w r3, \at
  moveq r10, r11
  .endm
  IN_REGISTERS 1, 3f
  IN_REGISTERS 2, 4f
  IN_REGISTERS 3, 16f
  IN_REGISTERS 4, 5f
  orr r3, r3, #1
  strd r7, r3, [sp, #20]
  str r10, [sp, #8]
1:                                  @ two windows, r2 and r4 apart
  TAKE_WINDOWS
  ldr r3, [sp, #8]
  vldrb.u8 q2, [r1], #16
  BLOCK vmladav
  ldr pc, [sp, #24]
  .balign 4
3:                                  @ one block: the windows stay in registers
  ldr r9, [sp, #28]
  subs r3, #1
  beq 2f
8:
  FINISH_AND_MEET r9
  subs r3, #1
  bne 8b
  b 2f
  .balign 4
4:                                  @ two blocks
  vldrb.u8 q6, [r9]
  vldrb.u8 q7, [r11]
  ldr r9, [sp, #28]
  b 10f
9:
  FINISH_AND_MEET r9
10:
  MEET q6, q7, "subs r3, #1"
  bne 9b
  b 2f
  .balign 4
5:                                  @ four blocks: the third and fourth ones on the stack
  vldrb.u8 q4, [r9, #32]
  vldrb.u8 q5, [r11, #32]
  vstrb.8 q4, [sp, #64]
  vstrb.8 q5, [sp, #80]
  cmp r1, r1
  b 17f
  .balign 4
16:                                 @ three blocks: the third one
  cmp r1, #0
17:
  vldrb.u8 q6, [r9]
  vldrb.u8 q4, [r9, #16]
  vldrb.u8 q7, [r11]
  vldrb.u8 q5, [r11, #16]
  vstrb.8 q4, [sp, #32]
  vstrb.8 q5, [sp, #48]
  ite eq
  adreq.w r11, 14f
  adrne.w r11, 15f
  orr r11, r11, #1
  str r11, [sp, #96]
  ldr r9, [sp, #28]
  b 12f
11:
  FINISH_AND_MEET r9
12:
  MEET q6, q7, "vldrb.u8 q4, [sp, #32]", "vldrb.u8 q5, [sp, #48]"
  ldr pc, [sp, #96]
  .balign 4
14:
  MEET q4, q5, , "vldrb.u8 q4, [sp, #64]"
  vldrb.u8 q5, [sp, #80]
  .balign 4
15:
  MEET q4, q5, "subs r3, #1"
  bne 11b
  b 2f
13:                                 @ five blocks or more
  FINISH_AND_MEET q7, 0
  ldr pc, [sp, #24]
  .balign 4
6:
  .rept 8
  BLOCK vmladava
  .endr
  subs r3, #1
  bne 6b
  ldr r3, [sp, #20]
  cmp r1, r3
  bne 13b
2:                                  @ the last tile, and what TAKE_WINDOWS needs, or the end
  vmov q4[2], q4[0], r0, r4
  ldr r3, [sp, #28]
  vmov q4[3], q4[1], r2, r6
  vldrw.u32 q3, [r1]
  vmov q5[2], q5[0], r8, r12
  vadd.i32 q4, q4, q2
  ldr r0, [sp, #16]
  vqrdmlash.s32 q4, q3, r3
  vmov q5[3], q5[1], r10, r14
  ldr r9, [sp]
  vadd.i32 q5, q5, q2
  vqmovnb.s32 q4, q4
  vqrdmlash.s32 q5, q3, r3
  ldr r2, [r0, #4]
  ldr r12, [sp, #12]
  vqmovnt.s32 q4, q5
  ldr r4, [r0, #12]
  ldr r6, [r0, #24]
  vqmovnb.s16 q4, q4
  add r9, r9, r2, lsl #1
  vstrb.32 q4, [r5], #4
  vshr.u32 q4, q4, #16
  sub r5, r5, r6, lsl #2
  vstrb.32 q4, [r7], #4
  add r5, r5, r4, lsl #1
  subs r12, #2
  bgt.w 1b
  LEAVE_WINDOWS
  .size deuteron_packed_windows_mve, . - deuteron_packed_windows_mve

.macro SHIFT sums, by, rest
  vand \rest, \sums, \by
  vshr.s32 \rest, \rest, #31
  vqadd.s32 \sums, \sums, \rest
  vrshl.s32 \sums, \sums, \by
.endm

@ All of a function for one window.
@ offsets: x 0, last 4, packed 8, y 12, blocks 16, pairs 20, second 24, y_zero 28, shifts 32, with
@   \active also left out 36, more 40
@ stack: 0 x, 4 blocks, 8 pairs left, 12 shifts, 16 left out, 20 more;  r9 second   q6 last block
@   q7 y_zero
.macro ONE_WINDOW active, frame
  push {r4-r11, lr}
  sub sp, sp, #4
  vpush {d8-d15}
  sub sp, sp, #\frame
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
  .if \active
  vmov.i8 q3, #128
  ldrd r4, r5, [r0, #36]
  veor q6, q6, q3
  strd r4, r5, [sp, #16]
  .endif
1:                                  @ two tiles
  .if \active
  vmov.i8 q3, #128
  SUMS_OF_ONE u8, veor q0, q0, q3
  ldrd r1, r11, [sp, #16]
  add r3, r3, r1
  add r5, r5, r1
  .else
  SUMS_OF_ONE
  .endif
                                    @ eight sums -> eight bytes
  vmov q0[2], q0[0], r0, r4
  vldrw.u32 q2, [r3], #16
  vmov q0[3], q0[1], r2, r6
  vldrw.u32 q3, [r3]
  vmov q1[2], q1[0], r8, r12
  vadd.i32 q0, q0, q2
  vmov q1[3], q1[1], r10, r14
  vldrw.u32 q2, [r5], #16
  .if \active
  vadd.i32 q0, q0, r11
  .endif
  ldr r4, [sp, #12]
  vadd.i32 q1, q1, q2
  vldrw.u32 q4, [r5], #16
  .if \active
  vadd.i32 q1, q1, r11
  .endif
  cmp r4, #0
  bne 8f                            @ the filters have shifts
  vqrdmulh.s32 q0, q0, q3
  vqrdmulh.s32 q1, q1, q4
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
  add sp, sp, #\frame
  vpop {d8-d15}
  add sp, sp, #4
  pop {r4-r11, pc}
  NO_BLOCKS_BEFORE
8:                                  @ what is negative and has a shift loses one first, so that
                                    @ halves go away from zero
  ldr r6, [r4]
  vldrw.u32 q2, [r4], #16
  vldrw.u32 q5, [r4], #16
  str r4, [sp, #12]
  cmp r6, #0
  bgt 9f
  vqrdmulh.s32 q0, q0, q3
  vqrdmulh.s32 q1, q1, q4
  SHIFT q0, q2, q3
  SHIFT q1, q5, q3
  b 7b
9:                                  @ rounded once: VQDMULH cuts off, and VRSHL, which reads the low
                                    @ byte of a shift, rounds halves up
  vqdmulh.s32 q0, q0, q3
  vqdmulh.s32 q1, q1, q4
  vrshl.s32 q0, q0, q2
  vrshl.s32 q1, q1, q5
  b 7b
.endm

@ void deuteron_packed_window_mve(const MvePackedWindow*)
  .section .text.deuteron_packed_window_mve,"ax"
  .global deuteron_packed_window_mve
  .type deuteron_packed_window_mve, %function
  .balign 4
deuteron_packed_window_mve:
  ONE_WINDOW 0, 16
  .size deuteron_packed_window_mve, . - deuteron_packed_window_mve

@ void deuteron_packed_active_mve(const MvePackedActive*)
  .section .text.deuteron_packed_active_mve,"ax"
  .global deuteron_packed_active_mve
  .type deuteron_packed_active_mve, %function
  .balign 4
deuteron_packed_active_mve:
  ONE_WINDOW 1, 24
  .size deuteron_packed_active_mve, . - deuteron_packed_active_mve
