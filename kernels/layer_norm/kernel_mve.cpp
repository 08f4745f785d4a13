// SPDX-License-Identifier: Apache-2.0
// Normalization with the M-profile Vector Extension, four elements at a time.
#include "kernels/layer_norm/row.h"

namespace deuteron {
namespace {

NormRow row_of(const LayerNormArgs& a, const int8_t* x) {
  uint32_t values = 0, squares = 0;
  asm volatile(
      "dlstp.8 lr, %[columns]\n"
      "1:\n"
      "vldrb.u8 q0, [%[x]], #16\n"
      "vaddva.s8 %[values], q0\n"
      "vmladava.s8 %[squares], q0, q0\n"
      "letp lr, 1b\n"
      : [x] "+&r"(x), [values] "+&Te"(values), [squares] "+&Te"(squares)
      : [columns] "r"(a.columns)
      : "q0", "lr", "memory");
  return norm_row_of(a, values, squares);
}

// Where norm_cuts_words(): upper words of products. q4 is what the lower ones carry: half of a sum
// has it as its highest bit.
void finish_words(const LayerNormArgs& a, const NormRow& row, int32_t shift, const int8_t* x,
                  const int32_t* weight, const int32_t* bias, int8_t* y) {
  static_assert(kNormBiasBits == 20, "shifts below");
  asm volatile(
      "ldr lr, %[factor]\n"
      "vdup.32 q5, lr\n"
      "ldr lr, %[columns]\n"
      "dlstp.32 lr, lr\n"
      "1:\n"
      "vldrb.s32 q0, [%[x]], #4\n"
      "vmul.i32 q0, q0, %[step]\n"
      "vldrw.u32 q1, [%[weight]], #16\n"
      "vadd.i32 q0, q0, %[start]\n"
      "vldrw.u32 q2, [%[bias]], #16\n"
      "vrmulh.s32 q0, q0, q5\n"
      "vshl.i32 q3, q2, #20\n"
      "vmul.i32 q4, q0, q1\n"
      "vshr.s32 q2, q2, #12\n"
      "vmulh.s32 q0, q0, q1\n"
      "vadd.i32 q2, q2, %[addend]\n"
      "vhadd.u32 q4, q4, q3\n"
      "vadd.i32 q0, q0, q2\n"
      "vshr.u32 q4, q4, #31\n"
      "vadd.i32 q0, q0, q4\n"
      "vshl.s32 q0, %[right]\n"
      "vqmovnb.s32 q0, q0\n"
      "vqmovnb.s16 q0, q0\n"
      "vstrb.32 q0, [%[y]], #4\n"
      "letp lr, 1b\n"
      : [x] "+&l"(x), [weight] "+&r"(weight), [bias] "+&r"(bias), [y] "+&l"(y)
      : [factor] "m"(row.factor), [columns] "m"(a.columns), [step] "r"(row.step),
        [start] "r"(row.start), [addend] "r"(norm_addend(shift, a.y_zero)), [right] "r"(-shift)
      : "q0", "q1", "q2", "q3", "q4", "q5", "lr", "memory");
}

}  // namespace

void layer_norm_s8_mve(const LayerNormArgs& a, const int8_t* x, const int32_t* weight,
                       const int32_t* bias, int8_t* y) {
  const int32_t shift = kNormBiasBits + a.shift - 32;
  for (int32_t r = 0; r < a.rows; ++r, x += a.columns, y += a.columns) {
    const NormRow row = row_of(a, x);
    if (norm_cuts_words(row, shift)) finish_words(a, row, shift, x, weight, bias, y);
    else finish_norm(a, row, x, weight, bias, y);
  }
}

}  // namespace deuteron
