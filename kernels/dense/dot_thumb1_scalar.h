// SPDX-License-Identifier: Apache-2.0
// The inner loops of convolution and linear for cores with Thumb-1 (Cortex-M0, M0+, M23), which
// multiply to 32 bits and have no multiply- accumulate. Windows are met in pairs: a word is -x of
// one window and 65536 times -x of another, so that one product is two. Two such products fit: 2 *
// 128 * 128 is 2^15, and with the sign turned it is the end that 16 bits have. Sums wrap modulo
// 2^32. Nothing is read beyond the operands. Schedules: kernels/dense/dot_thumb1_scalar.S.
#pragma once
#include <cstdint>

namespace deuteron {

struct Thumb1Dot {
  const int32_t* x;      // for each element the words of windows 0 and 1, and of 2 and 3; or one
                         // window, widened with its offset added
  const int8_t* weight;  // rows of `length` each
  int32_t length, filters;
  uint32_t* sums;  // [filters][windows]
};
extern "C" void deuteron_dot_4_thumb1(const Thumb1Dot* a);    // four windows
extern "C" void deuteron_dot_1x4_thumb1(const Thumb1Dot* a);  // one; filters divides by four

// Sums of four windows become bytes: y[k][i] = saturated y_zero + round(multiplier[i] * 2 *
// (begin[i] + sums[i][k]) / 2^32).
struct Thumb1Finish {
  const uint32_t *sums, *begin;
  const int32_t* multiplier;  // 0..2^30-1
  int32_t filters, y_zero;
  int8_t* y[4];
};
extern "C" void deuteron_finish_4_thumb1(const Thumb1Finish* a);

}  // namespace deuteron
