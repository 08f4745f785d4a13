// SPDX-License-Identifier: Apache-2.0
// Convolution with shifts and addition with the DSP extension.
#include "kernels/conv2d/packed_add/rows.h"
#include "kernels/conv2d/packed_add_shifts/kernel.h"

namespace deuteron {

void packed_conv2d_add_shifts_s8_dsp(const PackedConv2dArgs& a, const LinearAddArgs& sum,
                                     const int8_t* x, const int8_t* packed, const int8_t* other,
                                     int32_t rows, void* scratch, int32_t scratch_bytes,
                                     int8_t* y) {
  run_added_rows({a, sum, x, packed, other, rows, scratch, scratch_bytes, y},
                 packed_conv2d_shifts_s8_dsp_windows, linear_add_q21_s8_dsp);
}

void packed_conv2d_add_shifts_s8_dsp_in_scratch(const PackedConv2dArgs& a, const LinearAddArgs& sum,
                                                const int8_t* x, const int8_t* packed,
                                                const int8_t* other, int32_t rows, void* scratch,
                                                int32_t scratch_bytes, int8_t* y) {
  run_added_rows({a, sum, x, packed, other, rows, scratch, scratch_bytes, y},
                 packed_conv2d_shifts_s8_dsp_in_scratch, linear_add_q21_s8_dsp);
}

}  // namespace deuteron
