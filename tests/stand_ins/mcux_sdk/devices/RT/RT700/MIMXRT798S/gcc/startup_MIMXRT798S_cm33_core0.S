// SPDX-License-Identifier: Apache-2.0
/* From reset to __START: floating point, .data, what is not cached, .bss. Where the SDK's start-up
   stops for ever, this one ends the emulator. */
  .syntax unified
  .thumb
  .section .isr_vector, "a"
  .global __isr_vector
__isr_vector:
  .word __StackTop
  .word Reset_Handler
  .rept 174
  .word stopped
  .endr

  .text
  .thumb_func
  .global Reset_Handler
Reset_Handler:
  ldr r0, =__StackLimit
  msr msplim, r0
  ldr r0, =0xe000ed88
  ldr r1, [r0]
  orr r1, r1, #(0xf << 20)
  str r1, [r0]
  isb
  ldr r1, =__etext
  ldr r2, =__data_start__
  ldr r3, =__data_end__
  bl copy
  ldr r1, =__NDATA_ROM
  ldr r2, =__noncachedata_start__
  ldr r3, =__noncachedata_init_end__
  bl copy
  ldr r3, =__noncachedata_end__
  bl clear
  ldr r2, =__bss_start__
  ldr r3, =__bss_end__
  bl clear
  bl __START
  .thumb_func
stopped:
  movs r0, #0x18
  ldr r1, =0x20026
  bkpt 0xab
  b .
  .thumb_func
copy:
  cmp r2, r3
  ittt lo
  ldrlo r0, [r1], #4
  strlo r0, [r2], #4
  blo copy
  bx lr
  .thumb_func
clear:
  movs r0, #0
1:
  cmp r2, r3
  itt lo
  strlo r0, [r2], #4
  blo 1b
  bx lr
  .word _image_size
  .pool
