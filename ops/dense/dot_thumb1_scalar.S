@ Inner loops for cores with Thumb-1: contracts in dot_thumb1_scalar.h. Assembly, because gcc 12 keeps no sums in the upper registers, which only
@ additions, comparisons and moves can name. Empty for other cores.
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1
  .syntax unified
  .thumb
.equ AT_ONCE, 4

.macro FUNCTION name
  .section .text.\name,"ax"
  .global \name
  .type \name, %function
  .balign 4
\name:
.endm
.macro ENTER bytes
  push {r4-r7, lr}
  mov r4, r8
  mov r5, r9
  mov r6, r10
  mov r7, r11
  push {r4-r7}
  sub sp, #\bytes
.endm
.macro LEAVE bytes
  add sp, #\bytes
  pop {r4-r7}
  mov r8, r4
  mov r9, r5
  mov r10, r6
  mov r11, r7
  pop {r4-r7, pc}
.endm
@ Where the first turn of a loop begins, at sp + 16, with r1 the negative number of steps: those that are no multiple are left out.
.macro ENTRY bytes, loop
  movs r3, #(AT_ONCE - 1)
  ands r1, r3
  movs r3, #\bytes
  muls r1, r3, r1
  adr r3, \loop
  adds r1, r1, r3
  str r1, [sp, #16]
.endm
.macro CLEAR
  movs r0, #0
  mov r8, r0
  mov r9, r0
  mov r10, r0
  mov r11, r0
.endm

@ Two elements of four windows and a filter: 19 instructions, 8 products. Of a pair's products P = A + 65536 * B the words are summed, and
@ (P + 32768) / 65536, rounded down, is B; A is what is left of the word at the end.
@   r0-r3 windows   r4 weight   r5 element, below 0   r6 end of the filter   r7 next windows
@   r8 r10 sums of the pairs' words   r9 r11 sums of their upper windows   r12 32768
.macro UPPER x, words, upper
  add \words, \x
  add \x, r12
  asrs \x, \x, #16
  add \upper, \x
.endm
.macro ELEMENTS
  ldm r7!, {r0-r3}
  ldrsb r4, [r6, r5]
  adds r5, #1
  muls r0, r4, r0
  muls r1, r4, r1
  ldrsb r4, [r6, r5]
  muls r2, r4, r2
  muls r3, r4, r3
  adds r0, r0, r2
  adds r1, r1, r3
  UPPER r0, r8, r9
  UPPER r1, r10, r11
  adds r5, #1
.endm
.equ ELEMENTS_BYTES, 38

@ stack: 0 windows, 4 length, 8 filters that are left, 12 sums, 16 entry
  FUNCTION deuteron_dot_4_thumb1
  ENTER 20
  ldr r1, [r0]
  ldr r6, [r0, #4]
  ldr r2, [r0, #8]
  ldr r3, [r0, #12]
  ldr r4, [r0, #16]
  str r1, [sp]
  str r2, [sp, #4]
  str r3, [sp, #8]
  str r4, [sp, #12]
  movs r0, #1
  lsls r0, r0, #15
  mov r12, r0
  lsrs r1, r2, #1
  rsbs r1, r1, #0                   @ pairs of elements
  ENTRY ELEMENTS_BYTES, 3f
1:                                  @ a filter that begins at r6
  ldr r2, [sp, #4]
  adds r6, r6, r2
  rsbs r5, r2, #0
  ldr r7, [sp]
  CLEAR
  lsrs r2, r2, #1
  bcc 2f                            @ an odd element by itself
  ldm r7!, {r0, r1}
  ldrsb r4, [r6, r5]
  muls r0, r4, r0
  muls r1, r4, r1
  UPPER r0, r8, r9
  UPPER r1, r10, r11
  adds r5, #1
  beq 4f
2:
  ldr r0, [sp, #16]
  mov pc, r0
  .balign 4
3:
  .rept AT_ONCE
  ELEMENTS
  .endr
  bne 3b
4:
  ldr r4, [sp, #12]
  mov r1, r9
  lsls r0, r1, #16
  mov r2, r8
  subs r0, r0, r2
  rsbs r1, r1, #0
  mov r3, r11
  lsls r2, r3, #16
  mov r5, r10
  subs r2, r2, r5
  rsbs r3, r3, #0
  stm r4!, {r0-r3}
  str r4, [sp, #12]
  ldr r0, [sp, #8]
  subs r0, #1
  str r0, [sp, #8]
  bne 1b
  LEAVE 20
  .size deuteron_dot_4_thumb1, . - deuteron_dot_4_thumb1

@ A sum of window k becomes a byte: 25 instructions. The product by halves (ops/integer/requantize.h); the carry of the last shift is the bit
@ below the high word, which rounds.
@   r0 next sum   r1-r4 are lost   r5 r6 lower and upper half of the doubled multiplier   r7 filter   r8 y_zero   r9 what the sum begins with
.macro FINISH k
  ldm r0!, {r2}
  add r2, r9
  uxth r1, r2
  asrs r2, r2, #16
  movs r3, r1
  muls r3, r5, r3
  lsrs r3, r3, #16
  movs r4, r2
  muls r4, r5, r4
  adds r4, r4, r3
  muls r1, r6, r1
  uxth r3, r4
  adds r1, r1, r3
  muls r2, r6, r2
  asrs r4, r4, #16
  adds r2, r2, r4
  asrs r1, r1, #16
  adcs r2, r1
  add r2, r8
  sxtb r3, r2
  cmp r3, r2
  bne 4f
3:
  ldr r1, [sp, #(4 * \k)]
  strb r2, [r1, r7]
  .subsection 1
4:
  asrs r2, r2, #31
  movs r3, #127
  eors r2, r3
  b 3b
  .previous
.endm

@ stack: 0 4 8 12 bytes of the windows
  FUNCTION deuteron_finish_4_thumb1
  ENTER 16
  movs r7, r0
  adds r7, #20
  ldm r7!, {r1-r4}
  mov r5, sp
  stm r5!, {r1-r4}
  ldr r1, [r0, #16]
  mov r8, r1
  ldr r1, [r0, #4]
  mov r10, r1
  ldr r1, [r0, #8]
  mov r11, r1
  ldr r1, [r0, #12]
  mov r12, r1
  ldr r0, [r0]
  movs r7, #0
1:
  lsls r1, r7, #2
  mov r2, r10
  ldr r2, [r2, r1]
  mov r9, r2
  mov r2, r11
  ldr r2, [r2, r1]
  lsls r2, r2, #1
  uxth r5, r2
  lsrs r6, r2, #16
  FINISH 0
  FINISH 1
  FINISH 2
  FINISH 3
  adds r7, #1
  cmp r7, r12
  bne 1b
  LEAVE 16
  .size deuteron_finish_4_thumb1, . - deuteron_finish_4_thumb1

@ An element of one window and four filters: 14 instructions, 4 products.
@   r0 next element   r1-r4 ends of the filters   r5 element, below 0   r6 window   r7 weight   r8-r11 sums
.macro ELEMENT
  ldm r0!, {r6}
  .irp row, 1, 2, 3, 4
  ldrsb r7, [r\row, r5]
  muls r7, r6, r7
  .if \row == 1
  add r8, r7
  .elseif \row == 2
  add r9, r7
  .elseif \row == 3
  add r10, r7
  .else
  add r11, r7
  .endif
  .endr
  adds r5, #1
.endm
.equ ELEMENT_BYTES, 28

@ stack: 0 window, 4 length, 8 filters that are left, 12 sums, 16 entry
  FUNCTION deuteron_dot_1x4_thumb1
  ENTER 20
  ldr r1, [r0]
  ldr r4, [r0, #4]
  ldr r2, [r0, #8]
  ldr r3, [r0, #12]
  ldr r5, [r0, #16]
  str r1, [sp]
  str r2, [sp, #4]
  str r3, [sp, #8]
  str r5, [sp, #12]
  rsbs r1, r2, #0
  ENTRY ELEMENT_BYTES, 2f
1:                                  @ four filters that begin at r4
  ldr r0, [sp, #4]
  adds r1, r4, r0
  adds r2, r1, r0
  adds r3, r2, r0
  adds r4, r3, r0
  rsbs r5, r0, #0
  CLEAR
  ldr r7, [sp, #16]
  ldr r0, [sp]
  mov pc, r7
  .balign 4
2:
  .rept AT_ONCE
  ELEMENT
  .endr
  bne 2b
  ldr r7, [sp, #12]
  mov r0, r8
  mov r1, r9
  mov r2, r10
  mov r3, r11
  stm r7!, {r0-r3}
  str r7, [sp, #12]
  ldr r0, [sp, #8]
  subs r0, #4
  str r0, [sp, #8]
  bne 1b
  LEAVE 20
  .size deuteron_dot_1x4_thumb1, . - deuteron_dot_1x4_thumb1
#endif
