// SPDX-License-Identifier: Apache-2.0
// Matrix product with the DSP extension.
#include "kernels/matmul/by_linear.h"

namespace deuteron {

void matmul_s8_dsp(const MatmulArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  matmul_by<linear_s8_dsp>(a, x, other, y);
}

}  // namespace deuteron
