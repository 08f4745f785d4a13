// SPDX-License-Identifier: Apache-2.0
// Fully connected layer that rounds once with the DSP extension: two products in an instruction.
#include "kernels/linear/once/kernel.h"
#include "kernels/linear/once/rows.h"
#include "kernels/recurrent/rows_dsp.h"

namespace deuteron {

void linear_once_s8_dsp(const LinearOnceArgs& a, const int8_t* x, const int8_t* weight,
                        const int32_t* first, const int32_t* multiplier, const int32_t* shift,
                        int8_t* y) {
  linear_once_with<DspRows>(a, x, weight, first, multiplier, shift, y);
}

}  // namespace deuteron
