// SPDX-License-Identifier: Apache-2.0
// int8 2-D convolution with packed weights whose filters have shifts, and the addition of another
// tensor, in one call: what deuteron::packed_conv2d_shifts and then deuteron::linear_add.q21 give.
//   As kernels/conv2d/packed_add/kernel.h says, with args.has_shifts; packed_conv2d_add_s8() is the
//   portable kernel
// Limits   why_not_added_rows() is null, and what packed_conv2d_shifts asks for
#pragma once
#include "kernels/conv2d/packed_add/kernel.h"
#include "kernels/conv2d/packed_shifts/kernel.h"

namespace deuteron {

void packed_conv2d_add_shifts_s8_mve(const PackedConv2dArgs& a, const LinearAddArgs& sum,
                                     const int8_t* x, const int8_t* packed, const int8_t* other,
                                     int32_t rows, void* scratch, int32_t scratch_bytes, int8_t* y);
void packed_conv2d_add_shifts_s8_mve_in_place(const PackedConv2dArgs& a, const LinearAddArgs& sum,
                                              const int8_t* x, const int8_t* packed,
                                              const int8_t* other, int32_t rows, void* scratch,
                                              int32_t scratch_bytes, int8_t* y);
void packed_conv2d_add_shifts_s8_mve_columns(const PackedConv2dArgs& a, const LinearAddArgs& sum,
                                             const int8_t* x, const int8_t* packed,
                                             const int8_t* other, int32_t rows, void* scratch,
                                             int32_t scratch_bytes, int8_t* y);
void packed_conv2d_add_shifts_s8_mve_rows(const PackedConv2dArgs& a, const LinearAddArgs& sum,
                                          const int8_t* x, const int8_t* packed,
                                          const int8_t* other, int32_t rows, void* scratch,
                                          int32_t scratch_bytes, int8_t* y);

void packed_conv2d_add_shifts_s8_dsp(const PackedConv2dArgs& a, const LinearAddArgs& sum,
                                     const int8_t* x, const int8_t* packed, const int8_t* other,
                                     int32_t rows, void* scratch, int32_t scratch_bytes, int8_t* y);
// Nothing on the stack: scratch holds the rows of c, then packed_conv2d_windows_bytes().
void packed_conv2d_add_shifts_s8_dsp_in_scratch(const PackedConv2dArgs& a, const LinearAddArgs& sum,
                                                const int8_t* x, const int8_t* packed,
                                                const int8_t* other, int32_t rows, void* scratch,
                                                int32_t scratch_bytes, int8_t* y);

}  // namespace deuteron
