// SPDX-License-Identifier: Apache-2.0
// Portable normalization of slices: one root, then a product for each element.
#include "kernels/l2_normalize/kernel.h"

#include "kernels/integer/inverse_root.h"

namespace deuteron {

void l2_normalize_s8(const L2NormalizeArgs& args, const int8_t* x, int8_t* y) {
  constexpr int32_t kStepsShift = 7;  // a step of the result is 1/128
  const L2NormalizeArgs a = args;     // for all the compiler knows, y might lie over the arguments
  const int32_t left = a.of_bytes ? kStepsShift : 0, more = kStepsShift - left;
  for (int32_t r = 0; r < a.rows; ++r, x += a.depth, y += a.depth) {
    int32_t squares = 0;
    for (int32_t i = 0; i < a.depth; ++i) squares += (x[i] - a.x_zero) * (x[i] - a.x_zero);
    const InverseRoot root = inverse_root(squares);
    for (int32_t i = 0; i < a.depth; ++i)
      y[i] = static_cast<int8_t>(clamp_to(
          requantize((x[i] - a.x_zero) * (1 << left), root.value, root.shift + more), -128, 127));
  }
}

}  // namespace deuteron
