// SPDX-License-Identifier: Apache-2.0
// Convolution of int16 by int8 with the DSP extension: two filters at a time, two products in an
// instruction.
#include "kernels/conv2d/16x8/kernel.h"
#include "kernels/conv2d/16x8/windows.h"
#include "kernels/integer/products_16x8_dsp.h"

namespace deuteron {

void conv2d_16x8_dsp(const Conv2d16x8Args& a, const int16_t* x, const int8_t* weight,
                     const int64_t* first, const int32_t* multiplier, const int32_t* shift,
                     int16_t* y) {
  conv2d_16x8_with<Products16x8Dsp>(a, x, weight, y, Wide16x8{first, multiplier, shift});
}

void conv2d_16x8_narrow_dsp(const Conv2d16x8Args& a, const int16_t* x, const int8_t* weight,
                            const int32_t* first, const int32_t* multiplier, const int32_t* shift,
                            int16_t* y) {
  conv2d_16x8_with<Products16x8Dsp>(a, x, weight, y, Narrow16x8{first, multiplier, shift});
}

}  // namespace deuteron
