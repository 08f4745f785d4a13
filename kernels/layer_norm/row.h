// SPDX-License-Identifier: Apache-2.0
// What the elements of a row have in common, of normalization on any core.
#pragma once
#include "kernels/layer_norm/kernel.h"

namespace deuteron {

// The deviation of x is (x * step + start) * factor / 2^down, rounded.
struct NormRow {
  int32_t step, start, factor, down;
};

// Of the sums of x, and of its squares, modulo 2^32.
NormRow norm_row_of(const LayerNormArgs& a, uint32_t values, uint32_t squares);

inline constexpr int32_t kNormBiasBits = 20;
// Whether a word is cut off of a deviation, and 1..22 bits more of a step, whose rounding and zero
// point are added above that word: |deviation * weight| < 2^58, so that they have room.
inline bool norm_cuts_words(const NormRow& row, int32_t shift) {
  constexpr int32_t kMostFastShift = 22;
  return row.down == 32 && shift >= 1 && shift <= kMostFastShift;
}
inline int32_t norm_addend(int32_t shift, int32_t y_zero) {
  return (1 << (shift - 1)) + y_zero * (1 << shift);
}

// Any row, by products of 64 bits.
void finish_norm(const LayerNormArgs& a, const NormRow& row, const int8_t* x, const int32_t* weight,
                 const int32_t* bias, int8_t* y);

}  // namespace deuteron
