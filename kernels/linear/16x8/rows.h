// SPDX-License-Identifier: Apache-2.0
// A fully connected layer of int16 by int8 row by row: what its kernels have in common.
#pragma once
#include "kernels/integer/sum_16x8.h"
#include "kernels/linear/16x8/kernel.h"
#include "kernels/linear/16x8/steps.h"

namespace deuteron {

// Products: Products16x8, or what an instruction set has in its place. total(o, sum): with what
// stands before the sum.
template <class Products, class Total>
void linear_16x8_with(const Linear16x8Args& args, const int16_t* x, const int8_t* weight,
                      const int64_t* scale, int16_t* y, Total total) {
  const Linear16x8Args a = args;  // for all the compiler knows, y might lie over the arguments
  for (int32_t r = 0; r < a.rows; ++r, x += a.inputs) {
    const int8_t* w = weight;
    for (int32_t o = 0; o < a.outputs; w += 2 * a.inputs) {
      const int32_t two = a.outputs - o > 1 ? 2 : 1;
      Products products;
      products.add(x, w, two > 1 ? a.inputs : 0, a.inputs);
      for (int32_t k = 0; k < two; ++k, ++o)
        *y++ = static_cast<int16_t>(
            clamp_to(steps_of_16x8(total(o, products.total(k)), scale[o]), a.y_min, a.y_max));
    }
  }
}
template <class Products>
void linear_16x8_wide_with(const Linear16x8Args& a, const int16_t* x, const int8_t* weight,
                           const int64_t* first, const int64_t* scale, int16_t* y) {
  linear_16x8_with<Products>(a, x, weight, scale, y, [&](int32_t o, int64_t sum) {
    return sum_from(first != nullptr ? first[o] : 0, sum);
  });
}
template <class Products>
void linear_16x8_narrow_with(const Linear16x8Args& a, const int16_t* x, const int8_t* weight,
                             const int32_t* first, const int64_t* scale, int16_t* y) {
  linear_16x8_with<Products>(a, x, weight, scale, y, [&](int32_t o, int64_t sum) {
    return int64_t{add_wrapping(first[o], static_cast<int32_t>(sum))};
  });
}

}  // namespace deuteron
