// SPDX-License-Identifier: Apache-2.0
// Matrix product with the M-profile Vector Extension.
#include "kernels/matmul/by_linear.h"

namespace deuteron {

void matmul_s8_mve(const MatmulArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  matmul_by<linear_s8_mve>(a, x, other, y);
}

}  // namespace deuteron
