// SPDX-License-Identifier: Apache-2.0
// Fully connected layer that rounds once with the M-profile Vector Extension: 16 products in an
// instruction.
#include "kernels/linear/once/kernel.h"
#include "kernels/linear/once/rows.h"
#include "kernels/recurrent/rows_mve.h"

namespace deuteron {

void linear_once_s8_mve(const LinearOnceArgs& a, const int8_t* x, const int8_t* weight,
                        const int32_t* first, const int32_t* multiplier, const int32_t* shift,
                        int8_t* y) {
  linear_once_with<MveRows>(a, x, weight, first, multiplier, shift, y);
}

}  // namespace deuteron
