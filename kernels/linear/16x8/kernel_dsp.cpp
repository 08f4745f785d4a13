// SPDX-License-Identifier: Apache-2.0
// Fully connected layer of int16 by int8 with the DSP extension: two products in an instruction.
#include "kernels/integer/products_16x8_dsp.h"
#include "kernels/linear/16x8/kernel.h"
#include "kernels/linear/16x8/rows.h"

namespace deuteron {

void linear_16x8_dsp(const Linear16x8Args& a, const int16_t* x, const int8_t* weight,
                     const int64_t* first, const int64_t* scale, int16_t* y) {
  linear_16x8_wide_with<Products16x8Dsp>(a, x, weight, first, scale, y);
}

void linear_16x8_narrow_dsp(const Linear16x8Args& a, const int16_t* x, const int8_t* weight,
                            const int32_t* first, const int64_t* scale, int16_t* y) {
  linear_16x8_narrow_with<Products16x8Dsp>(a, x, weight, first, scale, y);
}

}  // namespace deuteron
