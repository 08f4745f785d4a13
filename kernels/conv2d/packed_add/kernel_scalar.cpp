// SPDX-License-Identifier: Apache-2.0
// Convolution and addition with neither vectors nor the DSP extension.
#include "kernels/conv2d/packed_add/rows.h"
#include "runtime/instruction_set.h"

#if defined(DEUTERON_SCALAR)
namespace deuteron {

void packed_conv2d_add_s8_scalar(const PackedConv2dArgs& a, const LinearAddArgs& sum,
                                 const int8_t* x, const int8_t* packed, const int8_t* other,
                                 int32_t rows, void* scratch, int32_t scratch_bytes, int8_t* y) {
  run_added_rows({a, sum, x, packed, other, rows, scratch, scratch_bytes, y},
                 packed_conv2d_s8_scalar_in_scratch, linear_add_s8_scalar);
}

}  // namespace deuteron
#endif
