// Portable matrix product: each pair of matrices is a fully connected layer whose weights are the second one.
#include "ops/matmul/kernel.h"

#include "ops/linear/kernel.h"

namespace deuteron {

void matmul_s8(const MatmulArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  const LinearArgs one{a.rows, a.inner, a.columns, a.x_offset, a.other_offset, a.y_zero, a.multiplier, a.shift, -128, 127};
  for (int32_t b = 0; b < a.batch; ++b)
    linear_s8(one, x + b * a.rows * a.inner, other + b * a.columns * a.inner, nullptr, y + b * a.rows * a.columns);
}

}  // namespace deuteron
