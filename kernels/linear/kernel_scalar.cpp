// SPDX-License-Identifier: Apache-2.0
// Fully connected layer on cores with neither vectors nor the DSP extension.
#include "kernels/linear/row_of_conv.h"
#include "runtime/instruction_set.h"

#if defined(DEUTERON_SCALAR)
namespace deuteron {

void linear_s8_scalar(const LinearArgs& a, const int8_t* x, const int8_t* weight,
                      const int32_t* first, int8_t* y) {
  run_as_conv<conv2d_s8_scalar>(a, x, weight, first, y);
}

}  // namespace deuteron
#endif
