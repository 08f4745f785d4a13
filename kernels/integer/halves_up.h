// SPDX-License-Identifier: Apache-2.0
// A shift to the right that rounds to nearest, halves up, as VRSHL does.
#pragma once
#include "kernels/integer/requantize.h"

namespace deuteron {

// shift 0..30; |v| + 2^(shift-1) is within int32.
inline int32_t shift_halves_up(int32_t v, int32_t shift) {
  return shift == 0 ? v : (v + (int32_t{1} << (shift - 1))) >> shift;
}

}  // namespace deuteron
