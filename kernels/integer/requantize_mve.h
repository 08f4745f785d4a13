// SPDX-License-Identifier: Apache-2.0
// requantize() of kernels/integer/requantize.h for four numbers with the M-profile Vector
// Extension.
#pragma once
#include <arm_mve.h>

#include <cstdint>

namespace deuteron {

// Shifts of 0 and below. VQRDMULH rounds halves up, as multiply_high; VRSHL does too, so one less
// is taken from what is negative, which sends halves away from zero. A shift of 0 takes nothing:
// its sign bit is clear.
inline int32x4_t requantize_mve(int32x4_t v, int32x4_t multiplier, int32x4_t shift) {
  v = vqrdmulhq_s32(v, multiplier);
  return vrshlq_s32(vqaddq_s32(v, vshrq_n_s32(vandq_s32(v, shift), 31)), shift);
}

// v * 2^shift to nearest, ties away from zero: round_shift_right() of a shift below 0.
inline int32x4_t round_shift_mve(int32x4_t v, int32_t shift) {
  return vrshlq_n_s32(vqaddq_s32(v, vshrq_n_s32(v, 31)), shift);
}

// The same as the first with one multiplier and one shift, which is below 0.
inline int32x4_t requantize_mve_below(int32x4_t v, int32_t multiplier, int32_t shift) {
  return round_shift_mve(vqrdmulhq_n_s32(v, multiplier), shift);
}

}  // namespace deuteron
