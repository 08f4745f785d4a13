// SPDX-License-Identifier: Apache-2.0
#include "kernels/copy/shift_in/kernel.h"

#include "runtime/instruction_set.h"

namespace deuteron {
namespace {

// To y, which is apart from x or lies before it: no byte is written that is still to be read.
void move_down(int32_t bytes, const int8_t* x, int8_t* y) {
#if defined(DEUTERON_MVE)
  asm volatile(
      "wlstp.8 lr, %[bytes], 2f\n"
      "1:\n"
      "vldrb.u8 q0, [%[x]], #16\n"
      "vstrb.8 q0, [%[y]], #16\n"
      "letp lr, 1b\n"
      "2:\n"
      : [x] "+&r"(x), [y] "+&r"(y)
      : [bytes] "r"(bytes)
      : "q0", "lr", "memory");
#else
#if defined(DEUTERON_UNALIGNED) || !defined(DEUTERON_MICROCONTROLLER)
  for (; bytes >= 16; bytes -= 16, x += 16, y += 16) {
    uint32_t a, b, c, d;
    __builtin_memcpy(&a, x, 4), __builtin_memcpy(&b, x + 4, 4);
    __builtin_memcpy(&c, x + 8, 4), __builtin_memcpy(&d, x + 12, 4);
    __builtin_memcpy(y, &a, 4), __builtin_memcpy(y + 4, &b, 4);
    __builtin_memcpy(y + 8, &c, 4), __builtin_memcpy(y + 12, &d, 4);
  }
#endif
  for (; bytes > 0; --bytes) *y++ = *x++;
#endif
}

// A column of bytes: rows are as short as one element.
void put_column(int32_t rows, int32_t step, int32_t row, const int8_t* x, int8_t* y) {
  for (; rows > 0; --rows, x += step, y += row) *y = *x;
}

}  // namespace

void shift_in(const ShiftInArgs& a, const int8_t* x, const int8_t* fresh, int8_t* y) {
  // All rows move as one; what comes to a row's end from the next one is written over.
  move_down(a.rows * a.row - a.fresh, x + a.fresh, y);
  y += a.row - a.fresh;
  if (a.fresh <= kShiftInColumns)
    for (int32_t i = 0; i < a.fresh; ++i) put_column(a.rows, a.fresh, a.row, fresh + i, y + i);
  else
    for (int32_t r = a.rows; r > 0; --r, fresh += a.fresh, y += a.row) move_down(a.fresh, fresh, y);
}

}  // namespace deuteron
