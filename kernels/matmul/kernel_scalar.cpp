// SPDX-License-Identifier: Apache-2.0
// Matrix product on cores with neither vectors nor the DSP extension.
#include "kernels/matmul/by_linear.h"
#include "runtime/instruction_set.h"

#if defined(DEUTERON_SCALAR)
namespace deuteron {

void matmul_s8_scalar(const MatmulArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  matmul_by<linear_s8_scalar>(a, x, other, y);
}

}  // namespace deuteron
#endif
