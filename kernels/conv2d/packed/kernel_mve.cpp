// SPDX-License-Identifier: Apache-2.0
// Convolution with packed weights for the M-profile Vector Extension: int8 results.
#include "kernels/conv2d/packed/results_mve.h"

namespace deuteron {

void packed_conv2d_s8_mve_alone(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                                int8_t* y) {
  run_window(filters_of(a, packed, PackedToS8{}), x, y);
}

void packed_conv2d_s8_mve_in_place(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                                   int8_t* y) {
  run_packed_in_place<PackedToS8>(a, x, packed, y);
}

void packed_conv2d_s8_mve_columns(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                                  void* scratch, int32_t scratch_bytes, int8_t* y) {
  run_packed_columns<PackedToS8>(a, x, packed, scratch, scratch_bytes, y);
}

void packed_conv2d_s8_mve_apart(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                                void* scratch, int32_t scratch_bytes, int8_t* y) {
  run_packed_apart<PackedToS8>(a, x, packed, scratch, scratch_bytes, y);
}

void packed_conv2d_s8_mve_rows(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                               void* scratch, int32_t scratch_bytes, int8_t* y) {
  run_packed_rows<PackedToS8>(a, x, packed, scratch, scratch_bytes, y);
}

void packed_conv2d_s8_mve(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                          void* scratch, int32_t scratch_bytes, int8_t* y) {
  run_packed<PackedToS8>(a, x, packed, scratch, scratch_bytes, y);
}

}  // namespace deuteron
