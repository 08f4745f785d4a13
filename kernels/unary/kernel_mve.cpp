// SPDX-License-Identifier: Apache-2.0
// Table lookup with the M-profile Vector Extension (kernels/unary/lookup_mve.S).
#include "kernels/unary/kernel.h"
#include "kernels/unary/lookup_mve.h"

namespace deuteron {

void lookup_s8_mve(int32_t count, const int8_t* table, const int8_t* x, int8_t* y) {
  deuteron_lookup_mve(count, table, x, y);
}

}  // namespace deuteron
