// SPDX-License-Identifier: Apache-2.0
// Convolution and addition with the M-profile Vector Extension.
#include "kernels/conv2d/packed_add/rows.h"

namespace deuteron {

void packed_conv2d_add_s8_mve(const PackedConv2dArgs& a, const LinearAddArgs& sum, const int8_t* x,
                              const int8_t* packed, const int8_t* other, int32_t rows,
                              void* scratch, int32_t scratch_bytes, int8_t* y) {
  run_added_rows({a, sum, x, packed, other, rows, scratch, scratch_bytes, y}, packed_conv2d_s8_mve,
                 linear_add_s8_mve);
}

void packed_conv2d_add_s8_mve_in_place(const PackedConv2dArgs& a, const LinearAddArgs& sum,
                                       const int8_t* x, const int8_t* packed, const int8_t* other,
                                       int32_t rows, void* scratch, int32_t scratch_bytes,
                                       int8_t* y) {
  const auto convolve = [](const PackedConv2dArgs& part, const int8_t* from, const int8_t* filters,
                           void*, int32_t,
                           int8_t* to) { packed_conv2d_s8_mve_in_place(part, from, filters, to); };
  run_added_rows({a, sum, x, packed, other, rows, scratch, scratch_bytes, y}, convolve,
                 linear_add_s8_mve);
}

void packed_conv2d_add_s8_mve_columns(const PackedConv2dArgs& a, const LinearAddArgs& sum,
                                      const int8_t* x, const int8_t* packed, const int8_t* other,
                                      int32_t rows, void* scratch, int32_t scratch_bytes,
                                      int8_t* y) {
  run_added_rows({a, sum, x, packed, other, rows, scratch, scratch_bytes, y},
                 packed_conv2d_s8_mve_columns, linear_add_s8_mve);
}

void packed_conv2d_add_s8_mve_rows(const PackedConv2dArgs& a, const LinearAddArgs& sum,
                                   const int8_t* x, const int8_t* packed, const int8_t* other,
                                   int32_t rows, void* scratch, int32_t scratch_bytes, int8_t* y) {
  run_added_rows({a, sum, x, packed, other, rows, scratch, scratch_bytes, y},
                 packed_conv2d_s8_mve_rows, linear_add_s8_mve);
}

}  // namespace deuteron
