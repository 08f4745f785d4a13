// SPDX-License-Identifier: Apache-2.0
// int8 2-D convolution with packed weights whose filters have shifts, and more than one window:
// what TFLite's two roundings ask for.
//   As kernels/conv2d/packed/kernel.h says, with args.has_shifts; packed_conv2d_s8() is the
//   portable kernel. That operator takes shifts for windows that are met one by one; a firmware
//   without them has none of the loops here.
// Limits   why_not_packed_windows() is null; shift least_windows_shift()..-1, proved by the
// compiler as the sums are. With other
//          bytes in `packed` the results are any int8, and nothing else happens
// Scratch, aliasing, source   as there
#pragma once
#include "kernels/conv2d/packed/kernel.h"

namespace deuteron {

// dsp_4x4 adds a zero point that is shifted left to products of up to 2^30.
constexpr int32_t least_windows_shift(Packing p) { return p == Packing::dsp_4x4 ? -23 : -31; }

// With the M-profile Vector Extension, for mve_4x16, and the forms of packed_conv2d_mve_form();
// where that is `alone` it is in_place here.
void packed_conv2d_shifts_s8_mve(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                                 void* scratch, int32_t scratch_bytes, int8_t* y);
void packed_conv2d_shifts_s8_mve_in_place(const PackedConv2dArgs& a, const int8_t* x,
                                          const int8_t* packed, int8_t* y);
void packed_conv2d_shifts_s8_mve_apart(const PackedConv2dArgs& a, const int8_t* x,
                                       const int8_t* packed, void* scratch, int32_t scratch_bytes,
                                       int8_t* y);
void packed_conv2d_shifts_s8_mve_columns(const PackedConv2dArgs& a, const int8_t* x,
                                         const int8_t* packed, void* scratch, int32_t scratch_bytes,
                                         int8_t* y);
void packed_conv2d_shifts_s8_mve_rows(const PackedConv2dArgs& a, const int8_t* x,
                                      const int8_t* packed, void* scratch, int32_t scratch_bytes,
                                      int8_t* y);

// With the DSP extension, for dsp_4x4. For a C program, what it comes to where there is more than
// one window.
void packed_conv2d_shifts_s8_dsp(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                                 void* scratch, int32_t scratch_bytes, int8_t* y);
void packed_conv2d_shifts_s8_dsp_windows(const PackedConv2dArgs& a, const int8_t* x,
                                         const int8_t* packed, void* scratch, int32_t scratch_bytes,
                                         int8_t* y);
// Nothing on the stack: scratch_bytes is at least packed_conv2d_windows_bytes().
void packed_conv2d_shifts_s8_dsp_in_scratch(const PackedConv2dArgs& a, const int8_t* x,
                                            const int8_t* packed, void* scratch,
                                            int32_t scratch_bytes, int8_t* y);

}  // namespace deuteron
