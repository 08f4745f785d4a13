// SPDX-License-Identifier: Apache-2.0
#include "kernels/linear/16x8/kernel.h"
#include "kernels/integer/products_16x8.h"
#include "kernels/linear/16x8/rows.h"

namespace deuteron {

void linear_16x8(const Linear16x8Args& a, const int16_t* x, const int8_t* weight,
                 const int64_t* first, const int64_t* scale, int16_t* y) {
  linear_16x8_wide_with<Products16x8>(a, x, weight, first, scale, y);
}

void linear_16x8_narrow(const Linear16x8Args& a, const int16_t* x, const int8_t* weight,
                        const int32_t* first, const int64_t* scale, int16_t* y) {
  linear_16x8_narrow_with<Products16x8>(a, x, weight, first, scale, y);
}

}  // namespace deuteron
