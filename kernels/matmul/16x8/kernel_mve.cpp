// SPDX-License-Identifier: Apache-2.0
// Product of matrices of int16 with the M-profile Vector Extension: eight products in an
// instruction.
#include "kernels/integer/products_16x8_mve.h"
#include "kernels/matmul/16x8/kernel.h"
#include "kernels/matmul/16x8/rows.h"

namespace deuteron {

void matmul_16x8_mve(const Matmul16x8Args& a, const int16_t* x, const int16_t* other, int16_t* y) {
  matmul_16x8_with<Products16x8Mve>(a, x, other, y);
}

}  // namespace deuteron
