// SPDX-License-Identifier: Apache-2.0
// Multiplication with the M-profile Vector Extension.
#include "kernels/mul/lanes_mve.h"

namespace deuteron {

void mul_s8_mve(const MulArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  const int32_t rows = a.count / a.period;
  if (rows > 1 && a.period % 8 == 0) {
    for (int32_t i = 0; i < a.period; i += 8)
      deuteron_mul_rows_mve(&a, x + i, other + i, y + i, rows);
    return;
  }
  for (int32_t i = 0; i < rows; ++i, x += a.period, y += a.period)
    deuteron_mul_row_mve(&a, x, other, y, a.period);
}

}  // namespace deuteron
