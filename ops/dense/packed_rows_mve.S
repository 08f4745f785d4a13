@ Four windows three columns wide against four filters, on packed weights, for the M-profile Vector Extension: contract in
@ ops/dense/packed_rows_mve.h. Assembly, because gcc 12 spills where all sixteen registers are needed.
@
@ Of a row of taps four windows side by side share six columns: what two filters have for the row stays in six registers, and each column is
@ loaded once, 12 loads for 24 multiply-accumulates where two windows and four filters want 15 to 18. Two such passes are a tile. The sums
@ of both stand in memory until it ends, where a vector is what a window has of four filters, as biases and multipliers lie.
  .syntax unified
  .thumb

@ A block of the three columns. Loads stand between multiply-accumulates, as ops/dense/packed_mve.inc says; columns take turns in two
@ registers. \first: vmladav where sums begin; \own, \next: whether the block loads the weights of its first column, and those of the next
@ block, so that nothing is loaded that the filters do not have.
@   r1 r3 r5 weights of the columns   r9 windows   r11 pitch   r0 r2 r4 r6 sums of the first filter, r8 r10 r12 r14 of the second
.macro ROW first, own, next
  vldrb.u8 q6, [r9]
  .if \own
  vldrb.u8 q0, [r1], #16
  .endif
  \first\().s8 r0, q6, q0
  .if \own
  vldrb.u8 q1, [r1], #48
  .else
  vldrb.u8 q7, [r9, #16]
  .endif
  \first\().s8 r8, q6, q1
  .if \own
  vldrb.u8 q7, [r9, #16]
  .else
  vldrb.u8 q2, [r3], #16
  .endif
  \first\().s8 r2, q7, q0
  .if \own
  vldrb.u8 q2, [r3], #16
  .else
  vldrb.u8 q3, [r3], #48
  .endif
  \first\().s8 r10, q7, q1
  .if \own
  vldrb.u8 q3, [r3], #48
  .endif
  vmladava.s8 r0, q7, q2
  vldrb.u8 q6, [r9, #32]
  vmladava.s8 r8, q7, q3
  vldrb.u8 q4, [r5], #16
  \first\().s8 r4, q6, q0
  vldrb.u8 q7, [r9, #48]
  \first\().s8 r12, q6, q1
  vldrb.u8 q5, [r5], #48
  vmladava.s8 r2, q6, q2
  vmladava.s8 r10, q6, q3
  vmladava.s8 r0, q6, q4
  vmladava.s8 r8, q6, q5
  vldrb.u8 q6, [r9, #64]
  \first\().s8 r6, q7, q0
  .if \next
  vldrb.u8 q0, [r1], #16
  .endif
  \first\().s8 r14, q7, q1
  .if \next
  vldrb.u8 q1, [r1], #48
  .endif
  vmladava.s8 r4, q7, q2
  vmladava.s8 r12, q7, q3
  vmladava.s8 r2, q7, q4
  vmladava.s8 r10, q7, q5
  vldrb.u8 q7, [r9, #80]
  vmladava.s8 r6, q6, q2
  add r9, r9, r11
  vmladava.s8 r14, q6, q3
  vmladava.s8 r4, q6, q4
  vmladava.s8 r12, q6, q5
  vmladava.s8 r6, q7, q4
  vmladava.s8 r14, q7, q5
.endm
@ The sums of a pass, to what \at of four filters is theirs.
.macro KEEP_SUMS at
  strd r0, r8, [sp, #\at]
  strd r2, r10, [sp, #(16 + \at)]
  strd r4, r12, [sp, #(32 + \at)]
  strd r6, r14, [sp, #(48 + \at)]
.endm

@ void deuteron_packed_rows_mve(const MvePackedRows*)
@ offsets: x 0, pitch 4, y 8, y_step 12, packed 16, rows 20, tiles 24, y_zero 28, fours 32
@ stack: 0 sums, 16 bytes a window, 64 x, 68 arguments, 72 bytes of a column's weights, 76 end of the weights, 80 y, 84 y_step, 88 y_zero,
@        92 fours left
@ r7: where a pass ends; one less in the second pass of a tile, so that the comparison that ends a pass says which one it was
  .section .text.deuteron_packed_rows_mve,"ax"
  .global deuteron_packed_rows_mve
  .type deuteron_packed_rows_mve, %function
  .balign 4
deuteron_packed_rows_mve:
  push {r4-r11, lr}
  sub sp, sp, #4
  vpush {d8-d15}
  sub sp, sp, #96
  ldrd r9, r11, [r0]
  ldrd r4, r6, [r0, #8]
  ldrd r1, r2, [r0, #16]
  ldrd r8, r10, [r0, #24]
  ldr r12, [r0, #32]
  strd r4, r6, [sp, #80]
  strd r10, r12, [sp, #88]
  mla r7, r2, r11, r9
  lsls r4, r2, #6
  adds r5, r4, #32
  add r5, r5, r4, lsl #1            @ bytes of a tile
  mla r5, r5, r8, r1
  strd r4, r5, [sp, #72]
  str r0, [sp, #68]
1:                                  @ four windows
  str r9, [sp, #64]
  add r3, r1, r4
  add r5, r3, r4
  b 3f
2:                                  @ the second pass of a tile
  KEEP_SUMS 0
  ldr r0, [sp, #72]
  add r5, r3, #32
  ldr r9, [sp, #64]
  add r3, r1, #32
  subs r1, r3, r0
  subs r7, #1
3:                                  @ a pass: two filters of a tile
  ROW vmladav, 1, 1
4:
  ROW vmladava, 0, 1
  ROW vmladava, 0, 0
  cmp r9, r7
  blo 5f
  beq 2b
                                    @ sums -> four bytes of each window, as FINISH of packed_mve.S makes them
  KEEP_SUMS 8
  ldrd r0, r2, [sp, #80]
  vldrw.u32 q0, [r5, #-32]          @ first[]
  ldr r8, [sp, #88]
  vldrw.u32 q2, [sp]
  add r4, r0, r2
  vadd.i32 q2, q2, q0
  vldrw.u32 q1, [r5, #-16]          @ multipliers
  vqrdmulh.s32 q2, q2, q1
  vldrw.u32 q3, [sp, #16]
  vadd.i32 q3, q3, q0
  vldrw.u32 q4, [sp, #32]
  vqrdmulh.s32 q3, q3, q1
  vldrw.u32 q5, [sp, #48]
  vadd.i32 q4, q4, q0
  vadd.i32 q5, q5, q0
  vqmovnb.s32 q2, q2
  vqrdmulh.s32 q4, q4, q1
  vqmovnt.s32 q2, q3
  vqrdmulh.s32 q5, q5, q1
  add r6, r4, r2
  vqadd.s16 q2, q2, r8
  vqmovnb.s32 q4, q4
  vqmovnb.s16 q2, q2
  vqmovnt.s32 q4, q5
  vstrb.32 q2, [r0], #4
  vqadd.s16 q4, q4, r8
  add r2, r2, r6
  vshr.u32 q2, q2, #16
  vstrb.32 q2, [r4]
  vqmovnb.s16 q4, q4
  str r0, [sp, #80]
  vstrb.32 q4, [r6]
  vshr.u32 q4, q4, #16
  vstrb.32 q4, [r2]
  ldrd r4, r0, [sp, #72]
  ldr r9, [sp, #64]
  mov r1, r5
  adds r7, #1
  cmp r5, r0
  add r3, r5, r4
  add r5, r3, r4
  bne 3b
  ldr r0, [sp, #68]                 @ the next four windows
  ldrd r2, r3, [sp, #80]
  ldr r8, [sp, #92]
  ldr r6, [r0, #24]
  add r2, r2, r3, lsl #2
  sub r2, r2, r6, lsl #2
  str r2, [sp, #80]
  adds r7, #64
  add r9, r9, #64
  ldr r1, [r0, #16]
  subs r8, r8, #1
  str r8, [sp, #92]
  bne 1b
  add sp, sp, #96
  vpop {d8-d15}
  add sp, sp, #4
  pop {r4-r11, pc}
5:                                  @ three more blocks of a column
  ROW vmladava, 1, 1
  b 4b
  .size deuteron_packed_rows_mve, . - deuteron_packed_rows_mve
