// SPDX-License-Identifier: Apache-2.0
// Product of matrices of int16 with the DSP extension: two products in an instruction.
#include "kernels/integer/products_16x8_dsp.h"
#include "kernels/matmul/16x8/kernel.h"
#include "kernels/matmul/16x8/rows.h"

namespace deuteron {

void matmul_16x8_dsp(const Matmul16x8Args& a, const int16_t* x, const int16_t* other, int16_t* y) {
  matmul_16x8_with<Products16x8Dsp>(a, x, other, y);
}

}  // namespace deuteron
