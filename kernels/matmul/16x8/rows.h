// SPDX-License-Identifier: Apache-2.0
// The product of matrices of int16 row by row: what its kernels have in common.
#pragma once
#include "kernels/integer/sum_16x8.h"
#include "kernels/matmul/16x8/kernel.h"

namespace deuteron {

// Products: sums of x with two rows of `other`, as in kernels/integer/products_16x8.h.
template <class Products>
void matmul_16x8_with(const Matmul16x8Args& args, const int16_t* x, const int16_t* other,
                      int16_t* y) {
  const Matmul16x8Args a = args;  // for all the compiler knows, y might lie over the arguments
  for (int32_t b = 0; b < a.batch; ++b, other += a.columns * a.inner)
    for (int32_t m = 0; m < a.rows; ++m, x += a.inner) {
      const int16_t* by = other;
      for (int32_t n = 0; n < a.columns; n += 2, by += 2 * a.inner) {
        const int32_t two = a.columns - n > 1 ? 2 : 1;
        Products products;
        products.add(x, by, two > 1 ? a.inner : 0, a.inner);
        for (int32_t k = 0; k < two; ++k)
          *y++ = static_cast<int16_t>(clamp_to(
              requantize_16x8(products.total(k), a.multiplier, a.shift), a.y_min, a.y_max));
      }
    }
}

}  // namespace deuteron
