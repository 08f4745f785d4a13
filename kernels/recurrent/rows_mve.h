// SPDX-License-Identifier: Apache-2.0
// The inner loop of the recurrent kernels with the M-profile Vector Extension: 16 elements of v
// meet each row.
#pragma once
#include <arm_mve.h>

#include <cstdint>

namespace deuteron {

struct MveRows {
  template <int32_t rows>
  static void sum(const int8_t* first, int32_t step, const int8_t* v, int32_t count,
                  int32_t (&sums)[rows]) {
    for (int32_t& s : sums) s = 0;
    for (; count > 0; count -= 16, first += 16, v += 16) {
      const mve_pred16_t here = vctp8q(static_cast<uint32_t>(count));
      const int8x16_t of_v = vld1q_z_s8(v, here);
#pragma GCC unroll 4  // with -O2 gcc 12 keeps the sums in memory otherwise
      for (int32_t r = 0; r < rows; ++r)
        sums[r] = vmladavaq_s8(sums[r], of_v, vld1q_z_s8(first + r * step, here));
    }
  }
};

}  // namespace deuteron
