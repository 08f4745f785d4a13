// SPDX-License-Identifier: Apache-2.0
// Addition in one step with the M-profile Vector Extension (kernels/linear/packed_add/row_mve.S).
#include "kernels/linear/packed_add/kernel.h"
#include "kernels/linear/packed_add/row_mve.h"

namespace deuteron {

void linear_add_s8_mve(const LinearAddArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  deuteron_linear_add_mve(&a, x, other, y, -20);
}

void linear_add_q21_s8_mve(const LinearAddArgs& a, const int8_t* x, const int8_t* other,
                           int8_t* y) {
  deuteron_linear_add_mve(&a, x, other, y, -21);
}

}  // namespace deuteron
