// SPDX-License-Identifier: Apache-2.0
// A product of matrices by an instruction set's kernel of linear: each pair of matrices is a fully
// connected layer whose weights are the second one.
#pragma once
#include "kernels/linear/kernel.h"
#include "kernels/matmul/kernel.h"

namespace deuteron {

inline LinearArgs linear_of(const MatmulArgs& a) {
  return {a.rows,   a.inner,      a.columns, a.x_offset, a.other_offset,
          a.y_zero, a.multiplier, a.shift,   -128,       127};
}

template <void (*linear)(const LinearArgs&, const int8_t*, const int8_t*, const int32_t*, int8_t*)>
void matmul_by(const MatmulArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  const LinearArgs one = linear_of(a);
  for (int32_t b = 0; b < a.batch; ++b)
    linear(one, x + b * a.rows * a.inner, other + b * a.columns * a.inner, nullptr,
           y + b * a.rows * a.columns);
}

}  // namespace deuteron
